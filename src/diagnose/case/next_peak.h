/*
 * next_peak.h - the highest moment without what some code makes for a short while.
 */
#ifndef PLIMSOLL_DIAGNOSE_CASE_NEXT_PEAK_H
#define PLIMSOLL_DIAGNOSE_CASE_NEXT_PEAK_H

#include "base/map.h"
#include "diagnose/case/case.h"

/* Code whose short allocations are of a burst. */
typedef struct plim_makers {
    plim_map keys;    /* plim_maker_of() → 1; the caller's */
    uint64_t longest; /* life of what is of the burst, in events */
} plim_makers;

/* The maker of a request: its stack, or without one its size. */
uint64_t plim_maker_of(const plim_events *events, uint64_t event);

/* True if an alloc ends within so many events. */
bool plim_lives_short(const plim_case *one, uint64_t event, uint64_t longest);

/* The highest moment that has nothing of the burst: requested bytes, 0 without one, and
 * the event. Linear in events. */
uint64_t plim_next_peak(const plim_case *one, const plim_makers *makers, int64_t *ret_event);

#endif
