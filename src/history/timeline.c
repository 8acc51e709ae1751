/*
 * timeline.c - see plimsoll/timeline.h: what allocations are, by id, and which live at a moment.
 */
#include "history/timeline.h"

#include "base/assert.h"
#include "base/error.h"
#include "history/driver_actions.h"

#include <stdlib.h>

/* --- making one --- */

static uint64_t as_recorded(const void *ctx, uint64_t block_bytes)
{
    (void)ctx;
    return block_bytes;
}

plim_status plim_timeline_init(plim_timeline *timeline, const plim_history *history,
                               const plim_device_history *device,
                               const plim_timeline_options *options, plim_error *err)
{
    plim_timeline_options chosen =
        options != NULL ? *options : (plim_timeline_options){ .mem = NULL };
    if (plim_history_source(history).sizes == PLIM_SIZES_OF_BLOCKS) {
        chosen.rule = (plim_block_rule){ .round = as_recorded, .is_exact = true };
    }
    const plim_mem *const mem = plim_mem_or_heap(chosen.mem);
    *timeline = (plim_timeline){ .mem = mem, .history = history, .device = device };
    const plim_free_halves halves = plim_free_halves_of(history, device->device);
    PLIM_TRY(plim_start_init(&timeline->start, device, halves, mem, err));
    const plim_status status =
        plim_blocks_init(&timeline->blocks, &timeline->start, device, &chosen.rule, mem, err);
    if (status != PLIM_OK) {
        plim_timeline_deinit(timeline);
    }
    return status;
}

void plim_timeline_deinit(plim_timeline *timeline)
{
    plim_start_deinit(&timeline->start);
    plim_blocks_deinit(&timeline->blocks);
}

plim_status plim_timeline_create(const plim_history *history, size_t device,
                                 const plim_timeline_options *options, plim_timeline **ret_timeline,
                                 plim_error *err)
{
    const plim_mem *const mem = plim_mem_or_heap(options != NULL ? options->mem : NULL);
    plim_timeline *const timeline = plim_mem_alloc_zeroed(mem, 1, sizeof *timeline);
    if (timeline == NULL) {
        return plim_fail_memory(err, "making a timeline");
    }
    const plim_status status =
        plim_timeline_init(timeline, history, plim_history_device(history, device), options, err);
    if (status != PLIM_OK) {
        plim_mem_free(mem, timeline, 1, sizeof *timeline);
        return status;
    }
    *ret_timeline = timeline;
    return PLIM_OK;
}

void plim_timeline_destroy(plim_timeline *timeline)
{
    if (timeline != NULL) {
        const plim_mem *const mem = timeline->mem;
        plim_timeline_deinit(timeline);
        plim_mem_free(mem, timeline, 1, sizeof *timeline);
    }
}

uint64_t plim_timeline_anomaly_count(const plim_timeline *timeline, plim_anomaly anomaly)
{
    PLIM_ASSERT((size_t)anomaly < PLIM_ANOMALY_COUNT);
    return timeline->start.anomalies[anomaly];
}

uint64_t plim_timeline_id_end(const plim_timeline *timeline)
{
    return plim_timeline_recorded_id(timeline, timeline->device->events.count);
}

/* --- what an event is about --- */

