/*
 * table.c - the table of settings, and what follows from a row of it.
 *
 * Ranges, defaults and names are those of PyTorch 2.11 (c10/core/AllocatorConfig.h,
 * c10/cuda/CUDAAllocatorConfig.h), with the keys of later releases.
 */
#include "settings/table.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "base/edit_distance.h"
#include "base/units.h"
#include "plimsoll/release.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(plim_settings, field), sizeof(((const plim_settings *)NULL)->field)
#define RESERVE_AT \
    offsetof(plim_settings, expandable_segments_reserve_fraction), sizeof(double) + sizeof(uint64_t)

_Static_assert(offsetof(plim_settings, expandable_segments_reserve_bytes) ==
                   offsetof(plim_settings, expandable_segments_reserve_fraction) + sizeof(double),
               "a reserve is two fields side by side");
_Static_assert(PLIM_SETTING_KEY_COUNT <= 32, "plim_settings.given has a bit for each key");

const plim_setting_row plim_setting_rows[PLIM_SETTING_KEY_COUNT] = {
    { "backend", NULL, NULL, PLIM_TYPE_BACKEND, AT(backend), .since = PLIM_TORCH(2, 0) },
    { "max_split_size_mb", NULL, "max_split_size", PLIM_TYPE_MB, AT(max_split_bytes), .acts = true,
      .is_reset = true, .since = PLIM_TORCH(1, 10), .initial = PLIM_UNLIMITED,
      .min = PLIM_LARGE_SEGMENT },
    { "max_non_split_rounding_mb", NULL, "max_non_split_rounding_size", PLIM_TYPE_MB,
      AT(max_non_split_rounding_bytes), .acts = true, .is_reset = true, .since = PLIM_TORCH(2, 6),
      .initial = PLIM_LARGE_SEGMENT, .min = PLIM_LARGE_SEGMENT },
    { "garbage_collection_threshold", NULL, NULL, PLIM_TYPE_FRACTION,
      AT(garbage_collection_threshold), .acts = true, .is_reset = true,
      .since = PLIM_TORCH(1, 12) },
    { "roundup_power2_divisions", NULL, NULL, PLIM_TYPE_DIVISIONS, AT(roundup_power2_divisions),
      .acts = true, .is_reset = true, .since = PLIM_TORCH(1, 12) },
    { "expandable_segments", NULL, NULL, PLIM_TYPE_BOOL, AT(expandable_segments), .acts = true,
      .since = PLIM_TORCH(2, 1) },
    { "release_lock_on_cudamalloc", "release_lock_on_hipmalloc", NULL, PLIM_TYPE_BOOL,
      AT(release_lock_on_cudamalloc), .acts = true, .since = PLIM_TORCH(2, 2) },
    { "pinned_use_cuda_host_register", "pinned_use_hip_host_register", NULL, PLIM_TYPE_BOOL,
      AT(pinned_use_cuda_host_register), .since = PLIM_TORCH(2, 1) },
    { "pinned_num_register_threads", NULL, NULL, PLIM_TYPE_COUNT, AT(pinned_num_register_threads),
      .since = PLIM_TORCH(2, 1), .initial = 1, .max = 128 },
    { "pinned_use_background_threads", NULL, NULL, PLIM_TYPE_BOOL,
      AT(pinned_use_background_threads), .since = PLIM_TORCH(2, 5) },
    { "pinned_reserve_segment_size_mb", NULL, NULL, PLIM_TYPE_MB, AT(pinned_reserve_segment_bytes),
      .since = PLIM_TORCH(2, 10), .min = 1 },
    { "pinned_max_round_threshold_mb", NULL, NULL, PLIM_TYPE_MB,
      AT(pinned_max_round_threshold_bytes), .since = PLIM_TORCH(2, 13), .initial = PLIM_UNLIMITED },
    { "pinned_max_cached_size_mb", NULL, NULL, PLIM_TYPE_MB, AT(pinned_max_cached_bytes),
      .since = PLIM_TORCH(2, 13), .initial = PLIM_UNLIMITED },
    { "pinned_free_catch_all", NULL, NULL, PLIM_TYPE_BOOL, AT(pinned_free_catch_all),
      .since = PLIM_TORCH(2, 14) },
    { "graph_capture_record_stream_reuse", NULL, NULL, PLIM_TYPE_BOOL,
      AT(graph_capture_record_stream_reuse), .since = PLIM_TORCH(2, 9) },
    { "per_process_memory_fraction", NULL, NULL, PLIM_TYPE_FRACTION,
      AT(per_process_memory_fraction), .acts = true, .since = PLIM_TORCH(2, 10), .initial = 1 },
    /* kLargeBuffer; kMinLargeAlloc has to fit in with room. */
    { "large_segment_size_mb", NULL, "large_segment_size", PLIM_TYPE_MB, AT(large_segment_bytes),
      .acts = true, .since = PLIM_TORCH(2, 11), .initial = 20 * MIB, .min = 11 },
    { "throw_on_cudamalloc_oom", NULL, NULL, PLIM_TYPE_BOOL, AT(throw_on_cudamalloc_oom),
      .acts = true, .since = PLIM_TORCH(2, 12) },
    { "expandable_segments_reserve", NULL, NULL, PLIM_TYPE_RESERVE, RESERVE_AT, .acts = true,
      .since = PLIM_TORCH(2, 14) },
    { "expandable_segments_reserve_by_class", NULL, NULL, PLIM_TYPE_CLASSES,
      .since = PLIM_TORCH(2, 14) },
};

