/*
 * settings_parse.c - a settings string over the settings in force (pytorch-caching-allocator §9).
 *
 * As PyTorch 2.11 does it, which tests compare by a table of its own answers. What differs, and is
 * an error here: separators other than the grammar's, something behind a number, numbers with a
 * sign. And nothing is changed when any of the string is no good. docs/settings.md has the rest.
 */
#include "alloc/settings_parse.h"

#include "alloc/settings_divisions.h"
#include "alloc/settings_key.h"
#include "alloc/settings_value.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/units.h"

#include <string.h>

#define LARGE_SEGMENT_MB_MIN   11  /* "must be > 10": kMinLargeAlloc has to fit with room */
#define REGISTER_THREAD_MAX    128 /* pinned_max_register_threads() */
#define RESERVE_SEGMENT_MB_MIN 1

_Static_assert(PLIM_SETTING_KEY_COUNT <= 32, "plim_settings.given has a bit for each key");

/* By class, [name:value,…]: nothing here acts on it, so that only its form counts. */
static plim_status skip_classes(plim_settings_reader *reader, bool *ret_ignored)
{
    PLIM_TRY(plim_settings_expect(reader, '[', reader->key));
    while (reader->token.kind != ']') {
        double fraction = 0;
        uint64_t bytes = 0;
        if (reader->token.kind != 'w') {
            return plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected a class of %s, not %s",
                                      reader->key, plim_settings_quoted(reader).text);
        }
        plim_settings_advance(reader);
        PLIM_TRY(plim_settings_expect(reader, ':', "a class"));
        if (reader->token.kind != 'w') {
            return plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected a class's value, not %s",
                                      plim_settings_quoted(reader).text);
        }
        *ret_ignored |= !plim_settings_read_reserve(reader->token.word, &fraction, &bytes);
        plim_settings_advance(reader);
        if (reader->token.kind != ']') {
            PLIM_TRY(plim_settings_expect(reader, ',', "a class's value"));
        }
    }
    plim_settings_advance(reader);
    return PLIM_OK;
}

static plim_status read_reserve(plim_settings_reader *reader, plim_settings *settings,
                                bool *ret_ignored)
{
    if (reader->token.kind != 'w') {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected a value of %s, not %s",
                                  reader->key, plim_settings_quoted(reader).text);
    }
    *ret_ignored = reader->token.length >= PLIM_SETTINGS_WORD_BYTES ||
                   !plim_settings_read_reserve(reader->token.word,
                                               &settings->expandable_segments_reserve_fraction,
                                               &settings->expandable_segments_reserve_bytes);
    plim_settings_advance(reader);
    return PLIM_OK;
}

static plim_status read_value(plim_settings_reader *reader, plim_setting_key key,
                              plim_settings *settings, bool *ret_ignored)
{
    const uint64_t segment_mb = settings->large_segment_bytes / MIB;
    switch (key) {
    case PLIM_KEY_BACKEND:
        return plim_settings_read_backend(reader, &settings->backend);
    case PLIM_KEY_MAX_SPLIT_SIZE_MB:
        return plim_settings_read_mb(reader, segment_mb, &settings->max_split_bytes);
    case PLIM_KEY_MAX_NON_SPLIT_ROUNDING_MB:
        return plim_settings_read_mb(reader, segment_mb, &settings->max_non_split_rounding_bytes);
    case PLIM_KEY_GARBAGE_COLLECTION_THRESHOLD:
        return plim_settings_read_fraction(reader, false, &settings->garbage_collection_threshold);
    case PLIM_KEY_ROUNDUP_POWER2_DIVISIONS:
        return plim_settings_read_divisions(reader, settings->roundup_power2_divisions);
    case PLIM_KEY_EXPANDABLE_SEGMENTS:
        return plim_settings_read_bool(reader, &settings->expandable_segments);
    case PLIM_KEY_RELEASE_LOCK_ON_CUDAMALLOC:
        return plim_settings_read_bool(reader, &settings->release_lock_on_cudamalloc);
    case PLIM_KEY_PINNED_USE_CUDA_HOST_REGISTER:
        return plim_settings_read_bool(reader, &settings->pinned_use_cuda_host_register);
    case PLIM_KEY_PINNED_NUM_REGISTER_THREADS:
        return plim_settings_read_power(reader, "the number of threads", false, REGISTER_THREAD_MAX,
                                        &settings->pinned_num_register_threads);
    case PLIM_KEY_PINNED_USE_BACKGROUND_THREADS:
        return plim_settings_read_bool(reader, &settings->pinned_use_background_threads);
    case PLIM_KEY_PINNED_RESERVE_SEGMENT_SIZE_MB:
        return plim_settings_read_mb(reader, RESERVE_SEGMENT_MB_MIN,
                                     &settings->pinned_reserve_segment_bytes);
    case PLIM_KEY_PINNED_MAX_ROUND_THRESHOLD_MB:
        return plim_settings_read_mb(reader, 0, &settings->pinned_max_round_threshold_bytes);
    case PLIM_KEY_PINNED_MAX_CACHED_SIZE_MB:
        return plim_settings_read_mb(reader, 0, &settings->pinned_max_cached_bytes);
    case PLIM_KEY_PINNED_FREE_CATCH_ALL:
        return plim_settings_read_bool(reader, &settings->pinned_free_catch_all);
    case PLIM_KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE:
        return plim_settings_read_bool(reader, &settings->graph_capture_record_stream_reuse);
    case PLIM_KEY_PER_PROCESS_MEMORY_FRACTION:
        return plim_settings_read_fraction(reader, true, &settings->per_process_memory_fraction);
    case PLIM_KEY_LARGE_SEGMENT_SIZE_MB: {
        uint64_t checked = 0; /* find_large_segment() has taken the last of them */
        return plim_settings_read_mb(reader, LARGE_SEGMENT_MB_MIN, &checked);
    }
    case PLIM_KEY_THROW_ON_CUDAMALLOC_OOM:
        return plim_settings_read_bool(reader, &settings->throw_on_cudamalloc_oom);
    case PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE:
        return read_reserve(reader, settings, ret_ignored);
    case PLIM_KEY_EXPANDABLE_SEGMENTS_RESERVE_BY_CLASS:
        return skip_classes(reader, ret_ignored);
    case PLIM_SETTING_KEY_COUNT:
        break;
    }
    PLIM_ASSERT(key < PLIM_SETTING_KEY_COUNT);
    return PLIM_INVALID_ARGUMENT;
}

