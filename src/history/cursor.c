/*
 * cursor.c - running sums from event to event.
 *
 * Which event ends which allocation is known beforehand, so a step is a few additions and looks
 * little up: the lists of what is special (frees of what was there before, displacements, …) are
 * in order of events, and the cursor stands in each.
 */
#include "history/timeline.h"

#include "base/assert.h"
#include "base/error.h"

plim_figures plim_running_figures(const plim_running *running)
{
    return (plim_figures){
        .requested_bytes = plim_total_bytes(running->requested),
        .allocated_bytes = plim_total_bytes(running->allocated),
        .active_bytes = plim_total_bytes(running->allocated + running->pending),
        .reserved_bytes = plim_total_bytes(running->reserved),
        .live_count = running->live_count,
        .allocated_slack_bytes = plim_total_bytes(running->slack),
        .active_slack_bytes = plim_total_bytes(running->slack + running->pending_slack),
    };
}

/* --- lives --- */

/* Almost all sizes are exact. */
static inline void add_slack(plim_total *slack, plim_block_size block)
{
    if (block.slack_bytes != 0) {
        *slack += block.slack_bytes;
    }
}

static inline void remove_slack(plim_total *slack, plim_block_size block)
{
    if (block.slack_bytes != 0) {
        *slack -= block.slack_bytes;
    }
}

static void begin(plim_running *now, uint64_t requested, plim_block_size block)
{
    now->requested += requested;
    now->allocated += block.bytes;
    add_slack(&now->slack, block);
    now->live_count++;
}

static void wait(plim_running *now, plim_block_size block)
{
    now->pending += block.bytes;
    add_slack(&now->pending_slack, block);
}

static void complete(plim_running *now, plim_block_size block)
{
    now->pending -= block.bytes;
    remove_slack(&now->pending_slack, block);
}

static void end(plim_running *now, uint64_t requested, plim_block_size block, bool is_pending)
{
    PLIM_ASSERT_DEBUG(now->live_count > 0);
    now->requested -= requested;
    now->allocated -= block.bytes;
    remove_slack(&now->slack, block);
    now->live_count--;
    if (is_pending) {
        wait(now, block);
    }
}

static plim_block_size block_of_start(const plim_start_allocation *row)
{
    return (plim_block_size){ row->block_bytes, row->slack_bytes };
}

static plim_block_size block_of_pending(const plim_start_pending *row)
{
    return (plim_block_size){ row->block_bytes, row->slack_bytes };
}

/* --- the start --- */

void plim_cursor_init(plim_cursor *cursor, const plim_timeline *timeline)
{
    const plim_start *const start = &timeline->start;
    *cursor = (plim_cursor){ .timeline = timeline,
                             .now = { .reserved = start->undone.reserved },
                             .last_request = PLIM_NONE,
                             .shortfalls_left = start->undone.shortfalls.count };
    for (size_t i = 0; i < start->allocations.count; i++) {
        const plim_start_allocation *const row = &start->allocations.items[i];
        begin(&cursor->now, row->requested_bytes, block_of_start(row));
    }
    for (size_t i = 0; i < start->pending.count; i++) {
        wait(&cursor->now, block_of_pending(&start->pending.items[i]));
    }
}

plim_status plim_cursor_create(const plim_timeline *timeline, plim_cursor **ret_cursor,
                               plim_error *err)
{
    plim_cursor *const cursor = plim_mem_alloc(timeline->mem, 1, sizeof *cursor);
    if (cursor == NULL) {
        return plim_fail_memory(err, "making a cursor");
    }
    plim_cursor_init(cursor, timeline);
    *ret_cursor = cursor;
    return PLIM_OK;
}

void plim_cursor_destroy(plim_cursor *cursor)
{
    if (cursor != NULL) {
        plim_mem_free(cursor->timeline->mem, cursor, 1, sizeof *cursor);
    }
}

int64_t plim_cursor_moment(const plim_cursor *cursor)
{
    return (int64_t)cursor->next - 1;
}

plim_figures plim_cursor_figures(const plim_cursor *cursor)
{
    return plim_running_figures(&cursor->now);
}

/* --- steps --- */

static plim_block_size block_of(const plim_cursor *cursor, uint32_t alloc)
{
    const plim_timeline *const timeline = cursor->timeline;
    return plim_blocks_of(&timeline->blocks, alloc, timeline->device->events.bytes[alloc]);
}

/* True if a block that a free_requested ends waits for its completion. Where nothing is ever
 * completed, only those that are pending at the end do. */
static bool waits(const plim_cursor *cursor, uint64_t id)
{
    const plim_free_halves halves = plim_timeline_halves(cursor->timeline);
    return halves.requested &&
           (halves.completed ||
            plim_timeline_allocation(cursor->timeline, id).completed == PLIM_NEVER);
}

