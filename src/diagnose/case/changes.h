/*
 * changes.h - what an event begins and ends, for walks that keep sums of what is live.
 */
#ifndef PLIMSOLL_DIAGNOSE_CASE_CHANGES_H
#define PLIMSOLL_DIAGNOSE_CASE_CHANGES_H

#include "history/timeline.h"

/* Ids of the timeline, or PLIM_NO_ALLOCATION. An alloc may end what was at its address. */
typedef struct plim_live_change {
    uint64_t begun;
    uint64_t begun_bytes; /* requested */
    uint64_t ended;
    uint64_t ended_bytes;
} plim_live_change;

/* Constant time but for events that contradict others. */
plim_live_change plim_live_change_of(const plim_timeline *timeline, uint64_t event);

/* The event that begins an allocation, or PLIM_AT_START. */
static inline int64_t plim_live_change_born(const plim_timeline *timeline, uint64_t id)
{
    const uint64_t first = plim_timeline_recorded_id(timeline, 0);
    return id >= first ? (int64_t)(id - first) : PLIM_AT_START;
}

#endif