static plim_status read_key(plim_settings_reader *reader, plim_setting_key *ret_key)
{
    const plim_settings_token *const token = &reader->token;
    const plim_settings_quote quote = plim_settings_quoted(reader);
    if (token->kind != 'w') {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected a key, not %s", quote.text);
    }
    if (!plim_setting_key_find(token->word, ret_key, &reader->key)) {
        if (strchr(token->word, '=') != NULL) {
            return plim_settings_fail(reader, PLIM_CORRUPT, strcspn(token->word, "="),
                                      "expected ':' after a key, not '=' as in %s", quote.text);
        }
        const char *const nearest = plim_setting_key_nearest(token->word);
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "%s is not a setting%s%s%s", quote.text,
                                  nearest == NULL ? "" : ", did you mean ",
                                  nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
    }
    plim_settings_advance(reader);
    return PLIM_OK;
}

static plim_status read_pair(plim_settings_reader *reader, plim_settings *settings)
{
    plim_setting_key key = PLIM_SETTING_KEY_COUNT;
    PLIM_TRY(read_key(reader, &key));
    PLIM_TRY(plim_settings_expect(reader, ':', reader->key));
    bool ignored = false;
    PLIM_TRY(read_value(reader, key, settings, &ignored));
    settings->given |= (uint32_t)1 << key;
    settings->ignored &= ~((uint32_t)1 << key);
    settings->ignored |= (uint32_t)ignored << key;
    if (reader->token.kind != '\0') {
        PLIM_TRY(plim_settings_expect(reader, ',', "the value"));
    }
    return PLIM_OK;
}

static void skip_value(plim_settings_reader *reader)
{
    if (reader->token.kind == '[') {
        while (reader->token.kind != ']' && reader->token.kind != '\0') {
            plim_settings_advance(reader);
        }
    }
    plim_settings_advance(reader);
}

/*
 * The lower bounds of other keys depend on large_segment_size_mb, wherever it stands: so it is
 * looked for first. What is malformed ends the search, and fails in the reading that follows.
 */
static uint64_t find_large_segment(const char *text, uint64_t bytes_before)
{
    uint64_t bytes = bytes_before;
    plim_settings_reader reader;
    plim_settings_reader_init(&reader, "", text, NULL);
    reader.key = plim_setting_key_name(PLIM_KEY_LARGE_SEGMENT_SIZE_MB);
    while (reader.token.kind == 'w') {
        const bool is_wanted = plim_settings_at_word(&reader, reader.key);
        plim_settings_advance(&reader);
        if (plim_settings_expect(&reader, ':', "") != PLIM_OK) {
            break;
        }
        if (!is_wanted) {
            skip_value(&reader);
        } else if (plim_settings_read_mb(&reader, LARGE_SEGMENT_MB_MIN, &bytes) != PLIM_OK) {
            break;
        }
        if (plim_settings_expect(&reader, ',', "") != PLIM_OK) {
            break;
        }
    }
    return bytes;
}

plim_status plim_settings_parse_from(const char *source, const char *text, plim_settings *settings,
                                     plim_error *err)
{
    plim_settings next = *settings;
    next.large_segment_bytes = find_large_segment(text, settings->large_segment_bytes);
    next.max_split_bytes = PLIM_UNLIMITED;
    next.max_non_split_rounding_bytes = next.large_segment_bytes;
    next.garbage_collection_threshold = 0;
    memset(next.roundup_power2_divisions, 0, sizeof next.roundup_power2_divisions);
    next.given = 0;
    next.ignored = 0;

    plim_settings_reader reader;
    plim_settings_reader_init(&reader, source, text, err);
    while (reader.token.kind != '\0') {
        PLIM_TRY(read_pair(&reader, &next));
    }
    const size_t length = strlen(text);
    const size_t kept = length < sizeof next.text ? length : sizeof next.text - 1;
    memset(next.text, 0, sizeof next.text);
    memcpy(next.text, text, kept);
    *settings = next;
    return PLIM_OK;
}

plim_status plim_settings_parse(const char *text, plim_settings *settings, plim_error *err)
{
    PLIM_ASSERT(text != NULL);
    return plim_settings_parse_from("settings", text, settings, err);
}
