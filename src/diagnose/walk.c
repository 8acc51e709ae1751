/*
 * walk.c - the loop over events, by bins of the timeline.
 */
#include "diagnose/walk.h"

#include "base/assert.h"
#include "diagnose/end_state.h"

static plim_moment moment_of(const plim_live_totals *totals, const plim_events *events,
                             int64_t event)
{
    plim_moment moment = {
        .event = event,
        .time_us = event < 0 ? PLIM_TIME_UNKNOWN : events->time_us[event],
        .requested_bytes = plim_total_bytes(totals->requested),
        .allocated_bytes = plim_total_bytes(totals->allocated),
        .active_bytes = plim_total_bytes(totals->allocated + totals->pending),
        .reserved_bytes = plim_total_bytes(totals->reserved),
        .live_count = totals->live_count,
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

/* What the walk has seen so far, beside the set itself. */
typedef struct progress {
    plim_live_totals peak; /* as they were then */
    int64_t peak_event;
    plim_total allocated_max, reserved_max; /* in this bin */
    size_t oom_count;
} progress;

static void note_oom(plim_walk *walk, progress *seen, const plim_live_set *set, uint64_t event)
{
    const plim_events *const events = &set->device->events;
    const uint64_t free_bytes = events->addr[event];
    const bool has_free = free_bytes != PLIM_SIZE_UNKNOWN;
    PLIM_ASSERT(seen->oom_count < walk->oom_count);
    walk->ooms[seen->oom_count++] = (plim_oom_moment){
        .event = event,
        .requested_bytes = events->bytes[event],
        .stack = events->stack[event],
        .device_free_bytes = has_free ? free_bytes : 0,
        .has_device_free = has_free,
        .moment = moment_of(&set->now, events, (int64_t)event),
    };
}

/*
 * A snapshot event names the active bytes of its moment. Where the size of every block is known
 * the sum must agree; a block whose size is only the rounding rule's may be larger.
 */
static void check_snapshot(plim_walk *walk, const plim_live_set *set, uint64_t event)
{
    if (set->now.guessed_count == 0 && plim_total_bytes(set->now.allocated + set->now.pending) !=
                                           set->device->events.bytes[event]) {
        walk->snapshot_mismatches++;
    }
}

static void raise_bin(progress *seen, const plim_live_totals *now)
{
    seen->allocated_max =
        now->allocated > seen->allocated_max ? now->allocated : seen->allocated_max;
    seen->reserved_max = now->reserved > seen->reserved_max ? now->reserved : seen->reserved_max;
}

/* Only an alloc makes more live and only segments make more reserved: the rest is not asked. */
static void take(plim_walk *walk, progress *seen, plim_live_set *set, uint64_t event)
{
    plim_live_set_take(set, (uint32_t)event);
    switch (set->device->events.action[event]) {
    case PLIM_ALLOC:
        if (set->now.requested > seen->peak.requested) {
            seen->peak = set->now;
            seen->peak_event = (int64_t)event;
        }
        raise_bin(seen, &set->now);
        break;
    case PLIM_SEGMENT_ALLOC:
    case PLIM_SEGMENT_MAP:
        raise_bin(seen, &set->now);
        break;
    case PLIM_OOM:
        note_oom(walk, seen, set, event);
        break;
    case PLIM_SNAPSHOT:
        check_snapshot(walk, set, event);
        break;
    default:
        break;
    }
}

/* One column of the timeline; the first also shows the start. */
static void fill_bin(plim_walk *walk, progress *seen, plim_live_set *set, size_t bin)
{
    const uint64_t first = bin * walk->bin_events;
    const uint64_t left = set->device->events.count - first;
    const uint64_t end = first + (left < walk->bin_events ? left : walk->bin_events);
    seen->allocated_max = bin == 0 ? set->now.allocated : 0;
    seen->reserved_max = bin == 0 ? set->now.reserved : 0;
    for (uint64_t event = first; event < end; event++) {
        take(walk, seen, set, event);
        if (event == first) {
            raise_bin(seen, &set->now);
        }
    }
    walk->bins[bin] =
        (plim_timeline_bin){ .event_first = first,
                             .allocated_bytes_max = plim_total_bytes(seen->allocated_max),
                             .reserved_bytes_max = plim_total_bytes(seen->reserved_max) };
}

void plim_walk_events(plim_walk *walk, plim_live_set *set)
{
    progress seen = { .peak = set->now, .peak_event = -1 };
    for (size_t bin = 0; bin < walk->bin_count; bin++) {
        fill_bin(walk, &seen, set, bin);
    }
    PLIM_ASSERT(seen.oom_count == walk->oom_count);
    walk->peak = moment_of(&seen.peak, &set->device->events, seen.peak_event);
}
