/*
 * points.h - the points of a log made fit for arithmetic.
 *
 * In order of their steps, one point a step, steps mapped to 0 … 1 and bytes divided by the
 * largest of them, so that nothing after this file can overflow or depends on units. Peaks
 * (evaluations, outliers) are marked, not removed.
 */
#ifndef PLIMSOLL_TREND_POINTS_H
#define PLIMSOLL_TREND_POINTS_H

#include "plimsoll/mem.h"
#include "trend/order.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_trend_points {
    const plim_mem *mem;
    plim_trend_point *items; /* at 0 … 1, value -1 … 1 */
    plim_trend_point *room;  /* for sorting; afterwards for doubles, two a point */
    uint8_t *is_peak;
    size_t count;
    size_t capacity;
    size_t read_count; /* points given that were finite */
    double first_step; /* of at 0 */
    double last_step;  /* of at 1 */
    double scale;      /* bytes of value 1 */
    double min_bytes;  /* of the points as they were given */
    double max_bytes;
    double quantum; /* the unit in which the log was printed, in values; 0: none to be seen */
} plim_trend_points;

/* False when there is no memory; free in either case. */
bool plim_trend_points_read(plim_trend_points *points, const double *steps, const double *bytes,
                            size_t count, const plim_mem *mem);
void plim_trend_points_free(plim_trend_points *points);

/* Step of a place 0 … 1. */
double plim_trend_step_at(const plim_trend_points *points, double at);

/* Marks short excursions: up and back, or down and back, further than noise goes (peaks.c). */
void plim_trend_points_mark_peaks(plim_trend_points *points);

#endif
