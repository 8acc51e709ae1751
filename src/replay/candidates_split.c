/*
 * candidates_split.c - max_split_size_mb and large_segment_size_mb, from the sizes of a trace.
 *
 * max_split_size_mb keeps requests below it out of blocks above it. So it belongs where the sizes
 * of a trace leave a gap with much traffic on both sides:
 *
 *     traffic  ▂▇▃                ▅▆          in logarithms of sizes, a gap is worth its width
 *              ─────┬───────────────────►     times what lies below and above
 *     size        line just above the segments of what is below
 *
 * large_segment_size_mb is what requests of 1 to 10 MiB are cut from, and what expandable segments
 * grow by: values are the smallest there is, twice and more than the usual one, and the one that
 * is filled best by the sizes at hand.
 */
#include "replay/candidates.h"

#include "base/error.h"
#include "base/units.h"
#include "settings/rounding.h"

#include <math.h>

#define SPLITS_MAX 8

/* --- max_split_size_mb --- */

typedef struct gap {
    uint64_t line_mib;
    double worth;
} gap;

/* Keeps the most worthy, the first of equals. */
static void keep(gap *best, size_t *count, gap found)
{
    size_t at = *count;
    while (at > 0 && best[at - 1].worth < found.worth) {
        at--;
    }
    if (at == SPLITS_MAX) {
        return;
    }
    const size_t last = *count < SPLITS_MAX ? (*count)++ : SPLITS_MAX - 1;
    for (size_t i = last; i > at; i--) {
        best[i] = best[i - 1];
    }
    best[at] = found;
}

/*
 * Between requests of `below` … below + 1 MiB and those of `above` MiB and more: above the
 * segments of the former, or they would be kept apart, too.
 */
static uint64_t line_between(uint64_t below, uint64_t above, uint64_t line_min)
{
    const uint64_t segment_mib = (below + 2) / 2 * 2; /* in whole 2 MiB */
    const uint64_t line = segment_mib + 1 < above ? segment_mib + 1 : above;
    return line > line_min ? line : line_min;
}

static size_t find_gaps(const plim_trace_sizes *sizes, uint64_t line_min, gap best[SPLITS_MAX])
{
    double all = 0;
    for (size_t i = 1; i < PLIM_SIZES_MIB; i++) {
        all += (double)sizes->mib_bytes[i];
    }
    size_t count = 0;
    size_t last = 0; /* bin with requests, from 1 on */
    double under = 0;
    for (size_t i = 1; i < PLIM_SIZES_MIB; i++) {
        if (sizes->mib_bytes[i] == 0) {
            continue;
        }
        /* A line that separates nothing large is none. */
        if (last > 0 && i >= line_min) {
            const double width = log2((double)i / (double)last);
            const double worth = width * (under / all) * (1 - under / all);
            keep(best, &count, (gap){ line_between(last, i, line_min), worth });
        }
        under += (double)sizes->mib_bytes[i];
        last = i;
    }
    return count;
}

plim_status plim_candidates_add_splits(plim_candidates *candidates, plim_error *err)
{
    gap best[SPLITS_MAX];
    const uint64_t line_min = candidates->base.large_segment_bytes / MIB;
    const size_t count = find_gaps(&candidates->sizes, line_min, best);
    for (size_t i = 0; i < count; i++) {
        plim_settings settings = candidates->base;
        settings.max_split_bytes = best[i].line_mib * MIB;
        PLIM_TRY(plim_candidates_add(candidates, &settings, err));
    }
    return PLIM_OK;
}

/* --- large_segment_size_mb --- */

#define SEGMENT_MIB_MIN 12 /* above 10, and whole pages of 2 MiB */
#define SEGMENT_MIB_MAX 64

/* How much of a segment's bytes is left over when it is cut into pieces of one size, summed over
 * the sizes that share such segments. */
static double left_over(const plim_trace_sizes *sizes, uint64_t segment_bytes)
{
    double bytes = 0;
    for (size_t interval = 0; interval < 4; interval++) { /* the last begins at 8 MiB */
        for (size_t part = 0; part < PLIM_SIZES_PARTS; part++) {
            const uint64_t size = plim_trace_sizes_part(interval, part);
            if (size > PLIM_SMALL_BYTES_MAX && size < PLIM_LARGE_BYTES_MIN) {
                bytes += (double)sizes->parts_bytes[interval * PLIM_SIZES_PARTS + part] *
                         (double)(segment_bytes % size) / (double)segment_bytes;
            }
        }
    }
    return bytes;
}

static uint64_t best_filled_mib(const plim_trace_sizes *sizes)
{
    uint64_t best = SEGMENT_MIB_MIN;
    for (uint64_t mib = SEGMENT_MIB_MIN; mib <= SEGMENT_MIB_MAX; mib += 2) {
        if (left_over(sizes, mib * MIB) < left_over(sizes, best * MIB)) {
            best = mib;
        }
    }
    return best;
}

plim_status plim_candidates_add_segments(plim_candidates *candidates, plim_error *err)
{
    if (candidates->sizes.middle_bytes == 0) {
        return PLIM_OK;
    }
    const uint64_t usual = candidates->base.large_segment_bytes / MIB;
    const uint64_t values[] = { SEGMENT_MIB_MIN, best_filled_mib(&candidates->sizes), usual * 2,
                                SEGMENT_MIB_MAX };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        plim_settings settings = candidates->base;
        settings.large_segment_bytes = values[i] * MIB;
        settings.max_non_split_rounding_bytes = settings.large_segment_bytes;
        PLIM_TRY(plim_candidates_add(candidates, &settings, err));
    }
    return PLIM_OK;
}
