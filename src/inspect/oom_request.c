/*
 * oom_request.c - a failed request of a history, as the judge takes it.
 */
#include "plimsoll/inspect.h"

#include "base/assert.h"
#include "base/numbers.h"

static void set(plim_failed_request *request, plim_figure_id id, uint64_t bytes)
{
    request->figures[id].bytes = bytes;
}

plim_failed_request plim_oom_request(const plim_device_inspection *device, size_t index)
{
    PLIM_ASSERT(index < device->oom_count);
    const plim_oom_moment *const oom = &device->ooms[index];
    const plim_moment *const then = &oom->moment;
    plim_failed_request request = plim_failed_request_of(
        device->device == PLIM_HOST_DEVICE ? PLIM_TOPIC_HOST_PINNED : PLIM_TOPIC_ALLOCATION,
        PLIM_FAMILY_PYTORCH);
    request.subject = (plim_subject){ .kind = PLIM_SUBJECT_EVENT,
                                      .device = device->device,
                                      .stack = oom->stack,
                                      .first = oom->event,
                                      .last = oom->event };
    set(&request, PLIM_FIGURE_REQUESTED, oom->segment_bytes);
    set(&request, PLIM_FIGURE_BLOCK, oom->requested_bytes);
    if (oom->has_device_free) {
        set(&request, PLIM_FIGURE_FREE, oom->device_free_bytes);
    }
    set(&request, PLIM_FIGURE_ALLOCATED, then->allocated_bytes);
    if (then->reserved_bytes > 0) { /* else the file has no segments */
        set(&request, PLIM_FIGURE_RESERVED, then->reserved_bytes);
        set(&request, PLIM_FIGURE_RESERVED_UNALLOCATED,
            plim_minus(then->reserved_bytes, then->allocated_bytes));
    }
    set(&request, PLIM_FIGURE_PENDING, plim_minus(then->active_bytes, then->allocated_bytes));
    if (oom->event + 1 == device->events && device->end.segments > 0) {
        set(&request, PLIM_FIGURE_LARGEST_FREE_ANYWHERE, device->end.largest_free_block_bytes);
        set(&request, PLIM_FIGURE_RELEASABLE, device->end.releasable_bytes);
        set(&request, PLIM_FIGURE_INACTIVE_SPLIT, device->end.inactive_split_bytes);
    }
    return request;
}
