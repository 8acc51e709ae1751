/*
 * inspect.c - the facts of each device, in the order in which they build on each other:
 *
 *   trace facts -> start -> end state -> one walk: peak, ooms, timeline -> groups -> truncation
 *
 * All results live in one arena; what working needs is freed before the next device.
 */
#include "plimsoll/inspect.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/error.h"
#include "inspect/device_view.h"
#include "inspect/end_state.h"
#include "inspect/never_freed.h"
#include "inspect/trace_facts.h"

#include <string.h>

#define TIMELINE_BINS_DEFAULT 256u

struct plim_inspection {
    const plim_mem *mem;
    plim_arena arena;
    plim_device_inspection *devices; /* in the arena */
    size_t device_count;
    uint64_t anomalies[PLIM_ANOMALY_COUNT];
};

/* The state of an inspection, for all devices of a history. */
typedef struct work {
    const plim_history *history;
    const plim_inspect_options *options;
    plim_inspection *inspection;
    plim_stack_filter filter; /* where the options have a pattern */
    uint32_t bins_max;
} work;

/* --- one walk: the start, the peak, every oom, and the timeline by bins --- */

/* Results of the walk. The caller makes room: oom_count is that of the events. */
typedef struct device_walk {
    plim_moment peak;      /* without its groups */
    plim_oom_moment *ooms; /* likewise */
    size_t oom_count;
    plim_timeline_bin *bins; /* of equal runs of events; the last may be shorter */
    size_t bin_count;
    uint64_t bin_events; /* in each */
    uint64_t snapshot_mismatches;
} device_walk;

/* The number of events a bin has, and how many bins that makes. At least one, for the start. */
static void plan_bins(device_walk *walk, uint64_t event_count, uint32_t bins_max)
{
    walk->bin_events = event_count / bins_max + (event_count % bins_max != 0);
    if (walk->bin_events == 0) {
        walk->bin_events = 1;
    }
    const uint64_t bins = event_count / walk->bin_events + (event_count % walk->bin_events != 0);
    walk->bin_count = bins == 0 ? 1 : (size_t)bins;
}

/* Facts of the walk so far, beside the cursor's. */
typedef struct progress {
    plim_running peak; /* as the sums were then */
    int64_t peak_event;
    plim_total allocated_max, reserved_max; /* in this bin */
    size_t oom_count;
} progress;

static void note_oom(device_walk *walk, progress *seen, const plim_cursor *cursor, uint64_t event)
{
    const plim_events *const events = &cursor->timeline->device->events;
    const uint64_t free_bytes = events->addr[event];
    const bool has_free = free_bytes != PLIM_SIZE_UNKNOWN;
    PLIM_ASSERT(seen->oom_count < walk->oom_count);
    walk->ooms[seen->oom_count++] = (plim_oom_moment){
        .event = event,
        .requested_bytes = events->bytes[event],
        .stack = events->stack[event],
        .device_free_bytes = has_free ? free_bytes : 0,
        .has_device_free = has_free,
        .moment = plim_moment_of(&cursor->now, events, (int64_t)event),
    };
}

/*
 * A snapshot event names the active bytes of its moment. Where the size of every block is known
 * the sum must agree.
 */
static void check_snapshot(device_walk *walk, const plim_cursor *cursor, uint64_t event)
{
    const plim_figures figures = plim_cursor_figures(cursor);
    if (figures.active_slack_bytes == 0 &&
        figures.active_bytes != cursor->timeline->device->events.bytes[event]) {
        walk->snapshot_mismatches++;
    }
}

static inline void raise(plim_total *max, plim_total now)
{
    *max = now > *max ? now : *max;
}

/* The event that the cursor has passed. Only an alloc raises what is live, only segments raise what
 * is reserved. */
static void take(device_walk *walk, progress *seen, const plim_cursor *cursor)
{
    const uint64_t event = cursor->next - 1;
    switch (cursor->timeline->device->events.action[event]) {
    case PLIM_ALLOC:
        if (cursor->now.requested > seen->peak.requested) {
            seen->peak = cursor->now;
            seen->peak_event = (int64_t)event;
        }
        raise(&seen->allocated_max, cursor->now.allocated);
        break;
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        raise(&seen->reserved_max, cursor->now.reserved);
        break;
    case PLIM_OOM:
        note_oom(walk, seen, cursor, event);
        break;
    case PLIM_SNAPSHOT:
        check_snapshot(walk, cursor, event);
        break;
    default:
        break;
    }
}

/* One column of the timeline; the first also shows the start. */
static void fill_bin(device_walk *walk, progress *seen, plim_cursor *cursor, size_t bin)
{
    const uint64_t first = bin * walk->bin_events;
    const uint64_t left = cursor->timeline->device->events.count - first;
    const uint64_t end = first + (left < walk->bin_events ? left : walk->bin_events);
    seen->allocated_max = bin == 0 ? cursor->now.allocated : 0;
    seen->reserved_max = bin == 0 ? cursor->now.reserved : 0;
    if (first < end) {
        (void)plim_cursor_next(cursor);
        take(walk, seen, cursor);
        raise(&seen->allocated_max, cursor->now.allocated);
        raise(&seen->reserved_max, cursor->now.reserved);
    }
    while (plim_cursor_next_other(cursor, end)) {
        take(walk, seen, cursor);
    }
    walk->bins[bin] =
        (plim_timeline_bin){ .event_first = first,
                             .allocated_bytes_max = plim_total_bytes(seen->allocated_max),
                             .reserved_bytes_max = plim_total_bytes(seen->reserved_max) };
}

