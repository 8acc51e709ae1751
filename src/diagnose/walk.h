/*
 * walk.h - one walk over a device's events: the start, the peak, every oom, and the timeline.
 */
#ifndef PLIMSOLL_DIAGNOSE_WALK_H
#define PLIMSOLL_DIAGNOSE_WALK_H

#include "base/arena.h"
#include "history/timeline.h"
#include "plimsoll/inspect.h"

/* Where the walk puts what it finds. The caller makes room: oom_count is that of the events. */
typedef struct plim_walk {
    plim_moment peak;      /* without its groups */
    plim_oom_moment *ooms; /* likewise */
    size_t oom_count;
    plim_timeline_bin *bins; /* of equal runs of events; the last may be shorter */
    size_t bin_count;
    uint64_t bin_events; /* in each */
    uint64_t snapshot_mismatches;
} plim_walk;

/* How many events a bin has, and how many bins that makes. At least one, for the start. */
void plim_walk_plan_bins(plim_walk *walk, uint64_t event_count, uint32_t bins_max);

/* `cursor` is at the start; afterwards it is at the end. */
void plim_walk_events(plim_walk *walk, plim_cursor *cursor);

#endif
