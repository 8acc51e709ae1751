/*
 * classify.h - from levels to a class.
 */
#ifndef PLIMSOLL_TREND_CLASSIFY_H
#define PLIMSOLL_TREND_CLASSIFY_H

#include "plimsoll/trend.h"
#include "trend/model.h"
#include "trend/parts.h"
#include "trend/sawtooth.h"
#include "trend/stairs.h"

#include <stdbool.h>

/* All that is worked on; about 150 KiB, whatever the length of the log. */
typedef struct plim_trend_work {
    size_t level_max;
    plim_trend_points points;
    plim_trend_levels levels;
    plim_trend_parts parts;
    plim_trend_parts plateaus;
    plim_trend_models models;
    plim_trend_stairs stairs;
    plim_trend_sawtooth sawtooth;
} plim_trend_work;

/* In the units of the levels: steps 0 … 1, values of the largest. */
typedef struct plim_trend_finding {
    plim_trend_class kind;
    double confidence;
    double growth;
    double growth_low;
    double growth_high;
    double onset;
    bool on_stairs;         /* the course is work->stairs, else it is: */
    plim_trend_model model; /* whose offset is right for all points, sawtooths included */
} plim_trend_finding;

/* Of a series of at least 8 points whose peaks are marked. */
void plim_trend_classify(plim_trend_work *work, plim_trend_finding *ret);

#endif
