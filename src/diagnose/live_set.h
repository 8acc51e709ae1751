/*
 * live_set.h - what is live after each event, as running totals.
 *
 * Begins with what the start reconstruction found and takes one event at a time. Which event
 * ends which allocation is known beforehand (history/lifetimes.h), so that a step is a few
 * additions and looks nothing up: the lists of what is special (frees of what was there before,
 * blocks whose size is known, …) are sorted by event and each has a cursor.
 */
#ifndef PLIMSOLL_DIAGNOSE_LIVE_SET_H
#define PLIMSOLL_DIAGNOSE_LIVE_SET_H

#include "history/start.h"
#include "settings/rounding.h"

typedef struct plim_live_totals {
    plim_total requested; /* bytes of live allocations */
    plim_total allocated; /* bytes of their blocks */
    plim_total pending;   /* bytes of blocks whose free is requested and not completed */
    plim_total reserved;  /* bytes of segments */
    uint64_t live_count;
    uint64_t guessed_count; /* live or pending blocks whose size is only the rounding rule's */
} plim_live_totals;

typedef struct plim_live_set {
    plim_live_totals now; /* after the events taken so far */
    const plim_device_history *device;
    const plim_start *start;
    const plim_rounding *rounding;
    /* What comes next in each list: */
    size_t start_allocation, start_pending, displacement, known;
    size_t shortfalls_left; /* that list is backwards */
} plim_live_set;

/* All three are borrowed. The set is that of the start, before event 0. */
void plim_live_set_init(plim_live_set *set, const plim_device_history *device,
                        const plim_start *start, const plim_rounding *rounding);

/* Takes the next event; to be called for 0, 1, 2, … */
void plim_live_set_take(plim_live_set *set, uint32_t event);

#endif
