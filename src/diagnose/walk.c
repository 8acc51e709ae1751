/*
 * walk.c - the loop over events, by bins of the timeline.
 */
#include "diagnose/walk.h"

#include "base/assert.h"
#include "diagnose/end_state.h"

plim_moment plim_moment_of(const plim_live_set *set, int64_t event)
{
    plim_moment moment = {
        .event = event,
        .time_us = event < 0 ? PLIM_TIME_UNKNOWN : set->device->events.time_us[event],
        .requested_bytes = plim_total_bytes(set->requested),
        .allocated_bytes = plim_total_bytes(set->allocated),
        .active_bytes = plim_total_bytes(set->allocated + set->pending),
        .reserved_bytes = plim_total_bytes(set->reserved),
        .live_count = set->live_count,
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
    plim_live_set peak; /* as it was then */
    int64_t peak_event;
    plim_total allocated_max, reserved_max; /* in this bin */
    size_t oom_count;
} progress;

static void note_oom(plim_walk *walk, progress *seen, const plim_live_set *set, uint64_t event)
{
    const plim_events *const events = &set->device->events;
    PLIM_ASSERT(seen->oom_count < walk->oom_count);
    walk->ooms[seen->oom_count++] = (plim_oom_moment){
        .event = event,
        .requested_bytes = events->size[event],
        .device_free_bytes = events->addr[event] != PLIM_SIZE_UNKNOWN ? events->addr[event] : 0,
        .has_device_free = events->addr[event] != PLIM_SIZE_UNKNOWN,
        .moment = plim_moment_of(set, (int64_t)event),
    };
}

/*
 * A snapshot event names the active bytes of its moment. Where the size of every block is known
 * the sum must agree; a block whose size is only the rounding rule's may be larger.
 */
static void check_snapshot(plim_walk *walk, const plim_live_set *set, uint64_t event)
{
    if (set->guessed_count == 0 &&
        plim_total_bytes(set->allocated + set->pending) != set->device->events.size[event]) {
        walk->snapshot_mismatches++;
    }
}

static void take(plim_walk *walk, progress *seen, plim_live_set *set, uint64_t event)
{
    const uint8_t action = set->device->events.action[event];
    plim_live_set_take(set, (uint32_t)event);
    if (set->requested > seen->peak.requested) {
        seen->peak = *set;
        seen->peak_event = (int64_t)event;
    }
    if (set->allocated > seen->allocated_max) {
        seen->allocated_max = set->allocated;
    }
    if (set->reserved > seen->reserved_max) {
        seen->reserved_max = set->reserved;
    }
    if (action == PLIM_OOM) {
        note_oom(walk, seen, set, event);
    } else if (action == PLIM_SNAPSHOT) {
        check_snapshot(walk, set, event);
    }
}

void plim_walk_events(plim_walk *walk, plim_live_set *set)
{
    const uint64_t count = set->device->events.count;
    progress seen = { .peak = *set,
                      .peak_event = -1,
                      .allocated_max = set->allocated,
                      .reserved_max = set->reserved };
    for (size_t bin = 0; bin < walk->bin_count; bin++) {
        const uint64_t first = bin * walk->bin_events;
        const uint64_t left = count - first;
        const uint64_t end = first + (left < walk->bin_events ? left : walk->bin_events);
        for (uint64_t event = first; event < end; event++) {
            take(walk, &seen, set, event);
        }
        walk->bins[bin] =
            (plim_timeline_bin){ .event_first = first,
                                 .allocated_bytes_max = plim_total_bytes(seen.allocated_max),
                                 .reserved_bytes_max = plim_total_bytes(seen.reserved_max) };
        seen.allocated_max = 0;
        seen.reserved_max = 0;
    }
    PLIM_ASSERT(seen.oom_count == walk->oom_count);
    walk->peak = plim_moment_of(&seen.peak, seen.peak_event);
}
