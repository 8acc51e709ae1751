/*
 * candidates_rounding.c - roundup_power2_divisions, from the sizes of a trace.
 *
 * Rounding costs bytes and makes sizes alike, so that a block that one tensor left fits the next.
 * That helps where a trace has many sizes: sequences of all lengths, images of all shapes. So it
 * is tried everywhere, and for the intervals that have many sizes, each alone and all of them.
 */
#include "replay/candidates.h"

#include "base/error.h"

#define SIZES_MANY     12   /* in an interval: more than 8 divisions would leave */
#define TRAFFIC_MIN    0.02 /* of all bytes: less moves no peak */
#define INTERVALS_MAX  3    /* that are tried alone */
#define DIVISIONS_FEW  4
#define DIVISIONS_MANY 8

static const uint64_t everywhere[] = { 2, 4, 8, 16 };

/* Only what rounds any request of the trace. */
static plim_status add(plim_candidates *candidates, const plim_settings *settings, plim_error *err)
{
    return plim_replay_has_rounding(candidates->replay, settings)
               ? plim_candidates_add(candidates, settings, err)
               : PLIM_OK;
}

static plim_status add_mask(plim_candidates *candidates, uint32_t intervals, uint64_t divisions,
                            plim_error *err)
{
    plim_settings settings = candidates->base;
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        settings.roundup_power2_divisions[i] = (intervals >> i & 1) != 0 ? divisions : 0;
    }
    return add(candidates, &settings, err);
}

/* The one with most traffic, of those in `intervals`. */
static size_t busiest(const plim_trace_sizes *sizes, uint32_t intervals)
{
    size_t best = PLIM_ROUNDUP_INTERVALS;
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        if ((intervals >> i & 1) != 0 && (best == PLIM_ROUNDUP_INTERVALS ||
                                          sizes->interval_bytes[i] > sizes->interval_bytes[best])) {
            best = i;
        }
    }
    return best;
}

plim_status plim_candidates_add_roundings(plim_candidates *candidates, plim_error *err)
{
    const uint32_t all = ((uint32_t)1 << PLIM_ROUNDUP_INTERVALS) - 1;
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++) {
        PLIM_TRY(add_mask(candidates, all, everywhere[i], err));
    }
    const plim_trace_sizes *const sizes = &candidates->sizes;
    uint32_t intervals = 0;
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        const bool is_busy =
            (double)sizes->interval_bytes[i] >= TRAFFIC_MIN * (double)sizes->total_bytes;
        intervals |= (uint32_t)(is_busy && sizes->interval_sizes[i] >= SIZES_MANY) << i;
    }
    if (intervals == 0) {
        return PLIM_OK;
    }
    PLIM_TRY(add_mask(candidates, intervals, DIVISIONS_MANY, err));
    PLIM_TRY(add_mask(candidates, intervals, DIVISIONS_FEW, err));
    for (size_t i = 0; i < INTERVALS_MAX && intervals != 0; i++) {
        const size_t interval = busiest(sizes, intervals);
        PLIM_TRY(add_mask(candidates, (uint32_t)1 << interval, DIVISIONS_FEW, err));
        intervals &= ~((uint32_t)1 << interval);
    }
    return PLIM_OK;
}
