/*
 * candidates.c - see candidates.h.
 */
#include "replay/search/candidates.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/units.h"
#include "replay/conf.h"
#include "settings/rounding.h"
#include "settings/table.h"

#include <math.h>
#include <string.h>

/* The collector of garbage acts only under a limit, and 1 is no limit since PyTorch 2.9. What the
 * driver gives is less than this of a device, so that the limit itself stays out of the way. */
#define COLLECTING_FRACTION 0.999
#define COLLECTING_USUAL    80 /* percent: what PyTorch's documentation has as an example */
#define COLLECTING_MIN      10
#define COLLECTING_MAX      95

/* --- rows --- */

static bool is_like(const plim_tune_row *a, const plim_tune_row *b)
{
    return a->empty_cache == b->empty_cache && a->empty_cache_event == b->empty_cache_event &&
           a->is_start_requested == b->is_start_requested && plim_conf_equal(&a->conf, &b->conf);
}

plim_status plim_candidates_add_row(plim_candidates *candidates, const plim_tune_row *row,
                                    plim_error *err)
{
    for (size_t i = 0; i < candidates->rows.count; i++) {
        if (is_like(&candidates->rows.items[i], row)) {
            candidates->rows.items[i].is_given |= row->is_given;
            return PLIM_OK;
        }
    }
    plim_tune_row added = *row;
    added.needs_torch =
        row->conf.policy == PLIM_POLICY_TORCH ? plim_settings_since(&row->conf.settings) : 0;
    added.is_too_new = added.needs_torch > candidates->torch && !row->is_recorded;
    if (!PLIM_VEC_PUSH(candidates->mem, &candidates->rows, added)) {
        return plim_fail_memory(err, "listing settings to try");
    }
    return PLIM_OK;
}

static plim_status add_settings(plim_candidates *candidates, const plim_settings *settings,
                                plim_error *err)
{
    static const char off[] = "expandable_segments:False";
    const plim_settings *const recorded =
        &candidates->rows.items[candidates->recorded].conf.settings;
    char text[PLIM_CONF_TEXT_BYTES];
    size_t length = plim_settings_format(settings, text, sizeof text);
    /* Who has it on somewhere does not turn it off by saying nothing. */
    if (recorded->expandable_segments && !settings->expandable_segments) {
        const size_t more = sizeof off - 1 + (length > 0);
        if (length + more >= sizeof text) {
            return PLIM_OK;
        }
        memmove(text + more, text, length + 1);
        memcpy(text, off, sizeof off - 1);
        if (length > 0) {
            text[more - 1] = ',';
        }
        length += more;
        text[length] = '\0';
    }
    plim_tune_row row = { .is_start_requested = true };
    if (length >= sizeof text || plim_conf_parse(text, &row.conf, NULL) != PLIM_OK) {
        return PLIM_OK;
    }
    return plim_candidates_add_row(candidates, &row, err);
}

/* --- what was recorded, what was given --- */

/* As recorded, but for what a search varies. */
static plim_settings base_of(const plim_settings *recorded)
{
    static const plim_setting_key varied[] = {
        PLIM_KEY_BACKEND,
        PLIM_KEY_MAX_SPLIT_SIZE_MB,
        PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB,
        PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD,
        PLIM_KEY_ROUNDUP_POWER2_DIVISIONS,
        PLIM_KEY_EXPANDABLE_SEGMENTS,
        PLIM_KEY_LARGE_SEGMENT_SIZE_MB,
        PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE,
    };
    const plim_settings usual = plim_settings_default();
    plim_settings base = *recorded;
    for (size_t i = 0; i < sizeof varied / sizeof varied[0]; i++) {
        plim_setting_copy(&base, &usual, varied[i]);
    }
    return base;
}

static plim_status add_recorded(plim_candidates *candidates, plim_error *err)
{
    const plim_replay *const replay = candidates->replay;
    const plim_conf *const conf = &replay->devices.items[0].recorded.facts.conf;
    bool is_restored = false;
    for (size_t i = 0; i < replay->devices.count; i++) {
        const plim_replay_device_part *const part = &replay->devices.items[i];
        const plim_program_start *const start = &part->asked->start;
        candidates->has_start |= start->allocations.count > 0 || start->segments.count > 0;
        is_restored |= plim_replay_is_restored(part, conf);
    }
    plim_tune_row row = { .conf = *conf, .is_recorded = true, .is_start_requested = !is_restored };
    candidates->base = base_of(&conf->settings);
    candidates->torch = plim_release_of(plim_history_source(replay->history).generation);
    candidates->recorded = 0;
    PLIM_TRY(plim_candidates_add_row(candidates, &row, err));
    row.is_start_requested = true;
    PLIM_TRY(plim_candidates_add_row(candidates, &row,
                                     err)); /* the same as before, where nothing is restored */
    candidates->baseline = candidates->rows.count - 1;
    return PLIM_OK;
}