/* `cursor` is at the start; afterwards it is at the end. */
static void walk_events(device_walk *walk, plim_cursor *cursor)
{
    progress seen = { .peak = cursor->now, .peak_event = -1 };
    for (size_t bin = 0; bin < walk->bin_count; bin++) {
        fill_bin(walk, &seen, cursor, bin);
    }
    PLIM_ASSERT(seen.oom_count == walk->oom_count);
    walk->peak = plim_moment_of(&seen.peak, &cursor->timeline->device->events, seen.peak_event);
}

/* --- a device --- */

static void note_start(const plim_cursor *at_start, plim_device_inspection *facts)
{
    const plim_figures figures = plim_cursor_figures(at_start);
    facts->start_requested_bytes = figures.requested_bytes;
    facts->start_live_count = figures.live_count;
    facts->start_reserved_bytes = figures.reserved_bytes;
}

/* Room for what the walk finds; false when there is no memory. */
static bool make_room(device_walk *walk, const work *job, const plim_device_history *device,
                      size_t oom_count)
{
    plim_arena *const arena = &job->inspection->arena;
    walk->oom_count = oom_count;
    if (oom_count > 0) {
        walk->ooms = plim_arena_alloc(arena, oom_count * sizeof *walk->ooms);
    }
    plan_bins(walk, device->events.count, job->bins_max);
    walk->bins = plim_arena_alloc(arena, walk->bin_count * sizeof *walk->bins);
    return walk->bins != NULL && (oom_count == 0 || walk->ooms != NULL);
}

static plim_status choose_moment(work *job, const plim_device_view *view,
                                 plim_device_inspection *facts, plim_error *err)
{
    facts->chosen_step = PLIM_NO_STEP;
    if (job->options->at == NULL) {
        return PLIM_OK;
    }
    plim_error why = { 0 };
    int64_t event = 0;
    if (plim_device_view_moment(view, *job->options->at, &event, &why) != PLIM_OK) {
        facts->no_chosen_because =
            plim_arena_copy(&job->inspection->arena, why.message, strlen(why.message));
        return facts->no_chosen_because != NULL ? PLIM_OK
                                                : plim_fail_memory(err, "choosing a moment");
    }
    facts->chosen = plim_device_view_sums(view, event);
    facts->has_chosen = true;
    if (event >= 0) {
        facts->chosen_step = plim_steps_at(&view->steps, (uint64_t)event);
    }
    return PLIM_OK;
}

/* Groups at each moment that has them. */
static plim_status group_moments(work *job, plim_device_view *view, device_walk *walk,
                                 plim_device_inspection *facts, plim_error *err)
{
    plim_arena *const arena = &job->inspection->arena;
    plim_grouper *const grouper = &view->grouper;
    grouper->filter = job->options->stack_pattern != NULL ? &job->filter : NULL;
    grouper->categories = job->options->with_categories ? &view->categories : NULL;
    PLIM_TRY(plim_group_moment(grouper, &view->timeline, arena, &walk->peak, err));
    for (size_t i = 0; i < walk->oom_count && i < PLIM_OOM_GROUPS_MAX; i++) {
        PLIM_TRY(plim_group_moment(grouper, &view->timeline, arena, &walk->ooms[i].moment, err));
    }
    PLIM_TRY(plim_group_moment(grouper, &view->timeline, arena, &facts->end_live, err));
    return facts->has_chosen
               ? plim_group_moment(grouper, &view->timeline, arena, &facts->chosen, err)
               : PLIM_OK;
}

static void complete_ooms(plim_device_view *view, device_walk *walk)
{
    for (size_t i = 0; i < walk->oom_count; i++) {
        plim_oom_moment *const oom = &walk->ooms[i];
        const uint64_t bytes = oom->requested_bytes; /* as the file claims */
        oom->segment_bytes = bytes > 0 && bytes <= PLIM_REQUEST_BYTES_END
                                 ? plim_segment_size(&view->rule.settings, bytes)
                                 : bytes;
        oom->user_frame = plim_group_user_frame(&view->grouper, oom->stack);
    }
}

