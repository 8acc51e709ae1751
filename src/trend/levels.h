/*
 * levels.h - a series thinned to at most 512 levels, each with what is known of its noise.
 *
 * A level is the mean of neighbouring points that are no peaks. Everything that searches works
 * on levels, so that it may be quadratic in them.
 */
#ifndef PLIMSOLL_TREND_LEVELS_H
#define PLIMSOLL_TREND_LEVELS_H

#include "trend/points.h"

#define PLIM_TREND_LEVELS_MAX    512
#define PLIM_TREND_LEVELS_SCREEN 64 /* where many series are looked through */

typedef struct plim_trend_levels {
    size_t count;
    double at[PLIM_TREND_LEVELS_MAX];
    double value[PLIM_TREND_LEVELS_MAX];
    double size[PLIM_TREND_LEVELS_MAX];   /* points after it */
    double weight[PLIM_TREND_LEVELS_MAX]; /* 1 / variance */
    size_t first[PLIM_TREND_LEVELS_MAX];  /* its first point */
    bool noise_grows;                     /* noise is a share of the level, not so many bytes */
    double noise;                         /* standard deviation of an ordinary level */
} plim_trend_levels;

void plim_trend_levels_make(plim_trend_levels *levels, const plim_trend_points *points,
                            size_t count_max);

/* Sets the weights from the scatter of neighbouring levels; `room` takes 2 * count doubles. */
void plim_trend_levels_weigh(plim_trend_levels *levels, double quantum, double *room);

/* Leaves out levels [first, first + count). */
void plim_trend_levels_drop(plim_trend_levels *levels, size_t first, size_t count);

#endif