static plim_status add_given(plim_candidates *candidates, plim_error *err)
{
    for (size_t i = 0; i < candidates->options->conf_count; i++) {
        plim_tune_row row = { .is_given = true, .is_start_requested = true };
        PLIM_TRY(plim_conf_parse(candidates->options->confs[i], &row.conf, err));
        PLIM_TRY(plim_candidates_add_row(candidates, &row, err));
    }
    return PLIM_OK;
}

static plim_status add_policies(plim_candidates *candidates, plim_error *err)
{
    for (size_t i = 0; i < PLIM_POLICY_COUNT; i++) {
        plim_tune_row row = { .is_start_requested = true };
        PLIM_TRY(plim_conf_parse(plim_policy_name((plim_policy_kind)i), &row.conf, err));
        PLIM_TRY(plim_candidates_add_row(candidates, &row, err));
    }
    return PLIM_OK;
}

/* --- max_split_size_mb ---
 *
 * max_split_size_mb keeps requests below it out of blocks above it. So it belongs where the sizes
 * of a trace leave a gap with much traffic on both sides:
 *
 *     traffic  ▂▇▃                ▅▆          in logarithms of sizes, a gap is worth its width
 *              ─────┬───────────────────►     times what lies below and above
 *     size        line just above the segments of what is below
 */

#define SPLITS_MAX 8

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
        /* A line must separate something large. */
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

static plim_status add_splits(plim_candidates *candidates, plim_error *err)
{
    gap best[SPLITS_MAX];
    const uint64_t line_min = candidates->base.large_segment_bytes / MIB;
    const size_t count = find_gaps(&candidates->sizes, line_min, best);
    for (size_t i = 0; i < count; i++) {
        plim_settings settings = candidates->base;
        settings.max_split_bytes = best[i].line_mib * MIB;
        PLIM_TRY(add_settings(candidates, &settings, err));
    }
    return PLIM_OK;
}

/* --- large_segment_size_mb ---
 *
 * large_segment_size_mb is what requests of 1 to 10 MiB are cut from, and what expandable segments
 * grow by: values are the smallest there is, twice and more than the usual one, and the one that
 * is filled best by the sizes at hand.
 */

#define SEGMENT_MIB_MIN 12 /* above 10, and whole pages of 2 MiB */
#define SEGMENT_MIB_MAX 64

/* The bytes of a segment that are left over when it is cut into pieces of one size, summed
 * over the sizes that share such segments. */
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

static plim_status add_segments(plim_candidates *candidates, plim_error *err)
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
        PLIM_TRY(add_settings(candidates, &settings, err));
    }
    return PLIM_OK;
}

/* --- roundup_power2_divisions ---
 *
 * Rounding costs bytes and makes sizes alike, so that a block that one tensor left fits the next.
 * That helps where a trace has many sizes: sequences of all lengths, images of all shapes. So it
 * is tried everywhere, and for the intervals that have many sizes, each alone and all of them.
 */

#define SIZES_MANY     12   /* in an interval: more than 8 divisions would leave */
#define TRAFFIC_MIN    0.02 /* of all bytes: less moves no peak */
#define INTERVALS_MAX  3    /* that are tried alone */
#define DIVISIONS_FEW  4
#define DIVISIONS_MANY 8

static const uint64_t everywhere[] = { 2, 4, 8, 16 };

/* Only what rounds any request of the trace. */
static plim_status add_rounding(plim_candidates *candidates, const plim_settings *settings,
                                plim_error *err)
{
    return plim_replay_has_rounding(candidates->replay, settings)
               ? add_settings(candidates, settings, err)
               : PLIM_OK;
}

static plim_status add_divisions(plim_candidates *candidates, uint32_t intervals,
                                 uint64_t divisions, plim_error *err)
{
    plim_settings settings = candidates->base;
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        settings.roundup_power2_divisions[i] = (intervals >> i & 1) != 0 ? divisions : 0;
    }
    return add_rounding(candidates, &settings, err);
}

/* The one with most traffic, of those in `intervals`. */
static size_t busiest(const plim_trace_sizes *sizes, uint32_t intervals)
{
    size_t best = PLIM_ROUNDUP_INTERVALS;
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        if ((intervals >> i & 1) != 0 && (best == PLIM_ROUNDUP_INTERVALS ||
                                          sizes->interval_bytes[i] > sizes->interval_bytes[best])) {
            best = i;
        }
    }
    return best;
}

