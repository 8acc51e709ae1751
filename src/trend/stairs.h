/*
 * stairs.h - plateaus and stairs.
 */
#ifndef PLIMSOLL_TREND_STAIRS_H
#define PLIMSOLL_TREND_STAIRS_H

#include "trend/model.h"
#include "trend/parts.h"

#include <stdbool.h>

typedef struct plim_trend_stairs {
    bool are_stairs; /* levels are explained by plateaus, and stairs only go up */
    bool settled;    /* and the last plateau is so long that no stair is to be expected */
    size_t stair_count;
    double at[PLIM_TREND_LEVELS_MAX];          /* of each stair */
    double plateau[PLIM_TREND_LEVELS_MAX + 1]; /* before the first stair, and after each */
    double height;                             /* median */
    double period;                             /* median distance; 0 of a single stair */
    double growth;
    double growth_error;
    double freedom;
    double rss;     /* residual sum of squares, weighted */
    double penalty; /* of its numbers */
} plim_trend_stairs;

/*
 * parts   of the levels as they are; plateaus: of only levels
 * models  fitted to the same levels
 * quantum the printed unit: stairs of one unit are how a slope is printed
 */
void plim_trend_stairs_find(plim_trend_stairs *stairs, const plim_trend_levels *levels,
                            const plim_trend_parts *parts, const plim_trend_parts *plateaus,
                            const plim_trend_models *models, double quantum);

/* The plateau that `at` lies on. */
double plim_trend_stairs_at(const plim_trend_stairs *stairs, double at);

#endif
