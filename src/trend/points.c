/*
 * points.c - the points of a log made fit for arithmetic.
 */
#include "trend/points.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* A printed unit is one only if it is small; stairs of a tenth of the memory are stairs. */
#define QUANTUM_SHARE_MAX 0.05
#define BYTES_UNIT_MIN    500.0
#define WHOLE_BYTE_SLACK  0.51 /* figures are rounded to whole bytes when they are read */

/* No series of bytes is that low: then it is in per cent. */
#define PERCENT_MAX      100.5
#define PERCENT_UNIT_MIN 0.005

double plim_trend_step_at(const plim_trend_points *points, double at)
{
    return points->first_step * (1 - at) + points->last_step * at;
}

static bool take(plim_trend_points *points, size_t count)
{
    points->capacity = count;
    points->items = plim_mem_alloc(points->mem, count, sizeof *points->items);
    points->room = plim_mem_alloc(points->mem, count, sizeof *points->room);
    points->is_peak = plim_mem_alloc_zeroed(points->mem, count, sizeof *points->is_peak);
    return points->items != NULL && points->room != NULL && points->is_peak != NULL;
}

void plim_trend_points_free(plim_trend_points *points)
{
    plim_mem_free(points->mem, points->items, points->capacity, sizeof *points->items);
    plim_mem_free(points->mem, points->room, points->capacity, sizeof *points->room);
    plim_mem_free(points->mem, points->is_peak, points->capacity, sizeof *points->is_peak);
    *points = (plim_trend_points){ .mem = points->mem };
}

/* A step that was printed twice counts once, with the median of what was printed. */
static void merge_equal_steps(plim_trend_points *points)
{
    size_t kept = 0;
    for (size_t i = 0, end = 0; i < points->count; i = end) {
        while (end < points->count && points->items[end].at <= points->items[i].at) {
            end++;
        }
        points->items[kept].at = points->items[i].at;
        const double low = points->items[i + (end - i - 1) / 2].value;
        const double high = points->items[i + (end - i) / 2].value;
        points->items[kept++].value = low + (high / 2 - low / 2);
    }
    points->count = kept;
}

static void normalize(plim_trend_points *points)
{
    const plim_trend_point *const items = points->items;
    points->first_step = items[0].at;
    points->last_step = items[points->count - 1].at;
    double largest = 0;
    for (size_t i = 0; i < points->count; i++) {
        largest = fmax(largest, fabs(items[i].value));
    }
    points->scale = largest > 0 ? largest : 1;
    /* Halves: the distance of two steps may overflow. */
    const double span = points->last_step / 2 - points->first_step / 2;
    const double first = points->first_step;
    for (size_t i = 0; i < points->count; i++) {
        points->items[i].at = span > 0 ? (items[i].at / 2 - first / 2) / span : 0;
        points->items[i].value = items[i].value / points->scale;
    }
}

/* True if each value is a whole number of units, give or take `slack`. */
static bool all_are_multiples(const plim_trend_points *points, double unit, double slack)
{
    for (size_t i = 0; i < points->count; i++) {
        const double bytes = points->items[i].value * points->scale;
        if (fabs(bytes - round(bytes / unit) * unit) > slack + fabs(bytes) * 1e-14) {
            return false;
        }
    }
    return true;
}

/* The largest unit like GB, 0.1 GiB or MiB of which all values are multiples; of per cent, 1 or
 * 0.1.
 */
static double printed_unit(const plim_trend_points *points, double level)
{
    static const double bases[] = {
        0x1p40, 1e12, 0x1p30, 1e9, 0x1p20, 1e6, 0x1p10, 1e3, 1,
    };
    const bool is_percent = points->scale <= PERCENT_MAX;
    const double least = is_percent ? PERCENT_UNIT_MIN : BYTES_UNIT_MIN;
    const double slack = is_percent ? PERCENT_UNIT_MIN / 10 : WHOLE_BYTE_SLACK;
    double best = 0;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        double unit = bases[i];
        for (int digits = 0; digits < 6 && unit > least && unit > best; digits++) {
            if (unit <= QUANTUM_SHARE_MAX * level && all_are_multiples(points, unit, slack)) {
                best = unit;
            }
            unit /= 10;
        }
    }
    return best;
}

bool plim_trend_points_read(plim_trend_points *points, const double *steps, const double *bytes,
                            size_t count, const plim_mem *mem)
{
    *points = (plim_trend_points){ .mem = plim_mem_or_heap(mem) };
    if (count == 0) {
        return true;
    }
    if (!take(points, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const double at = steps != NULL ? steps[i] : (double)i;
        if (isfinite(at) && isfinite(bytes[i])) {
            points->items[points->count++] = (plim_trend_point){ .at = at, .value = bytes[i] };
        }
    }
    points->read_count = points->count;
    if (points->count > 0) {
        points->min_bytes = points->max_bytes = points->items[0].value;
        for (size_t i = 1; i < points->count; i++) {
            points->min_bytes = fmin(points->min_bytes, points->items[i].value);
            points->max_bytes = fmax(points->max_bytes, points->items[i].value);
        }
        plim_trend_sort(points->items, points->room, points->count);
        merge_equal_steps(points);
        normalize(points);
        double *const room = &points->room[0].at;
        for (size_t i = 0; i < points->count; i++) {
            room[i] = fabs(points->items[i].value) * points->scale;
        }
        const double level = plim_trend_median(room, points->count);
        points->quantum = printed_unit(points, level) / points->scale;
    }
    return true;
}
