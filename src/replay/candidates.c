/*
 * candidates.c - see candidates.h.
 */
#include "replay/candidates.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/units.h"
#include "replay/conf.h"

#include <math.h>
#include <string.h>

/* The collector of garbage acts only under a limit, and 1 is none since PyTorch 2.9. What the
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

static plim_status add_row(plim_candidates *candidates, const plim_tune_row *row, plim_error *err)
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

plim_status plim_candidates_add(plim_candidates *candidates, const plim_settings *settings,
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
    return add_row(candidates, &row, err);
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
    bool is_planted = false;
    for (size_t i = 0; i < replay->devices.count; i++) {
        const plim_replay_device_part *const part = &replay->devices.items[i];
        const plim_program_start *const start = &part->asked->start;
        candidates->has_start |= start->allocations.count > 0 || start->segments.count > 0;
        is_planted |= plim_replay_is_planted(part, conf);
    }
    plim_tune_row row = { .conf = *conf, .is_recorded = true, .is_start_requested = !is_planted };
    candidates->base = base_of(&conf->settings);
    candidates->torch = plim_release_of(plim_history_source(replay->history).generation);
    candidates->recorded = 0;
    PLIM_TRY(add_row(candidates, &row, err));
    row.is_start_requested = true;
    PLIM_TRY(add_row(candidates, &row, err)); /* the same as before, where nothing is planted */
    candidates->baseline = candidates->rows.count - 1;
    return PLIM_OK;
}

static plim_status add_given(plim_candidates *candidates, plim_error *err)
{
    for (size_t i = 0; i < candidates->options->conf_count; i++) {
        plim_tune_row row = { .is_given = true, .is_start_requested = true };
        PLIM_TRY(plim_conf_parse(candidates->options->confs[i], &row.conf, err));
        PLIM_TRY(add_row(candidates, &row, err));
    }
    return PLIM_OK;
}

static plim_status add_policies(plim_candidates *candidates, plim_error *err)
{
    for (size_t i = 0; i < PLIM_POLICY_COUNT; i++) {
        plim_tune_row row = { .is_start_requested = true };
        PLIM_TRY(plim_conf_parse(plim_policy_name((plim_policy_kind)i), &row.conf, err));
        PLIM_TRY(add_row(candidates, &row, err));
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
    return plim_candidates_add(candidates, &settings, err);
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
    PLIM_TRY(plim_candidates_add(candidates, &candidates->base, err));
    plim_settings expandable = candidates->base;
    expandable.expandable_segments = true;
    PLIM_TRY(plim_candidates_add(candidates, &expandable, err));
    PLIM_TRY(plim_candidates_add_splits(candidates, err));
    PLIM_TRY(add_collections(candidates, err));
    PLIM_TRY(plim_candidates_add_roundings(candidates, err));
    return plim_candidates_add_segments(candidates, err);
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

const plim_setting_key plim_change_keys[PLIM_CHANGE_COUNT][2] = {
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
                                                    &plim_setting_rows[plim_change_keys[i][0]]);
        changes |= (uint32_t)is_changed << i;
    }
    return changes;
}