/* --- values --- */

void plim_setting_reset(plim_settings *settings, const plim_setting_row *row)
{
    void *const field = plim_setting_field(settings, row);
    if (row->type == PLIM_TYPE_MB || row->type == PLIM_TYPE_COUNT) {
        *(uint64_t *)field =
            row->initial == PLIM_LARGE_SEGMENT ? settings->large_segment_bytes : row->initial;
    } else if (row->type == PLIM_TYPE_FRACTION) {
        *(double *)field = (double)row->initial;
    } else {
        memset(field, 0, row->bytes); /* False, native, no divisions, no reserve */
    }
}

plim_settings plim_settings_default(void)
{
    plim_settings settings = { .expandable_segments = false };
    for (size_t i = PLIM_SETTING_KEY_COUNT; i-- > 0;) { /* the large segment before its users */
        plim_setting_reset(&settings, &plim_setting_rows[i]);
    }
    return settings;
}

bool plim_setting_equal(const plim_settings *a, const plim_settings *b, const plim_setting_row *row)
{
    const void *const left = plim_setting_value(a, row);
    const void *const right = plim_setting_value(b, row);
    return memcmp(left, right, row->bytes) == 0; /* no value has two forms: -0 is read as 0 */
}

uint64_t plim_setting_min_mb(const plim_settings *settings, const plim_setting_row *row)
{
    return row->min == PLIM_LARGE_SEGMENT ? settings->large_segment_bytes / MIB : row->min;
}

bool plim_setting_has_fraction(const plim_setting_row *row, double fraction)
{
    const bool with_ends = row->initial == 1;
    return with_ends ? fraction >= 0 && fraction <= 1 : fraction > 0 && fraction < 1;
}

/* 0 and 1 divisions both mean none. */
static bool round_alike(const plim_settings *a, const plim_settings *b)
{
    for (size_t i = 0; i < PLIM_ROUNDUP_INTERVALS; i++) {
        const uint64_t left = a->roundup_power2_divisions[i];
        const uint64_t right = b->roundup_power2_divisions[i];
        if (left != right && (left > 1 || right > 1)) {
            return false;
        }
    }
    return true;
}

bool plim_settings_decide_alike(const plim_settings *a, const plim_settings *b)
{
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_row *const row = &plim_setting_rows[i];
        /* Letting go of a lock decides nothing where one thread asks. */
        if (row->acts && i != PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC &&
            row->type != PLIM_TYPE_DIVISIONS && !plim_setting_equal(a, b, row)) {
            return false;
        }
    }
    return round_alike(a, b);
}

/* --- releases --- */

uint32_t plim_settings_since(const plim_settings *settings)
{
    uint32_t since = 0;
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        const plim_setting_row *const row = &plim_setting_rows[i];
        if (plim_setting_is_given(settings, (plim_setting_key)i) && row->since > since) {
            since = row->since;
        }
    }
    return since;
}

uint32_t plim_release_of(const char *words)
{
    static const char digits[] = "0123456789";
    uint32_t newest = UINT32_MAX;
    if (strstr(words, "PyTorch") == NULL) {
        return newest; /* "Plimsoll 0.1.0": another's releases */
    }
    for (const char *at = strpbrk(words, digits); at != NULL; at = strpbrk(at, digits)) {
        char *end = NULL;
        const unsigned long major = strtoul(at, &end, 10);
        unsigned long minor = 99; /* 1.x */
        if (end[0] == '.' && plim_is_digit(end[1])) {
            minor = strtoul(end + 1, &end, 10);
        }
        while (end[0] == '.' && plim_is_digit(end[1])) {
            (void)strtoul(end + 1, &end, 10); /* of a patch release */
        }
        newest = PLIM_TORCH(major, minor);
        at = end;
    }
    return strstr(words, "newer") != NULL ? UINT32_MAX : newest;
}

/* --- names --- */

const char *plim_setting_key_name(plim_setting_key key)
{
    return (size_t)key < PLIM_SETTING_KEY_COUNT ? plim_setting_rows[key].name : NULL;
}

bool plim_setting_key_acts(plim_setting_key key)
{
    return (size_t)key < PLIM_SETTING_KEY_COUNT && plim_setting_rows[key].acts;
}

/* All names, the aliases first; NULL for those that are not there. */
#define NAME_COUNT (2 * PLIM_SETTING_KEY_COUNT)
static const char *name_at(size_t index)
{
    const plim_setting_row *const row = &plim_setting_rows[index % PLIM_SETTING_KEY_COUNT];
    return index < PLIM_SETTING_KEY_COUNT ? row->alias : row->name;
}

bool plim_setting_key_find(const char *word, plim_setting_key *ret_key, const char **ret_name)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        const char *const name = name_at(i);
        if (name != NULL && strcmp(name, word) == 0) {
            *ret_key = (plim_setting_key)(i % PLIM_SETTING_KEY_COUNT);
            *ret_name = name;
            return true;
        }
    }
    return false;
}

/* Up to a third of a name may be missing or wrong; with more, a suggestion is a guess. */
const char *plim_setting_key_nearest(const char *word)
{
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        const char *const name = name_at(i);
        const size_t away = name == NULL ? SIZE_MAX : plim_edit_distance(word, name);
        if (away < nearest_distance && away <= strlen(name) / 3) {
            nearest = name;
            nearest_distance = away;
        }
    }
    return nearest;
}
