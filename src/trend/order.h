/*
 * order.h - sorting and order statistics, in memory that the caller has.
 */
#ifndef PLIMSOLL_TREND_ORDER_H
#define PLIMSOLL_TREND_ORDER_H

#include <stddef.h>

/* One figure of a log: where in the run, and how much. */
typedef struct plim_trend_point {
    double at;
    double value;
} plim_trend_point;

/* By place, then by value. `room` has space for as many points; n log n, at once if sorted. */
void plim_trend_sort(plim_trend_point *points, plim_trend_point *room, size_t count);

/* The item of rank `rank` (from 0), items reordered. `count` is not 0. */
double plim_trend_select(double *items, size_t count, size_t rank);

/* The lower median of items; 0 of none. */
double plim_trend_median(double *items, size_t count);

/* 1.4826 times the median of |item - center|: the standard deviation, if they are Gaussian. */
double plim_trend_spread(double *items, size_t count, double center);

#endif