/* What the request of a pending block was about: an alloc, or a row of the start. */
static plim_block_size block_of_request(const plim_cursor *cursor, uint32_t request)
{
    if (request == cursor->last_request) {
        return cursor->last_block;
    }
    const plim_timeline *const timeline = cursor->timeline;
    const uint32_t alloc = timeline->start.lifetimes.partner[request];
    if (alloc != PLIM_NONE) {
        return block_of(cursor, alloc);
    }
    const uint64_t id = plim_timeline_about(timeline, request);
    return block_of_start(&timeline->start.allocations.items[id]);
}

static void take_alloc(plim_cursor *cursor, uint32_t event)
{
    const plim_lifetimes *const lifetimes = &cursor->timeline->start.lifetimes;
    const plim_events *const events = lifetimes->events;
    if (cursor->displacement < lifetimes->displacements.count &&
        lifetimes->displacements.items[cursor->displacement].event == event) {
        const uint32_t gone = lifetimes->displacements.items[cursor->displacement++].displaced;
        if (events->action[gone] == PLIM_ALLOC) {
            end(&cursor->now, events->bytes[gone], block_of(cursor, gone), false);
        } else {
            complete(&cursor->now, block_of_request(cursor, gone));
        }
    }
    begin(&cursor->now, events->bytes[event], block_of(cursor, event));
}

static void take_end(plim_cursor *cursor, uint32_t event)
{
    const plim_timeline *const timeline = cursor->timeline;
    const plim_lifetimes *const lifetimes = &timeline->start.lifetimes;
    const uint32_t alloc = lifetimes->partner[event];
    if (alloc != PLIM_NONE) {
        cursor->last_request = event;
        cursor->last_block = block_of(cursor, alloc);
        end(&cursor->now, lifetimes->events->bytes[alloc], cursor->last_block,
            waits(cursor, plim_timeline_recorded_id(timeline, alloc)));
    } else if (cursor->start_allocation < lifetimes->start_frees.count &&
               lifetimes->start_frees.items[cursor->start_allocation] == event) {
        const size_t row = cursor->start_allocation++;
        const plim_start_allocation *const gone = &timeline->start.allocations.items[row];
        end(&cursor->now, gone->requested_bytes, block_of_start(gone), waits(cursor, row));
    } /* else a double free */
}

static void take_completion(plim_cursor *cursor, uint32_t event)
{
    const plim_start *const start = &cursor->timeline->start;
    const uint32_t request = start->lifetimes.partner[event];
    if (request != PLIM_NONE) {
        complete(&cursor->now, block_of_request(cursor, request));
    } else if (cursor->start_pending < start->pending.count &&
               start->pending.items[cursor->start_pending].completed_by == event) {
        complete(&cursor->now, block_of_pending(&start->pending.items[cursor->start_pending++]));
    }
}

static void take_segment(plim_cursor *cursor, uint32_t event, bool is_more)
{
    const plim_undone *const undone = &cursor->timeline->start.undone;
    uint64_t bytes = cursor->timeline->device->events.bytes[event];
    if (!is_more) {
        cursor->now.reserved = plim_total_less(cursor->now.reserved, bytes);
        return;
    }
    const size_t left = cursor->shortfalls_left;
    if (left > 0 && undone->shortfalls.items[left - 1].event == event) {
        bytes -= undone->shortfalls.items[left - 1].bytes;
        cursor->shortfalls_left--;
    }
    cursor->now.reserved += bytes;
}

static inline void take_free(plim_cursor *cursor, uint32_t event, uint8_t action)
{
    if (plim_ends_allocation(plim_timeline_halves(cursor->timeline), action)) {
        take_end(cursor, event);
    } else {
        take_completion(cursor, event);
    }
}

static inline void take_other(plim_cursor *cursor, uint32_t event, uint8_t action)
{
    switch (action) {
    case PLIM_ALLOC:
        take_alloc(cursor, event);
        break;
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        take_segment(cursor, event, true);
        break;
    case PLIM_SEGMENT_FREE:
    case PLIM_SEGMENT_UNMAP:
        take_segment(cursor, event, false);
        break;
    default:
        break; /* changes no memory */
    }
}

static inline bool is_free(uint8_t action)
{
    return action == PLIM_FREE_REQUESTED || action == PLIM_FREE_COMPLETED;
}

bool plim_cursor_next_other(plim_cursor *cursor, uint64_t end)
{
    const uint8_t *const actions = cursor->timeline->device->events.action;
    while (cursor->next < end) {
        const uint32_t event = (uint32_t)cursor->next++;
        if (!is_free(actions[event])) {
            take_other(cursor, event, actions[event]);
            return true;
        }
        take_free(cursor, event, actions[event]);
    }
    return false;
}

bool plim_cursor_next(plim_cursor *cursor)
{
    if (cursor->next == cursor->timeline->device->events.count) {
        return false;
    }
    (void)plim_cursor_next_other(cursor, cursor->next + 1);
    return true;
}
