/*
 * sawtooth.h - saws: memory that climbs and is collected, again and again.
 */
#ifndef PLIMSOLL_TREND_SAWTOOTH_H
#define PLIMSOLL_TREND_SAWTOOTH_H

#include "trend/parts.h"

typedef struct plim_trend_sawtooth {
    size_t drop_count;
    double first;              /* where the series begins */
    double height;             /* of a drop, on average */
    plim_trend_levels valleys; /* where it fell to at each drop */
    plim_trend_levels means;   /* of each tooth between two drops */
} plim_trend_sawtooth;

/* Drops that undo a good part of the climb before them. */
void plim_trend_sawtooth_find(plim_trend_sawtooth *sawtooth, const plim_trend_levels *levels,
                              const plim_trend_parts *parts);

/*
 * Leaves out of `levels` the parts that the series soon comes back from: long evaluations, dips.
 * Returns the number of levels left out.
 */
size_t plim_trend_sawtooth_drop_excursions(plim_trend_levels *levels,
                                           const plim_trend_parts *parts);

#endif