static int compare_events(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The place of an event in a list of them, or PLIM_NO_ALLOCATION. */
static uint64_t find_event(const plim_event_list *list, uint32_t event)
{
    const uint32_t *const found = list->count == 0 ? NULL
                                                   : bsearch(&event, list->items, list->count,
                                                             sizeof *list->items, compare_events);
    return found == NULL ? PLIM_NO_ALLOCATION : (uint64_t)(found - list->items);
}

/* The allocation that a free ends. */
static uint64_t find_ended(const plim_timeline *timeline, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &timeline->start.lifetimes;
    const uint32_t alloc = lifetimes->partner[event];
    return alloc != PLIM_NONE ? plim_timeline_recorded_id(timeline, alloc)
                              : find_event(&lifetimes->start_frees, event);
}

uint64_t plim_timeline_about(const plim_timeline *timeline, uint64_t event)
{
    const plim_lifetimes *const lifetimes = &timeline->start.lifetimes;
    PLIM_ASSERT(event < timeline->device->events.count);
    const uint8_t action = timeline->device->events.action[event];
    if (action > PLIM_FREE_COMPLETED) {
        return PLIM_NO_ALLOCATION;
    }
    if (action == PLIM_ALLOC) {
        return plim_timeline_recorded_id(timeline, event);
    }
    if (plim_ends_allocation(lifetimes->halves, action)) {
        return find_ended(timeline, (uint32_t)event);
    }
    if (lifetimes->partner[event] != PLIM_NONE) {
        return find_ended(timeline, lifetimes->partner[event]);
    }
    const uint64_t pending = find_event(&lifetimes->start_completions, (uint32_t)event);
    return pending == PLIM_NO_ALLOCATION ? pending : timeline->start.allocations.count + pending;
}

uint64_t plim_timeline_displaced(const plim_timeline *timeline, uint64_t event)
{
    const plim_lifetimes *const lifetimes = &timeline->start.lifetimes;
    size_t low = 0;
    size_t high = lifetimes->displacements.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lifetimes->displacements.items[middle].event < event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < lifetimes->displacements.count &&
                   lifetimes->displacements.items[low].event == event
               ? plim_timeline_about(timeline, lifetimes->displacements.items[low].displaced)
               : PLIM_NO_ALLOCATION;
}

/* --- allocations --- */

static int64_t moment_of(uint32_t event)
{
    return event == PLIM_NONE ? PLIM_NEVER : (int64_t)event;
}

int64_t plim_timeline_completed(const plim_timeline *timeline, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &timeline->start.lifetimes;
    if (event == PLIM_NONE) {
        return PLIM_NEVER;
    }
    if (timeline->device->events.action[event] != PLIM_FREE_REQUESTED) {
        return event; /* completed by the same event, or displaced */
    }
    if (lifetimes->halves.completed) {
        return moment_of(plim_lifetimes_completion(lifetimes, event));
    }
    /* Where nothing is ever completed, only a block that is pending at the end stays. */
    return find_event(&timeline->start.pending_requests, event) == PLIM_NO_ALLOCATION
               ? (int64_t)event
               : PLIM_NEVER;
}

static plim_allocation allocation_of_start(const plim_timeline *timeline, size_t row)
{
    const plim_start_allocation *const from = &timeline->start.allocations.items[row];
    const plim_events *const events = &timeline->device->events;
    const bool is_ended = from->ended_by != PLIM_NONE;
    return (plim_allocation){ .id = row,
                              .addr = from->addr,
                              .requested_bytes = from->requested_bytes,
                              .block_bytes = from->block_bytes,
                              .block_slack_bytes = from->slack_bytes,
                              .born = PLIM_AT_START,
                              .is_from_before = true,
                              .freed = moment_of(from->ended_by),
                              .completed = plim_timeline_completed(timeline, from->ended_by),
                              .stack = from->stack,
                              .stream = is_ended ? events->stream[from->ended_by] : PLIM_NONE,
                              .is_stack_of_free = from->stack_of_free };
}

static plim_allocation pending_of_start(const plim_timeline *timeline, size_t row)
{
    const plim_start_pending *const from = &timeline->start.pending.items[row];
    const plim_events *const events = &timeline->device->events;
    const bool is_completed = from->completed_by != PLIM_NONE;
    return (plim_allocation){ .id = timeline->start.allocations.count + row,
                              .addr = from->addr,
                              .requested_bytes = from->requested_bytes,
                              .block_bytes = from->block_bytes,
                              .block_slack_bytes = from->slack_bytes,
                              .born = PLIM_AT_START,
                              .is_from_before = true,
                              .freed = PLIM_AT_START,
                              .completed = moment_of(from->completed_by),
                              .stack = PLIM_NONE,
                              .stream =
                                  is_completed ? events->stream[from->completed_by] : PLIM_NONE };
}

static plim_allocation recorded(const plim_timeline *timeline, uint32_t event)
{
    const plim_events *const events = &timeline->device->events;
    const plim_block_size size = plim_blocks_of(&timeline->blocks, event, events->bytes[event]);
    const uint32_t end = timeline->start.lifetimes.partner[event];
    return (plim_allocation){ .id = plim_timeline_recorded_id(timeline, event),
                              .addr = events->addr[event],
                              .requested_bytes = events->bytes[event],
                              .block_bytes = size.bytes,
                              .block_slack_bytes = size.slack_bytes,
                              .born = (int64_t)event,
                              .is_from_before = event < timeline->device->earlier_events,
                              .freed = moment_of(end),
                              .completed = plim_timeline_completed(timeline, end),
                              .stack = events->stack[event],
                              .stream = events->stream[event] };
}

plim_allocation plim_timeline_allocation(const plim_timeline *timeline, uint64_t id)
{
    const plim_start *const start = &timeline->start;
    const uint64_t first = plim_timeline_recorded_id(timeline, 0);
    PLIM_ASSERT(id < plim_timeline_id_end(timeline));
    if (id >= first) {
        PLIM_ASSERT_DEBUG(timeline->device->events.action[id - first] == PLIM_ALLOC);
        return recorded(timeline, (uint32_t)(id - first));
    }
    return id < start->allocations.count
               ? allocation_of_start(timeline, (size_t)id)
               : pending_of_start(timeline, (size_t)id - start->allocations.count);
}

/* --- what is live at a moment --- */

plim_live plim_timeline_live(const plim_timeline *timeline, int64_t moment, bool with_pending)
{
    return (plim_live){ .timeline = timeline, .moment = moment, .with_pending = with_pending };
}

/* True if an alloc was still live, or pending if that counts, at the moment of a walk. */
static bool is_there(const plim_live *live, uint32_t alloc)
{
    const plim_timeline *const timeline = live->timeline;
    const uint32_t end = timeline->start.lifetimes.partner[alloc];
    return end == PLIM_NONE || (int64_t)end > live->moment ||
           (live->with_pending && plim_timeline_completed(timeline, end) > live->moment);
}

static bool next_of_start(plim_live *live, uint64_t first_recorded, plim_allocation *ret_allocation)
{
    while (live->next_id < first_recorded) {
        const plim_allocation one = plim_timeline_allocation(live->timeline, live->next_id++);
        if (one.freed > live->moment || (live->with_pending && one.completed > live->moment)) {
            *ret_allocation = one;
            return true;
        }
    }
    return false;
}

bool plim_live_next(plim_live *live, plim_allocation *ret_allocation)
{
    const uint8_t *const actions = live->timeline->device->events.action;
    const uint64_t first = plim_timeline_recorded_id(live->timeline, 0);
    if (next_of_start(live, first, ret_allocation)) {
        return true;
    }
    for (uint64_t i = live->next_id - first; (int64_t)i <= live->moment; i++) {
        if (actions[i] == PLIM_ALLOC && is_there(live, (uint32_t)i)) {
            live->next_id = first + i + 1;
            *ret_allocation = recorded(live->timeline, (uint32_t)i);
            return true;
        }
    }
    live->next_id = first + (uint64_t)(live->moment + 1);
    return false;
}

bool plim_timeline_segments(const plim_timeline *timeline, int64_t moment, plim_spans *ret_segments)
{
    const plim_events *const events = &timeline->device->events;
    if (!plim_spans_copy(&timeline->start.undone.segments, timeline->mem, ret_segments)) {
        return false;
    }
    for (int64_t i = 0; i <= moment; i++) {
        if (plim_is_driver_call(events->action[i]) &&
            plim_segments_follow(ret_segments, events, (uint64_t)i) == PLIM_SPANS_NO_MEMORY) {
            plim_spans_deinit(ret_segments);
            return false;
        }
    }
    return true;
}
