/*
 * parts.c - the parts of a series between its changepoints.
 *
 * Of all sets of changepoints, the one whose squared deviations plus the penalty of its numbers are
 * least, by dynamic programming over the end of the last part (Jackson et al. 2005, "An
 * algorithm for optimal partitioning of data on an interval"): quadratic in the levels, of
 * which there are few. Sums up to each level give the deviations of any stretch at once.
 */
#include "trend/parts.h"

#include <math.h>
#include <string.h>

/*
 * ln m is the usual penalty (BIC); half as much again, because places of changepoints are searched
 * for, and at least what keeps 50 levels of plain noise whole.
 */
double plim_trend_number_cost(size_t level_count)
{
    return fmax(6, 1.5 * log((double)level_count + 1));
}

enum { SUM_W, SUM_X, SUM_Y, SUM_XX, SUM_XY, SUM_YY, SUM_COUNT };

static void add_up(plim_trend_parts *parts, const plim_trend_levels *levels)
{
    /* Around the first value and the middle, so that little is lost when sums are subtracted. */
    const double offset = levels->count > 0 ? levels->value[levels->count / 2] : 0;
    memset(parts->sums[0], 0, sizeof parts->sums[0]);
    for (size_t i = 0; i < levels->count; i++) {
        const double w = levels->weight[i];
        const double x = levels->at[i] - 0.5;
        const double y = levels->value[i] - offset;
        const double terms[SUM_COUNT] = { w, w * x, w * y, w * x * x, w * x * y, w * y * y };
        for (int k = 0; k < SUM_COUNT; k++) {
            parts->sums[i + 1][k] = parts->sums[i][k] + terms[k];
        }
    }
}

/* Deviations from the mean, and from the straight line, of levels [begin, end). */
static void deviations(const plim_trend_parts *parts, size_t begin, size_t end, double *ret_level,
                       double *ret_line)
{
    const double *const a = parts->sums[begin];
    const double *const b = parts->sums[end];
    const double w = b[SUM_W] - a[SUM_W];
    const double x = b[SUM_X] - a[SUM_X];
    const double y = b[SUM_Y] - a[SUM_Y];
    const double xx = b[SUM_XX] - a[SUM_XX] - x * x / w;
    const double xy = b[SUM_XY] - a[SUM_XY] - x * y / w;
    const double yy = fmax(b[SUM_YY] - a[SUM_YY] - y * y / w, 0);
    *ret_level = yy;
    *ret_line = xx > 0 ? fmax(yy - xy * xy / xx, 0) : yy;
}

static void describe(plim_trend_part *part, const plim_trend_levels *levels)
{
    double w = 0;
    double x = 0;
    double y = 0;
    for (size_t i = part->begin; i < part->end; i++) {
        w += levels->weight[i];
        x += levels->weight[i] * levels->at[i];
        y += levels->weight[i] * levels->value[i];
    }
    x /= w;
    part->mean = y / w;
    double xx = 0;
    double xy = 0;
    for (size_t i = part->begin; i < part->end; i++) {
        const double off = levels->at[i] - x;
        xx += levels->weight[i] * off * off;
        xy += levels->weight[i] * off * (levels->value[i] - part->mean);
    }
    const double slope = part->is_level || !(xx > 0) ? 0 : xy / xx;
    part->left = part->mean + slope * (levels->at[part->begin] - x);
    part->right = part->mean + slope * (levels->at[part->end - 1] - x);
}

void plim_trend_parts_find(plim_trend_parts *parts, const plim_trend_levels *levels,
                           bool only_level)
{
    const size_t count = levels->count;
    const double penalty = plim_trend_number_cost(count);
    add_up(parts, levels);
    parts->best[0] = 0;
    for (size_t end = 1; end <= count; end++) {
        parts->best[end] = INFINITY;
        for (size_t begin = 0; begin < end; begin++) {
            double level = 0;
            double line = 0;
            deviations(parts, begin, end, &level, &line);
            /* A place and one or two numbers; a line through two levels explains nothing. */
            double cost = level + 2 * penalty;
            if (!only_level && end - begin > 2) {
                cost = fmin(cost, line + 3 * penalty);
            }
            cost += parts->best[begin];
            if (cost < parts->best[end]) {
                parts->best[end] = cost;
                parts->from[end] = begin;
            }
        }
    }
    parts->cost = parts->best[count];
    parts->count = 0;
    for (size_t end = count; end > 0; end = parts->from[end]) {
        parts->count++;
    }
    size_t i = parts->count;
    for (size_t end = count; end > 0; end = parts->from[end]) {
        plim_trend_part *const part = &parts->items[--i];
        *part = (plim_trend_part){ .begin = parts->from[end], .end = end };
        double level = 0;
        double line = 0;
        deviations(parts, part->begin, end, &level, &line);
        part->is_level = only_level || end - part->begin <= 2 || level <= line + penalty;
        describe(part, levels);
    }
}

double plim_trend_parts_jump(const plim_trend_parts *parts, size_t i)
{
    const plim_trend_part *const before = &parts->items[i - 1];
    const plim_trend_part *const after = &parts->items[i];
    return after->left - before->right;
}