static plim_status add_roundings(plim_candidates *candidates, plim_error *err)
{
    const uint32_t all = ((uint32_t)1 << PLIM_ROUNDUP_INTERVALS) - 1;
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++) {
        PLIM_TRY(add_divisions(candidates, all, everywhere[i], err));
    }
    const plim_trace_sizes *const sizes = &candidates->sizes;
    uint32_t intervals = 0;
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        const bool is_busy =
            (double)sizes->interval_bytes[i] >= TRAFFIC_MIN * (double)sizes->total_bytes;
        intervals |= (uint32_t)(is_busy && sizes->interval_sizes[i] >= SIZES_MANY) << i;
    }
    if (intervals == 0) {
        return PLIM_OK;
    }
    PLIM_TRY(add_divisions(candidates, intervals, DIVISIONS_MANY, err));
    PLIM_TRY(add_divisions(candidates, intervals, DIVISIONS_FEW, err));
    for (size_t i = 0; i < INTERVALS_MAX && intervals != 0; i++) {
        const size_t interval = busiest(sizes, intervals);
        PLIM_TRY(add_divisions(candidates, (uint32_t)1 << interval, DIVISIONS_FEW, err));
        intervals &= ~((uint32_t)1 << interval);
    }
    return PLIM_OK;
}

/* --- one change at a time --- */

static plim_status add_collecting(plim_candidates *candidates, uint64_t percent, plim_error *err)
{
    plim_settings settings = candidates->base;
    const uint64_t at_least = percent < COLLECTING_MIN ? COLLECTING_MIN : percent;
    settings.garbage_collection_threshold =
        (double)(at_least < COLLECTING_MAX ? at_least : COLLECTING_MAX) / 100;
    if (settings.per_process_memory_fraction >= 1) {
        settings.per_process_memory_fraction = COLLECTING_FRACTION;
    }
    return add_settings(candidates, &settings, err);
}

/* Below the floor it would collect at every request: thresholds are between that and all. */
static plim_status add_collections(plim_candidates *candidates, plim_error *err)
{
    const uint64_t capacity = candidates->options->capacity_bytes;
    if (capacity == PLIM_UNLIMITED || capacity == 0) {
        return PLIM_OK;
    }
    uint64_t floor_bytes = 0;
    for (size_t i = 0; i < candidates->replay->devices.count; i++) {
        const uint64_t bytes = candidates->replay->devices.items[i].asked->facts.floor_bytes;
        floor_bytes = bytes > floor_bytes ? bytes : floor_bytes;
    }
    const double share = (double)floor_bytes / (double)capacity;
    const uint64_t percent = share < 1 ? (uint64_t)ceil(share * 100) : 100;
    PLIM_TRY(add_collecting(candidates, percent, err));
    PLIM_TRY(add_collecting(candidates, (percent + 100) / 2, err));
    return add_collecting(candidates, COLLECTING_USUAL, err);
}

static plim_status add_singles(plim_candidates *candidates, plim_error *err)
{
    PLIM_TRY(add_settings(candidates, &candidates->base, err));
    plim_settings expandable = candidates->base;
    expandable.expandable_segments = true;
    PLIM_TRY(add_settings(candidates, &expandable, err));
    PLIM_TRY(add_splits(candidates, err));
    PLIM_TRY(add_collections(candidates, err));
    PLIM_TRY(add_roundings(candidates, err));
    return add_segments(candidates, err);
}

/* --- the life of the list --- */

static plim_status find_steps(plim_candidates *candidates, plim_error *err)
{
    const plim_replay *const replay = candidates->replay;
    candidates->steps =
        plim_mem_alloc_zeroed(candidates->mem, replay->devices.count, sizeof *candidates->steps);
    if (candidates->steps == NULL) {
        return plim_fail_memory(err, "looking for steps");
    }
    for (size_t i = 0; i < replay->devices.count; i++) {
        PLIM_TRY(plim_steps_init(&candidates->steps[i], replay->history,
                                 replay->devices.items[i].recorded.device, candidates->mem, err));
    }
    return PLIM_OK;
}

static plim_status fill(plim_candidates *candidates, plim_error *err)
{
    PLIM_TRY(add_recorded(candidates, err));
    PLIM_TRY(add_given(candidates, err));
    if (candidates->options->only_given) {
        return PLIM_OK;
    }
    PLIM_TRY(find_steps(candidates, err));
    PLIM_TRY(plim_trace_sizes_init(&candidates->sizes, candidates->replay, candidates->mem, err));
    PLIM_TRY(add_singles(candidates, err));
    return candidates->options->has_all_policies ? add_policies(candidates, err) : PLIM_OK;
}

