/*
 * peaks.c - finding evaluation peaks and outliers.
 *
 * Against the median of the neighbours, a point that is much further off than such points are is
 * a candidate. It is a peak if the way there and the way back are both sudden: the tip of a saw
 * tooth is as far off, but the tooth climbs to it, and a stair does not come back.
 */
#include "trend/points.h"

#include <math.h>
#include <string.h>

#define HALF_WINDOW_MAX 25
#define SPREADS_OFF     5.0 /* of Gaussian noise, one point in two million goes so far */
#define SUDDEN_SHARE    0.5 /* of the height, in one step */

typedef struct window {
    double sorted[2 * HALF_WINDOW_MAX + 1];
    size_t count;
} window;

static size_t place_in(const window *sorted, double value)
{
    size_t low = 0;
    size_t high = sorted->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted->sorted[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void window_add(window *sorted, double value)
{
    const size_t at = place_in(sorted, value);
    double *const place = &sorted->sorted[at];
    memmove(place + 1, place, (sorted->count - at) * sizeof *place);
    *place = value;
    sorted->count++;
}

static void window_remove(window *sorted, double value)
{
    double *const place = &sorted->sorted[place_in(sorted, value)];
    sorted->count--;
    memmove(place, place + 1, (sorted->count - (size_t)(place - sorted->sorted)) * sizeof *place);
}

/*
 * offsets[i] = value less the median of the neighbours. Windows shrink towards the ends, so that
 * they stay in balance: a slope is no offset.
 */
static void offsets_from_neighbours(const plim_trend_points *points, size_t half, double *offsets)
{
    const plim_trend_point *const items = points->items;
    const size_t count = points->count;
    window sorted = { .count = 0 };
    size_t low = 0;
    size_t high = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t reach = i < count - 1 - i ? i : count - 1 - i;
        const size_t width = reach < half ? reach : half;
        while (low < i - width) {
            window_remove(&sorted, items[low++].value);
        }
        while (high < i + width + 1) {
            window_add(&sorted, items[high++].value);
        }
        offsets[i] = items[i].value - sorted.sorted[sorted.count / 2];
    }
}

/* The nearest point at most 3 before (step -1) or after `from` that is not far off; else NULL. */
static const plim_trend_point *ordinary_neighbour(const plim_trend_points *points,
                                                  const double *offsets, double limit, size_t from,
                                                  int step)
{
    for (int i = 1; i <= 3; i++) {
        const size_t at = step < 0 ? from - (size_t)i : from + (size_t)i;
        if (at >= points->count) { /* before the first too: it wraps */
            return NULL;
        }
        if (fabs(offsets[at]) <= limit) {
            return &points->items[at];
        }
    }
    return NULL;
}

/* True if the points first … last, all off to one side, are left as suddenly as they come. */
static bool is_sudden(const plim_trend_points *points, const double *offsets, double limit,
                      size_t first, size_t last)
{
    if (first == 0 || last + 1 >= points->count) {
        return false;
    }
    double height = 0;
    for (size_t i = first; i <= last; i++) {
        height = fmax(height, fabs(offsets[i]));
    }
    const plim_trend_point *const items = points->items;
    const plim_trend_point *const before = ordinary_neighbour(points, offsets, limit, first, -1);
    const plim_trend_point *const behind = ordinary_neighbour(points, offsets, limit, last, 1);
    const double side = offsets[first] > 0 ? 1 : -1;
    const double in =
        side * (items[first].value - (before != NULL ? before : &items[first - 1])->value);
    const double out =
        side * (items[last].value - (behind != NULL ? behind : &items[last + 1])->value);
    if (!(fmin(in, out) > SUDDEN_SHARE * height)) {
        return false;
    }
    /* Next to a peak a level comes and goes suddenly too, but is not itself so far off. */
    return (before != NULL && behind != NULL) || height > SUDDEN_SHARE * fmax(in, out);
}

void plim_trend_points_mark_peaks(plim_trend_points *points)
{
    if (points->count < 8) {
        return;
    }
    const size_t sixth = (points->count - 1) / 6;
    const size_t half = sixth < 2 ? 2 : sixth > HALF_WINDOW_MAX ? HALF_WINDOW_MAX : sixth;
    double *const offsets = &points->room[0].at;
    double *const room = offsets + points->count;
    offsets_from_neighbours(points, half, offsets);
    memcpy(room, offsets, points->count * sizeof *room);
    const double spread = plim_trend_spread(room, points->count, 0);
    const double limit = fmax(SPREADS_OFF * spread, fmax(1.6 * points->quantum, 1e-9));
    for (size_t i = 0, end = 0; i < points->count; i = end) {
        end = i + 1;
        if (fabs(offsets[i]) <= limit) {
            continue;
        }
        while (end < points->count && fabs(offsets[end]) > limit &&
               (offsets[end] > 0) == (offsets[i] > 0)) {
            end++;
        }
        if (is_sudden(points, offsets, limit, i, end - 1)) {
            memset(&points->is_peak[i], 1, end - i);
        }
    }
}
