/*
 * walk.c - the loop over events, by bins of the timeline.
 */
#include "diagnose/walk.h"

#include "base/assert.h"
#include "diagnose/end_state.h"

static plim_moment moment_of(const plim_running *running, const plim_events *events, int64_t event)
{
    const plim_figures figures = plim_running_figures(running);
    plim_moment moment = {
        .event = event,
        .time_us = event < 0 ? PLIM_TIME_UNKNOWN : events->time_us[event],
        .requested_bytes = figures.requested_bytes,
        .allocated_bytes = figures.allocated_bytes,
        .allocated_slack_bytes = figures.allocated_slack_bytes,
        .active_bytes = figures.active_bytes,
        .active_slack_bytes = figures.active_slack_bytes,
        .reserved_bytes = figures.reserved_bytes,
        .live_count = figures.live_count,
    };
    moment.fragmentation = plim_fragmentation(moment.allocated_bytes, moment.reserved_bytes);
    return moment;
}

void plim_walk_plan_bins(plim_walk *walk, uint64_t event_count, uint32_t bins_max)
{
    walk->bin_events = event_count / bins_max + (event_count % bins_max != 0);
    if (walk->bin_events == 0) {
        walk->bin_events = 1;
    }
    const uint64_t bins = event_count / walk->bin_events + (event_count % walk->bin_events != 0);
    walk->bin_count = bins == 0 ? 1 : (size_t)bins;
}

/* What the walk has seen so far, beside the cursor itself. */
typedef struct progress {
    plim_running peak; /* as the sums were then */
    int64_t peak_event;
    plim_total allocated_max, reserved_max; /* in this bin */
    size_t oom_count;
} progress;

static void note_oom(plim_walk *walk, progress *seen, const plim_cursor *cursor, uint64_t event)
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
        .moment = moment_of(&cursor->now, events, (int64_t)event),
    };
}

/*
 * A snapshot event names the active bytes of its moment. Where the size of every block is known
 * the sum must agree.
 */
static void check_snapshot(plim_walk *walk, const plim_cursor *cursor, uint64_t event)
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
static void take(plim_walk *walk, progress *seen, const plim_cursor *cursor)
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
static void fill_bin(plim_walk *walk, progress *seen, plim_cursor *cursor, size_t bin)
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

void plim_walk_events(plim_walk *walk, plim_cursor *cursor)
{
    progress seen = { .peak = cursor->now, .peak_event = -1 };
    for (size_t bin = 0; bin < walk->bin_count; bin++) {
        fill_bin(walk, &seen, cursor, bin);
    }
    PLIM_ASSERT(seen.oom_count == walk->oom_count);
    walk->peak = moment_of(&seen.peak, &cursor->timeline->device->events, seen.peak_event);
}
