/*
 * teeth.c - saws.
 *
 * Within a tooth memory climbs, and that is no growth. What counts is the floor: the valleys
 * after each drop or, steadier where all teeth are alike, the means of whole teeth.
 */
#include "trend/teeth.h"

#include <math.h>

#define DROP_CLIMB_SHARE_MIN 0.25 /* of the climb since the last drop */
#define DROP_NOISES_MIN      4.0
#define DROP_RANGE_SHARE_MIN 0.02 /* of all there is between the lowest and the highest part */
#define EXCURSION_MATCH      0.4  /* way there and back differ by no more than this share */
#define EXCURSION_LENGTH_MAX 0.5  /* of the longer neighbour */

static size_t length(const plim_trend_part *part)
{
    return part->end - part->begin;
}

size_t plim_trend_teeth_drop_excursions(plim_trend_levels *levels, const plim_trend_parts *parts)
{
    size_t dropped = 0;
    for (size_t i = parts->count; i-- > 2;) {
        const plim_trend_part *const part = &parts->items[i - 1];
        const double in = plim_trend_parts_jump(parts, i - 1);
        const double out = plim_trend_parts_jump(parts, i);
        const double height = fmax(fabs(in), fabs(out));
        const size_t beside =
            length(part - 1) > length(part + 1) ? length(part - 1) : length(part + 1);
        if (in * out < 0 && fabs(in + out) < EXCURSION_MATCH * height &&
            (double)length(part) <= EXCURSION_LENGTH_MAX * (double)beside) {
            plim_trend_levels_drop(levels, part->begin, length(part));
            dropped += length(part);
            i--; /* the part before stays, or nothing would be left to come back to */
        }
    }
    return dropped;
}

static void add(plim_trend_levels *levels, double at, double value)
{
    const size_t i = levels->count++;
    levels->at[i] = at;
    levels->value[i] = value;
    levels->size[i] = 1;
    levels->weight[i] = 1;
    levels->first[i] = 0;
}

/* The mean of levels [begin, end). */
static void add_mean(plim_trend_levels *means, const plim_trend_levels *levels, size_t begin,
                     size_t end)
{
    double at = 0;
    double value = 0;
    double size = 0;
    for (size_t i = begin; i < end; i++) {
        at += levels->size[i] * levels->at[i];
        value += levels->size[i] * levels->value[i];
        size += levels->size[i];
    }
    add(means, at / size, value / size);
}

void plim_trend_teeth_find(plim_trend_teeth *teeth, const plim_trend_levels *levels,
                           const plim_trend_parts *parts)
{
    teeth->drop_count = 0;
    teeth->height = 0;
    teeth->first = parts->items[0].left;
    teeth->valleys.count = 0;
    teeth->means.count = 0;
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < parts->count; i++) {
        low = fmin(low, fmin(parts->items[i].left, parts->items[i].right));
        high = fmax(high, fmax(parts->items[i].left, parts->items[i].right));
    }
    const double least = fmax(DROP_NOISES_MIN * levels->noise, DROP_RANGE_SHARE_MIN * (high - low));
    size_t begin = 0;
    double start = teeth->first;
    for (size_t i = 1; i < parts->count; i++) {
        const plim_trend_part *const part = &parts->items[i];
        const double drop = -plim_trend_parts_jump(parts, i);
        const double climb = part[-1].right - start;
        if (drop < least || drop < DROP_CLIMB_SHARE_MIN * climb) {
            continue;
        }
        if (teeth->drop_count > 0) {
            add_mean(&teeth->means, levels, begin, part->begin);
        }
        add(&teeth->valleys, levels->at[part->begin], part->left);
        teeth->height += drop;
        teeth->drop_count++;
        begin = part->begin;
        start = part->left;
    }
    teeth->height /= fmax((double)teeth->drop_count, 1);
}
