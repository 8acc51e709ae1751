/*
 * parts.h - the parts of a series between its changepoints, each level or straight.
 */
#ifndef PLIMSOLL_TREND_PARTS_H
#define PLIMSOLL_TREND_PARTS_H

#include "trend/levels.h"

#include <stdbool.h>

typedef struct plim_trend_part {
    size_t begin; /* levels [begin, end) */
    size_t end;
    bool is_level;
    double mean;
    double left;  /* of its line, at its first level, */
    double right; /* and at its last */
} plim_trend_part;

typedef struct plim_trend_parts {
    size_t count;
    plim_trend_part items[PLIM_TREND_LEVELS_MAX];
    double cost; /* weighted squares left over, and what the parts cost */
    double best[PLIM_TREND_LEVELS_MAX + 1]; /* while searching */
    size_t from[PLIM_TREND_LEVELS_MAX + 1];
    double sums[PLIM_TREND_LEVELS_MAX + 1][6];
} plim_trend_parts;

/* The penalty of a free parameter where models compete, in units of the noise's variance. */
double plim_trend_number_cost(size_t level_count);

/* The best set of changepoints. `only_level` admits no slopes. */
void plim_trend_parts_find(plim_trend_parts *parts, const plim_trend_levels *levels,
                           bool only_level);

/* By how much the series jumps between part i - 1 and part i. */
double plim_trend_parts_jump(const plim_trend_parts *parts, size_t i);

#endif
