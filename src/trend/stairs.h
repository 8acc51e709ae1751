/*
 * stairs.h - treads and risers.
 */
#ifndef PLIMSOLL_TREND_STAIRS_H
#define PLIMSOLL_TREND_STAIRS_H

#include "trend/model.h"
#include "trend/parts.h"

#include <stdbool.h>

typedef struct plim_trend_stairs {
    bool are_stairs; /* levels are explained by treads, and risers only go up */
    bool settled;    /* and the last tread is so long that no riser is to be expected */
    size_t riser_count;
    double at[PLIM_TREND_LEVELS_MAX];        /* of each riser */
    double tread[PLIM_TREND_LEVELS_MAX + 1]; /* before the first riser, and behind each */
    double height;                           /* median */
    double period;                           /* median distance; 0 of a single riser */
    double growth;
    double growth_error;
    double freedom;
    double squares; /* weighted, left over */
    double price;   /* of its numbers */
} plim_trend_stairs;

/*
 * parts   of the levels as they are; treads: of only levels
 * models  fitted to the same levels
 * quantum the printed unit: risers of one unit are how a slope is printed
 */
void plim_trend_stairs_find(plim_trend_stairs *stairs, const plim_trend_levels *levels,
                            const plim_trend_parts *parts, const plim_trend_parts *treads,
                            const plim_trend_models *models, double quantum);

/* The tread that `at` lies on. */
double plim_trend_stairs_at(const plim_trend_stairs *stairs, double at);

#endif
