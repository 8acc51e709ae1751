/*
 * oom_advice.c - the facts of a failure as the judge takes them, and the paragraph made of them.
 */
#include "plimsoll/stats.h"

#include "base/assert.h"
#include "base/numbers.h"
#include "settings/rounding.h"

/* The highest number means unknown. */
static uint64_t as_known(uint64_t bytes)
{
    return plim_min(bytes, PLIM_BYTES_UNKNOWN - 1);
}

/* The sizes of request, block and segment; some of the three may be missing. */
static void set_sizes(plim_failed_request *request, const plim_oom_facts *facts)
{
    const uint64_t block = as_known(plim_max(facts->rounded_bytes, facts->requested_bytes));
    const uint64_t segment = as_known(plim_max(facts->segment_bytes, block));
    if (segment > 0) {
        request->figures[PLIM_FIGURE_BLOCK].bytes = block > 0 ? block : segment;
        request->figures[PLIM_FIGURE_REQUESTED].bytes = segment;
    }
}

static void set_device(plim_failed_request *request, const plim_oom_facts *facts)
{
    if (facts->device_total_bytes > 0) {
        request->figures[PLIM_FIGURE_TOTAL].bytes = facts->device_total_bytes;
        if (!facts->is_rejection || facts->device_free_bytes > 0) { /* else it was not asked */
            request->figures[PLIM_FIGURE_FREE].bytes = facts->device_free_bytes;
        }
    }
    request->figures[PLIM_FIGURE_LIMIT].bytes = facts->allowed_bytes; /* unlimited is unknown */
}

/* Held bytes, counted as PyTorch's text counts them: free memory of private pools is allocated. */
static void set_held(plim_failed_request *request, const plim_oom_facts *facts)
{
    const uint64_t page =
        facts->is_small ? PLIM_SMALL_SEGMENT_BYTES : plim_settings_default().large_segment_bytes;
    const uint64_t reserved = as_known(facts->reserved_bytes);
    const uint64_t live = as_known(facts->allocated_bytes);
    const uint64_t private_bytes =
        plim_min(facts->private_pools_free_bytes, plim_minus(reserved, live));
    const uint64_t allocated = live + private_bytes;
    const struct {
        plim_figure_id id;
        uint64_t bytes;
    } figures[] = {
        { PLIM_FIGURE_ALLOCATED, allocated },
        { PLIM_FIGURE_RESERVED, reserved },
        { PLIM_FIGURE_RESERVED_UNALLOCATED, plim_minus(reserved, allocated) },
        { PLIM_FIGURE_PRIVATE_POOLS, private_bytes > 0 ? private_bytes : PLIM_BYTES_UNKNOWN },
        { PLIM_FIGURE_PAGE,
          facts->handle_bytes > 0 || facts->has_expandable_segments ? facts->handle_bytes : page },
        { PLIM_FIGURE_PENDING, facts->pending_bytes },
        { PLIM_FIGURE_POOL_FREE, facts->free_own_bytes },
        { PLIM_FIGURE_LARGEST_FREE, facts->largest_hole_bytes },
        { PLIM_FIGURE_LARGEST_FREE_ANYWHERE, facts->largest_hole_anywhere_bytes },
        { PLIM_FIGURE_OTHER_STREAMS_FREE, facts->free_other_stream_bytes },
        { PLIM_FIGURE_RELEASABLE, facts->releasable_bytes },
        { PLIM_FIGURE_INACTIVE_SPLIT, facts->pinned_by_split_bytes },
        { PLIM_FIGURE_EXPANDABLE_RESERVED, facts->expandable_reserved_bytes },
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        request->figures[figures[i].id].bytes = figures[i].bytes;
    }
}

plim_failed_request plim_oom_facts_request(const plim_oom_facts *facts,
                                           plim_process_figure processes[PLIM_OOM_PROCESSES_MAX])
{
    plim_failed_request request = plim_failed_request_of(
        facts->is_rejection ? PLIM_TOPIC_CAP : PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    request.subject.device = facts->device;
    request.subject.stream = facts->stream;
    request.subject.pool[0] = facts->pool.a;
    request.subject.pool[1] = facts->pool.b;
    request.is_rejected = facts->is_rejection;
    if (facts->has_expandable_segments) {
        request.in_force = PLIM_IN_FORCE_BIT(PLIM_IN_FORCE_EXPANDABLE_SEGMENTS);
    }
    set_sizes(&request, facts);
    set_device(&request, facts);
    set_held(&request, facts);
    PLIM_ASSERT(facts->process_count <= PLIM_OOM_PROCESSES_MAX);
    for (size_t i = 0; i < facts->process_count; i++) {
        const plim_device_process *const process = &facts->processes[i];
        if (process->pid == facts->pid) {
            request.figures[PLIM_FIGURE_PROCESS].bytes = process->used_bytes;
        } else {
            processes[request.process_count++] =
                (plim_process_figure){ .pid = (uint64_t)process->pid,
                                       .bytes = process->used_bytes };
        }
    }
    request.processes = processes;
    return request;
}

size_t plim_oom_advice(const plim_oom_facts *facts, char *text, size_t bytes)
{
    plim_process_figure processes[PLIM_OOM_PROCESSES_MAX];
    const plim_failed_request request = plim_oom_facts_request(facts, processes);
    const plim_judgement judgement = plim_judge(&request);
    const size_t length = plim_judgement_why(&request, &judgement, text, bytes);
    const size_t room = length + 1 < bytes ? bytes - length - 1 : 0;
    const size_t more = plim_remedy_text(&request, room > 0 ? text + length + 1 : NULL, room);
    if (more > 0 && room > 0) {
        text[length] = ' ';
    }
    return more > 0 ? length + 1 + more : length;
}
