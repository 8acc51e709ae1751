/*
 * levels.c - a series thinned to levels.
 *
 * Noise is read off the scatter of each level around the line between its two neighbours: slopes
 * do not enter it at all, and stairs or drops only where they are.
 */
#include "trend/levels.h"

#include <math.h>
#include <string.h>

/* Finer differences than this share of the range are not worth an explanation. */
#define NOISE_FLOOR_SHARE 2e-4

void plim_trend_levels_make(plim_trend_levels *levels, const plim_trend_points *points,
                            size_t count_max)
{
    size_t kept = 0;
    for (size_t i = 0; i < points->count; i++) {
        kept += points->is_peak[i] == 0;
    }
    const size_t count = kept < count_max ? kept : count_max;
    levels->count = count;
    size_t seen = 0;
    size_t point = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t end = (i + 1) * kept / count;
        double at = 0;
        double value = 0;
        const double size = (double)(end - seen);
        levels->first[i] = point;
        for (; seen < end; point++) {
            if (points->is_peak[point] == 0) {
                at += points->items[point].at;
                value += points->items[point].value;
                seen++;
            }
        }
        levels->at[i] = at / size;
        levels->value[i] = value / size;
        levels->size[i] = size;
        levels->weight[i] = size;
    }
}

void plim_trend_levels_drop(plim_trend_levels *levels, size_t first, size_t count)
{
    const size_t behind = levels->count - first - count;
    double *const columns[] = { levels->at, levels->value, levels->size, levels->weight };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        memmove(columns[i] + first, columns[i] + first + count, behind * sizeof *columns[i]);
    }
    memmove(levels->first + first, levels->first + first + count, behind * sizeof *levels->first);
    levels->count -= count;
}

/* Deviation of level i from the line between its neighbours, as of one ordinary level. */
static double bend(const plim_trend_levels *levels, size_t i)
{
    const double share =
        (levels->at[i] - levels->at[i - 1]) / (levels->at[i + 1] - levels->at[i - 1]);
    const double line = levels->value[i - 1] * (1 - share) + levels->value[i + 1] * share;
    const double variance = 1 / levels->size[i] + (1 - share) * (1 - share) / levels->size[i - 1] +
                            share * share / levels->size[i + 1];
    return (levels->value[i] - line) / sqrt(variance);
}

/* The level around i without much of its noise: the median of up to 15. */
static double smooth_level(const plim_trend_levels *levels, size_t i)
{
    double near[15];
    const size_t reach = i < levels->count - 1 - i ? i : levels->count - 1 - i;
    const size_t half = reach < 7 ? reach : 7;
    memcpy(near, levels->value + i - half, (2 * half + 1) * sizeof *near);
    return fabs(plim_trend_median(near, 2 * half + 1));
}

/*
 * True if noise follows the level rather than staying the same: the series is split in stretches,
 * and the spread of each must vary less when it is divided by the stretch's level.
 */
static bool noise_follows_level(const plim_trend_levels *levels, double *room)
{
    const size_t stretches = levels->count / 16 < 16 ? levels->count / 16 : 16;
    if (stretches < 4) {
        return false;
    }
    double sums[2] = { 0, 0 };
    double squares[2] = { 0, 0 };
    for (size_t k = 0; k < stretches; k++) {
        const size_t begin = 1 + k * (levels->count - 2) / stretches;
        const size_t end = 1 + (k + 1) * (levels->count - 2) / stretches;
        for (size_t i = begin; i < end; i++) {
            room[i - begin] = bend(levels, i);
        }
        const double spread = plim_trend_spread(room, end - begin, 0);
        memcpy(room, levels->value + begin, (end - begin) * sizeof *room);
        const double level = plim_trend_median(room, end - begin);
        if (!(spread > 0) || !(level > 0)) {
            return false;
        }
        const double logs[2] = { log(spread), log(spread / level) };
        for (int law = 0; law < 2; law++) {
            sums[law] += logs[law];
            squares[law] += logs[law] * logs[law];
        }
    }
    const double n = (double)stretches;
    return squares[1] - sums[1] * sums[1] / n < squares[0] - sums[0] * sums[0] / n;
}

void plim_trend_levels_weigh(plim_trend_levels *levels, double quantum, double *room)
{
    const size_t count = levels->count;
    levels->noise_grows = count >= 3 && noise_follows_level(levels, room);
    double low = count > 0 ? levels->value[0] : 0;
    double high = low;
    double size = 0;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, levels->value[i]);
        high = fmax(high, levels->value[i]);
        size += levels->size[i];
        levels->weight[i] = levels->noise_grows ? fmax(smooth_level(levels, i), 1e-9) : 1;
    }
    size_t bends = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        room[bends++] = bend(levels, i) / levels->weight[i];
    }
    const double spread = plim_trend_spread(room, bends, 0);
    memcpy(room, levels->weight, count * sizeof *room);
    const double usual = fmax(plim_trend_median(room, count), 1e-9);
    const double usual_size = count > 0 ? size / (double)count : 1;
    const double floor = fmax(fmax((high - low) * NOISE_FLOOR_SHARE, 0.3 * quantum), 1e-13) / usual;
    /* Of a level of the usual size, as a share of `usual` where noise grows. */
    const double deviation = fmax(spread / sqrt(usual_size), floor);
    levels->noise = deviation * usual;
    for (size_t i = 0; i < count; i++) {
        const double own = deviation * levels->weight[i];
        levels->weight[i] = levels->size[i] / usual_size / (own * own);
    }
}
