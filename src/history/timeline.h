/*
 * timeline.h - the inside of a timeline and of its cursor, for rooms that keep them on the stack.
 *
 *   lifetimes.h   which event ends which allocation, by address
 *   undo.h        the segments that stood before the first event
 *   start.h       what was live then
 *   blocks.h      how large each block was
 *
 * Ids are rows: those of start.allocations first, then of start.pending, then one for each event.
 */
#ifndef PLIMSOLL_HISTORY_TIMELINE_H
#define PLIMSOLL_HISTORY_TIMELINE_H

#include "history/blocks.h"

struct plim_timeline {
    const plim_mem *mem;
    const plim_history *history; /* borrowed, as the device */
    const plim_device_history *device;
    plim_start start;
    plim_blocks blocks;
};

/* Of a device that belongs to `history`; see plim_timeline_create(). */
plim_status plim_timeline_init(plim_timeline *timeline, const plim_history *history,
                               const plim_device_history *device,
                               const plim_timeline_options *options, plim_error *err);
/* Zeroed ones are allowed. */
void plim_timeline_deinit(plim_timeline *timeline);

/* Which halves of a free the file records. */
static inline plim_free_halves plim_timeline_halves(const plim_timeline *timeline)
{
    return timeline->start.lifetimes.halves;
}

static inline uint64_t plim_timeline_recorded_id(const plim_timeline *timeline, uint64_t event)
{
    return timeline->start.allocations.count + timeline->start.pending.count + event;
}

/* When the block of what an event ends (or PLIM_NONE) is given back; PLIM_NEVER: it is not seen. */
int64_t plim_timeline_completed(const plim_timeline *timeline, uint32_t event);

/* The segments after an event, or at PLIM_AT_START: spans tagged by stream, joined where they are
 * expandable. The caller's. False: no memory. */
bool plim_timeline_segments(const plim_timeline *timeline, int64_t moment,
                            plim_spans *ret_segments);

/* Sums that cannot wrap. */
typedef struct plim_running {
    plim_total requested;
    plim_total allocated;
    plim_total pending; /* blocks whose free is requested and not completed */
    plim_total reserved;
    plim_total slack; /* by how much `allocated` may be wrong */
    plim_total pending_slack;
    uint64_t live_count;
} plim_running;

struct plim_cursor {
    const plim_timeline *timeline;
    uint64_t next; /* event */
    plim_running now;
    /* The next row of each list: */
    size_t start_allocation, start_pending, displacement;
    size_t shortfalls_left; /* that list is backwards */
    /* The last request of a free, and its block: its completion mostly comes next. */
    uint32_t last_request;
    plim_block_size last_block;
};

/* At the start. */
void plim_cursor_init(plim_cursor *cursor, const plim_timeline *timeline);

/* Moves past frees, and past the next event that is not a free: the only ones that make a sum
 * larger. False: event `end` comes next, after frees alone. */
bool plim_cursor_next_other(plim_cursor *cursor, uint64_t end);

/* The figures of sums kept from an earlier moment. */
plim_figures plim_running_figures(const plim_running *running);

#endif