static plim_status walk_device(work *job, plim_device_view *view, plim_device_inspection *facts,
                               plim_error *err)
{
    const plim_device_history *const device = view->device;
    plim_cursor cursor;
    plim_cursor_init(&cursor, &view->timeline);
    note_start(&cursor, facts);
    device_walk walk = { 0 };
    if (!make_room(&walk, job, device, facts->oom_count)) {
        return plim_fail_memory(err, "inspecting the history");
    }
    walk_events(&walk, &cursor);
    facts->end_live =
        plim_moment_of(&cursor.now, &device->events, (int64_t)device->events.count - 1);
    PLIM_TRY(choose_moment(job, view, facts, err));
    PLIM_TRY(group_moments(job, view, &walk, facts, err));
    PLIM_TRY(
        plim_never_freed_of(&facts->end_live, &job->inspection->arena, &facts->never_freed, err));
    complete_ooms(view, &walk);
    facts->peak = walk.peak;
    facts->ooms = walk.ooms;
    if (device->events.count > 0 || device->segment_count > 0) {
        facts->timeline = walk.bins;
        facts->timeline_count = walk.bin_count;
    }
    job->inspection->anomalies[PLIM_ANOMALY_SNAPSHOT_CHECK] += walk.snapshot_mismatches;
    return PLIM_OK;
}

/* Steps and categories are worked out where they are wanted. */
static plim_status view_device(const work *job, const plim_device_history *device,
                               plim_device_view *view, plim_error *err)
{
    const plim_mem *const mem = job->inspection->mem;
    return job->options->with_categories || job->options->at != NULL
               ? plim_device_view_init(view, job->history, device, mem, err)
               : plim_device_view_init_timeline(view, job->history, device, mem, err);
}

static plim_status inspect_device(work *job, const plim_device_history *device,
                                  plim_device_inspection *facts, plim_error *err)
{
    plim_inspection *const inspection = job->inspection;
    plim_arena *const arena = &inspection->arena;
    *facts = (plim_device_inspection){ 0 };
    PLIM_TRY(plim_trace_facts_of(job->history, device, arena, facts, inspection->anomalies, err));
    facts->end = plim_end_state_of(device, inspection->anomalies);
    PLIM_TRY(
        plim_pool_states_of(job->history, device, arena, &facts->pools, &facts->pool_count, err));
    plim_device_view view;
    plim_status status = view_device(job, device, &view, err);
    plim_free_halves halves = { 0 };
    if (status == PLIM_OK) {
        for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
            inspection->anomalies[i] +=
                plim_timeline_anomaly_count(&view.timeline, (plim_anomaly)i);
        }
        halves = plim_timeline_halves(&view.timeline);
        status = walk_device(job, &view, facts, err);
    }
    plim_device_view_deinit(&view);
    PLIM_TRY(status);
    return plim_judge_truncation(job->history, device, halves, arena, facts, err);
}

static plim_status inspect_devices(work *job, plim_error *err)
{
    plim_inspection *const inspection = job->inspection;
    const size_t count = plim_history_device_count(job->history);
    if (count == 0) {
        return PLIM_OK;
    }
    inspection->devices = plim_arena_alloc(&inspection->arena, count * sizeof *inspection->devices);
    if (inspection->devices == NULL) {
        return plim_fail_memory(err, "inspecting the history");
    }
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(inspect_device(job, plim_history_device(job->history, i), &inspection->devices[i],
                                err));
        inspection->device_count++;
    }
    return PLIM_OK;
}

plim_status plim_inspect(const plim_history *history, const plim_inspect_options *options,
                         plim_inspection **ret_inspection, plim_error *err)
{
    const plim_inspect_options chosen = options != NULL ? *options : (plim_inspect_options){ 0 };
    const plim_mem *const mem = plim_mem_or_heap(chosen.mem);
    plim_inspection *const inspection = plim_mem_alloc_zeroed(mem, 1, sizeof *inspection);
    if (inspection == NULL) {
        return plim_fail_memory(err, "inspecting the history");
    }
    inspection->mem = mem;
    plim_arena_init(&inspection->arena, mem);
    work job = { .history = history,
                 .options = &chosen,
                 .inspection = inspection,
                 .bins_max =
                     chosen.timeline_bins > 0 ? chosen.timeline_bins : TIMELINE_BINS_DEFAULT };
    plim_status status = PLIM_OK;
    if (chosen.stack_pattern != NULL) {
        status = plim_stack_filter_init(&job.filter, history, chosen.stack_pattern, mem, err);
    }
    if (status == PLIM_OK) {
        status = inspect_devices(&job, err);
    }
    plim_stack_filter_deinit(&job.filter);
    if (status != PLIM_OK) {
        plim_inspection_destroy(inspection);
        return status;
    }
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        inspection->anomalies[i] += plim_history_anomaly_count(history, (plim_anomaly)i);
    }
    *ret_inspection = inspection;
    return PLIM_OK;
}

void plim_inspection_destroy(plim_inspection *inspection)
{
    if (inspection == NULL) {
        return;
    }
    plim_arena_deinit(&inspection->arena);
    plim_mem_free(inspection->mem, inspection, 1, sizeof *inspection);
}

size_t plim_inspection_device_count(const plim_inspection *inspection)
{
    return inspection->device_count;
}

const plim_device_inspection *plim_inspection_device(const plim_inspection *inspection,
                                                     size_t index)
{
    PLIM_ASSERT(index < inspection->device_count);
    return &inspection->devices[index];
}

uint64_t plim_inspection_anomaly_count(const plim_inspection *inspection, plim_anomaly anomaly)
{
    PLIM_ASSERT((size_t)anomaly < PLIM_ANOMALY_COUNT);
    return inspection->anomalies[anomaly];
}
