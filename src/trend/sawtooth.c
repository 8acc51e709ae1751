/*
 * sawtooth.c - saws.
 *
 * Within a tooth memory climbs, and that is no growth. What counts is the floor: the valleys
 * after each drop or, steadier where all teeth are alike, the means of whole teeth.
 */
#include "trend/sawtooth.h"

#include <math.h>
#include <stdbool.h>

#define DROP_CLIMB_SHARE_MIN 0.25 /* all drops, of all climbs */
#define DROP_NOISES_MIN      4.0
#define DROP_RANGE_SHARE_MIN 0.02 /* of all there is between the lowest and the highest part */
#define EXCURSION_MATCH      0.4  /* of its height, by which the series may have moved meanwhile */
#define EXCURSION_LENGTH_MAX 0.7  /* of the longer neighbour */
#define EXCURSION_PARTS_MAX  3

static size_t length(const plim_trend_part *part)
{
    return part->end - part->begin;
}

/*
 * True if the series is, after parts [begin, end), about where it was before them, and they are
 * short.
 */
static bool is_excursion(const plim_trend_parts *parts, size_t begin, size_t end)
{
    const plim_trend_part *const before = &parts->items[begin - 1];
    const plim_trend_part *const behind = &parts->items[end];
    double height = 0;
    for (size_t i = begin; i < end; i++) {
        height = fmax(height, fabs(parts->items[i].mean - before->right));
    }
    const size_t beside = length(before) > length(behind) ? length(before) : length(behind);
    return fabs(behind->left - before->right) < EXCURSION_MATCH * height &&
           (double)(behind->begin - before->end) <= EXCURSION_LENGTH_MAX * (double)beside;
}

size_t plim_trend_sawtooth_drop_excursions(plim_trend_levels *levels, const plim_trend_parts *parts)
{
    size_t dropped = 0;
    for (size_t end = parts->count; end-- > 2;) {
        size_t begin = end - 1;
        while (begin > 1 && begin + EXCURSION_PARTS_MAX > end && !is_excursion(parts, begin, end)) {
            begin--;
        }
        if (is_excursion(parts, begin, end)) {
            const size_t first = parts->items[begin].begin;
            const size_t count = parts->items[end].begin - first;
            plim_trend_levels_drop(levels, first, count);
            dropped += count;
            end = begin; /* the part before stays, or nothing would be left to come back to */
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

void plim_trend_sawtooth_find(plim_trend_sawtooth *sawtooth, const plim_trend_levels *levels,
                              const plim_trend_parts *parts)
{
    sawtooth->drop_count = 0;
    sawtooth->height = 0;
    sawtooth->first = parts->items[0].left;
    sawtooth->valleys.count = 0;
    sawtooth->means.count = 0;
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < parts->count; i++) {
        low = fmin(low, fmin(parts->items[i].left, parts->items[i].right));
        high = fmax(high, fmax(parts->items[i].left, parts->items[i].right));
    }
    const double least = fmax(DROP_NOISES_MIN * levels->noise, DROP_RANGE_SHARE_MIN * (high - low));
    size_t begin = 0;
    double top = parts->items[0].right;
    double climbs = top - sawtooth->first;
    for (size_t i = 1; i < parts->count; i++) {
        const plim_trend_part *const part = &parts->items[i];
        /* A level with the drop inside is neither tip nor valley. */
        if (length(part) == 1 && i + 1 < parts->count && part->mean < top &&
            part[1].left < part->mean) {
            continue;
        }
        const double drop = top - part->left;
        top = part->right;
        climbs += part->right - part->left - (drop < least ? drop : 0);
        if (drop < least) {
            continue;
        }
        if (sawtooth->drop_count > 0) {
            add_mean(&sawtooth->means, levels, begin, part->begin);
        }
        add(&sawtooth->valleys, levels->at[part->begin], part->left);
        sawtooth->height += drop;
        sawtooth->drop_count++;
        begin = part->begin;
    }
    if (sawtooth->height < DROP_CLIMB_SHARE_MIN * climbs) {
        sawtooth->drop_count = 0; /* a climb with some dents */
    }
    sawtooth->height /= fmax((double)sawtooth->drop_count, 1);
}