static plim_status fill_given(plim_candidates *candidates, plim_error *err)
{
    plim_tune_row row = { .conf = candidates->replay->devices.items[0].recorded.facts.conf,
                          .is_recorded = true };
    const size_t count = candidates->options->conf_count;
    for (size_t i = 0; i <= count; i++) {
        if (!PLIM_VEC_PUSH(candidates->mem, &candidates->rows, row)) {
            return plim_fail_memory(err, "listing settings to try");
        }
        row = (plim_tune_row){ .is_given = true };
        if (i < count) {
            PLIM_TRY(plim_conf_parse(candidates->options->confs[i], &row.conf, err));
        }
    }
    return PLIM_OK;
}

plim_status plim_candidates_init(plim_candidates *candidates, const plim_replay *replay,
                                 const plim_tune_options *options, bool is_comparison,
                                 plim_error *err)
{
    *candidates = (plim_candidates){ .mem = plim_mem_or_heap(options->mem),
                                     .replay = replay,
                                     .options = options };
    const plim_status status = is_comparison ? fill_given(candidates, err) : fill(candidates, err);
    if (status != PLIM_OK) {
        plim_candidates_deinit(candidates);
    }
    return status;
}

void plim_candidates_deinit(plim_candidates *candidates)
{
    if (candidates->mem == NULL) {
        return;
    }
    const size_t count = candidates->replay->devices.count;
    for (size_t i = 0; candidates->steps != NULL && i < count; i++) {
        plim_steps_deinit(&candidates->steps[i]);
    }
    plim_mem_free(candidates->mem, candidates->steps, count, sizeof *candidates->steps);
    plim_trace_sizes_deinit(&candidates->sizes);
    PLIM_VEC_FREE(candidates->mem, &candidates->rows);
    *candidates = (plim_candidates){ .mem = NULL };
}

/* --- changes --- */

static const plim_setting_key change_keys[PLIM_CHANGE_COUNT][2] = {
    [PLIM_CHANGE_EXPANDABLE] = { PLIM_KEY_EXPANDABLE_SEGMENTS, PLIM_KEY_EXPANDABLE_SEGMENTS },
    [PLIM_CHANGE_SPLIT] = { PLIM_KEY_MAX_SPLIT_SIZE_MB, PLIM_KEY_MAX_SPLIT_SIZE_MB },
    [PLIM_CHANGE_COLLECTING] = { PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD,
                                 PLIM_KEY_PER_PROCESS_MEMORY_FRACTION },
    [PLIM_CHANGE_ROUNDING] = { PLIM_KEY_ROUNDUP_POWER2_DIVISIONS,
                               PLIM_KEY_ROUNDUP_POWER2_DIVISIONS },
    [PLIM_CHANGE_SEGMENT] = { PLIM_KEY_LARGE_SEGMENT_SIZE_MB, PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB },
};

uint32_t plim_candidates_changes(const plim_candidates *candidates, const plim_tune_row *row)
{
    uint32_t changes = 0;
    for (size_t i = 0; i < PLIM_CHANGE_COUNT; i++) {
        const bool is_changed = !plim_setting_equal(&row->conf.settings, &candidates->base,
                                                    &plim_setting_rows[change_keys[i][0]]);
        changes |= (uint32_t)is_changed << i;
    }
    return changes;
}

/* --- the best single changes together ---
 *
 * Expandable segments are joined with every other kind, better alone or not: what costs elsewhere
 * may save there (a segment is a page to them). The rest is joined where both are better alone
 * than the default, and all of these at once.
 */

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
            if (best[i] == SIZE_MAX) {
                return PLIM_OK;
            }
            const plim_settings *const from = &candidates->rows.items[best[i]].conf.settings;
            plim_setting_copy(&settings, from, change_keys[i][0]);
            plim_setting_copy(&settings, from, change_keys[i][1]);
        }
    }
    return add_settings(candidates, &settings, err);
}

/* Expandable segments that grow by other pages than the usual ones. */
static plim_status add_pages(plim_candidates *candidates, plim_error *err)
{
    for (size_t i = 0; i < sizeof pages_mib / sizeof pages_mib[0]; i++) {
        plim_settings settings = candidates->base;
        settings.expandable_segments = true;
        settings.large_segment_bytes = pages_mib[i] * MIB;
        settings.max_non_split_rounding_bytes = settings.large_segment_bytes;
        PLIM_TRY(add_settings(candidates, &settings, err));
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
