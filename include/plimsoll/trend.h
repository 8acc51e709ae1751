/*
 * plimsoll/trend.h - how a figure moves over the steps of a run: flat, settling, in stairs, or
 * climbing for ever.
 *
 * A pure function of the points: no clock, no randomness. What each class means, and every
 * threshold, is argued in docs/design/series.md.
 */
#ifndef PLIMSOLL_TREND_H
#define PLIMSOLL_TREND_H

#include "plimsoll/mem.h"
#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>

PLIM_BEGIN_DECLS

/* Class and name; the names are those of the JSON documents. */
#define PLIM_TREND_LIST(X)                                                                   \
    X(PLIM_TREND_TOO_SHORT, "too_short") /* too few points to say anything */                \
    X(PLIM_TREND_FLAT, "flat")           /* no growth: noise, sawtooths, evaluation peaks */ \
    X(PLIM_TREND_RAMP, "ramp")           /* grew at first, and has settled */                \
    X(PLIM_TREND_STAIRCASE, "staircase") /* grows in steps, level between them */            \
    X(PLIM_TREND_LEAK, "leak")           /* grows for ever, perhaps only from some step on */

typedef enum plim_trend_class {
#define PLIM_TREND_ENUM(code, name) code,
    PLIM_TREND_LIST(PLIM_TREND_ENUM)
#undef PLIM_TREND_ENUM
} plim_trend_class;

typedef struct plim_trend {
    /* NOLINTNEXTLINE(readability-identifier-naming): C++ has a word of this name without the _ */
    plim_trend_class kind;
    double confidence; /* of the class, 0 … 1 */
    size_t point_count;
    double first_step; /* the smallest and the largest step there is */
    double last_step;
    double first_bytes; /* the level where the series begins and ends, without its noise */
    double last_bytes;
    double min_bytes; /* of the points themselves */
    double max_bytes;
    double noise_share; /* spread of the points around the level (1.4826 MAD) over the level */
    /* Growth at the end of the series, per step: 0 for flat and ramp. The 95% interval. */
    double growth_bytes_per_step;
    double growth_low_bytes_per_step;
    double growth_high_bytes_per_step;
    double onset_step;         /* leak: where growth began; ramp: where it settled; else first */
    size_t stair_count;        /* staircase: how many stairs, */
    double stair_bytes;        /* their median height, */
    double stair_period_steps; /* and the median distance of them; else 0 */
    bool has_exhaustion;       /* a capacity was given and growth will reach it */
    double exhaustion_step;    /* where the level plus its usual peaks meets the capacity */
} plim_trend;

/* The points of a series; borrowed for the call. */
typedef struct plim_trend_input {
    const double *steps; /* in any order and distance; NULL: 0, 1, 2, … */
    const double *bytes; /* points that are not finite are left out */
    size_t count;
    double capacity_bytes; /* of the device; 0: unknown */
} plim_trend_input;

/**
 * Find the trend of a series.
 *
 * mem       NULL is the heap; about 40 bytes a point while the call works
 * errors    PLIM_OUT_OF_HOST_MEMORY
 * threads   any
 */
PLIM_API PLIM_MUST_USE plim_status plim_trend_of(const plim_trend_input *input, const plim_mem *mem,
                                                 plim_trend *ret, plim_error *err);

/**
 * The same from fewer and longer means and without an end, in down to a tenth of the time: for
 * looking through many series, of which those that are not flat are then worth plim_trend_of().
 */
PLIM_API PLIM_MUST_USE plim_status plim_trend_screen(const plim_trend_input *input,
                                                     const plim_mem *mem, plim_trend *ret,
                                                     plim_error *err);

/** "flat", "leak", … */
PLIM_API const char *plim_trend_name(plim_trend_class kind);

PLIM_END_DECLS

#endif
