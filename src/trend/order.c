/*
 * order.c - sorting and order statistics, in memory that the caller has.
 *
 * qsort() of the C library allocates memory whose failure no test can inject, and may be quadratic;
 * these do neither. Sorting merges runs bottom up. Selecting is Hoare's, with the median of three
 * as pivot; should that choose badly time and again, what is left is heap-sorted.
 */
#include "trend/order.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* --- sorting points --- */

static bool comes_first(const plim_trend_point *a, const plim_trend_point *b)
{
    return a->at < b->at || (a->at <= b->at && a->value <= b->value);
}

static void merge(const plim_trend_point *from, size_t middle, size_t count, plim_trend_point *to)
{
    size_t left = 0;
    size_t right = middle;
    for (size_t i = 0; i < count; i++) {
        const bool take_left =
            right >= count || (left < middle && comes_first(&from[left], &from[right]));
        to[i] = from[take_left ? left++ : right++];
    }
}

void plim_trend_sort(plim_trend_point *points, plim_trend_point *room, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && comes_first(&points[sorted - 1], &points[sorted])) {
        sorted++;
    }
    if (sorted >= count) {
        return;
    }
    plim_trend_point *from = points;
    plim_trend_point *to = room;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            const size_t left = count - i;
            const size_t both = left < 2 * width ? left : 2 * width;
            merge(from + i, both < width ? both : width, both, to + i);
        }
        plim_trend_point *const turned = from;
        from = to;
        to = turned;
    }
    if (from != points) {
        memcpy(points, from, count * sizeof *points);
    }
}

/* --- selecting --- */

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(double *items, size_t at, size_t count)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) {
            return;
        }
        if (child + 1 < count && items[child + 1] > items[child]) {
            child++;
        }
        if (items[child] <= items[at]) {
            return;
        }
        swap(&items[child], &items[at]);
        at = child;
    }
}

static void heap_sort(double *items, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) {
        sift_down(items, i, count);
    }
    for (size_t end = count; end-- > 1;) {
        swap(&items[0], &items[end]);
        sift_down(items, 0, end);
    }
}

static double median_of_three(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

double plim_trend_select(double *items, size_t count, size_t rank)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = (ptrdiff_t)count - 1;
    const ptrdiff_t wanted = (ptrdiff_t)rank;
    size_t rounds = 8;
    for (size_t n = count; n > 1; n /= 2) {
        rounds += 2;
    }
    for (; low < high; rounds--) {
        if (rounds == 0) {
            heap_sort(items + low, (size_t)(high - low) + 1);
            break;
        }
        const double pivot =
            median_of_three(items[low], items[low + (high - low) / 2], items[high]);
        ptrdiff_t i = low;
        ptrdiff_t j = high;
        while (i <= j) {
            while (items[i] < pivot) {
                i++;
            }
            while (items[j] > pivot) {
                j--;
            }
            if (i <= j) {
                swap(&items[i++], &items[j--]);
            }
        }
        /* Up to j nothing is above the pivot, from i on nothing below it, between them it is. */
        low = j < wanted ? i : low;
        high = wanted < i ? j : high;
    }
    return items[rank];
}

double plim_trend_median(double *items, size_t count)
{
    return count == 0 ? 0 : plim_trend_select(items, count, (count - 1) / 2);
}

double plim_trend_spread(double *items, size_t count, double center)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = fabs(items[i] - center);
    }
    return 1.4826 * plim_trend_median(items, count);
}
