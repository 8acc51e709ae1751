/*
 * candidates_combined.c - the best single changes together.
 *
 * Expandable segments are joined with every other kind, better alone or not: what costs elsewhere
 * may save there (a segment is a page to them). The rest is joined where both are better alone
 * than the default, and all of these at once.
 */
#include "replay/candidates.h"

#include "base/error.h"
#include "base/units.h"

#define SOURCE_NONE_LEFT SIZE_MAX

/* large_segment_size_mb: the smallest of whole 2 MiB above 10, and two and three times the usual.
 */
static const uint64_t pages_mib[] = { 12, 40, 64 };

/* Rows for the changes in a mask, each as its best row makes it. */
static plim_status add_mask(plim_candidates *candidates, uint32_t changes,
                            const size_t best[PLIM_CHANGE_COUNT], plim_error *err)
{
    plim_settings settings = candidates->base;
    for (size_t i = 0; i < PLIM_CHANGE_COUNT; i++) {
        if ((changes >> i & 1) != 0) {
            if (best[i] == SOURCE_NONE_LEFT) {
                return PLIM_OK;
            }
            const plim_settings *const from = &candidates->rows.items[best[i]].conf.settings;
            plim_setting_copy(&settings, from, plim_change_keys[i][0]);
            plim_setting_copy(&settings, from, plim_change_keys[i][1]);
        }
    }
    return plim_candidates_add(candidates, &settings, err);
}

/* Expandable segments that grow by other pages than the usual ones, whoever shares segments. */
static plim_status add_pages(plim_candidates *candidates, plim_error *err)
{
    for (size_t i = 0; i < sizeof pages_mib / sizeof pages_mib[0]; i++) {
        plim_settings settings = candidates->base;
        settings.expandable_segments = true;
        settings.large_segment_bytes = pages_mib[i] * MIB;
        settings.max_non_split_rounding_bytes = settings.large_segment_bytes;
        PLIM_TRY(plim_candidates_add(candidates, &settings, err));
    }
    return PLIM_OK;
}

/* Each two of the changes in a mask. */
static plim_status add_pairs(plim_candidates *candidates, uint32_t changes,
                             const size_t best[PLIM_CHANGE_COUNT], plim_error *err)
{
    for (uint32_t first = changes; first != 0; first &= first - 1) {
        const uint32_t rest = first & (first - 1);
        for (uint32_t second = rest; second != 0; second &= second - 1) {
            const uint32_t pair = (first ^ rest) | (second ^ (second & (second - 1)));
            PLIM_TRY(add_mask(candidates, pair, best, err));
        }
    }
    return PLIM_OK;
}

plim_status plim_candidates_add_combinations(plim_candidates *candidates,
                                             const size_t best[PLIM_CHANGE_COUNT],
                                             const bool is_better[PLIM_CHANGE_COUNT],
                                             plim_error *err)
{
    const uint32_t expandable = 1u << PLIM_CHANGE_EXPANDABLE;
    const uint32_t collecting = 1u << PLIM_CHANGE_COLLECTING;
    PLIM_TRY(add_pages(candidates, err));
    uint32_t rest = 0; /* better alone */
    for (uint32_t i = 0; i < PLIM_CHANGE_COUNT; i++) {
        const uint32_t change = 1u << i;
        /* The collector leaves expandable segments alone. */
        if ((change & (expandable | collecting)) == 0) {
            PLIM_TRY(add_mask(candidates, expandable | change, best, err));
        }
        rest |= is_better[i] ? change & ~expandable : 0;
    }
    PLIM_TRY(add_pairs(candidates, rest, best, err));
    PLIM_TRY(add_mask(candidates, rest, best, err));
    return add_mask(candidates, (rest | expandable) & ~collecting, best, err);
}
