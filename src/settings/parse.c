/*
 * parse.c - a settings string over the settings in force.
 *
 * As PyTorch 2.11 does it, which tests compare by a table of its own answers. What differs, and is
 * an error here: separators other than the grammar's, something after a number, numbers with a
 * sign. And nothing is changed when any of the string is wrong. docs/settings.md has the rest.
 */
#include "settings/parse.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MB_MAX (UINT64_MAX / MIB)

/* --- values: each function steps over the word, or fails and says what was expected --- */

static plim_status read_bool(plim_settings_reader *reader, bool *ret_value)
{
    PLIM_TRY(plim_settings_check_value(reader));
    const bool is_true = plim_settings_at_word(reader, "True");
    if (!is_true && !plim_settings_at_word(reader, "False")) {
        return plim_settings_fail_word(reader, PLIM_CORRUPT, 0, "is not True or False");
    }
    plim_settings_advance(reader);
    *ret_value = is_true;
    return PLIM_OK;
}

/* Sizes of 2^64 and more become 2^64 - 2^20. */
static plim_status read_mb(plim_settings_reader *reader, uint64_t mb_min, uint64_t *ret_bytes)
{
    uint64_t mb = 0;
    PLIM_TRY(plim_settings_peek_whole(reader, &mb));
    if (mb < mb_min) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s too small, must be >= %" PRIu64 ", not %" PRIu64, reader->key,
                                  mb_min, mb);
    }
    plim_settings_advance(reader);
    *ret_bytes = (mb < MB_MAX ? mb : MB_MAX) * MIB;
    return PLIM_OK;
}

static plim_status read_fraction(plim_settings_reader *reader, const plim_setting_row *row,
                                 double *ret_value)
{
    PLIM_TRY(plim_settings_check_value(reader));
    const size_t length = plim_decimal_length(reader->token.word);
    if (length != reader->token.length) {
        return plim_settings_fail_word(reader, PLIM_CORRUPT, length, "is not a number");
    }
    const double value = plim_decimal_read(reader->token.word);
    if (!plim_setting_has_fraction(row, value)) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s is invalid, set it in %s, like 0.8; not %s", reader->key,
                                  plim_setting_has_fraction(row, 1) ? "[0.0, 1.0]" : "(0.0, 1.0)",
                                  plim_settings_quoted(reader).text);
    }
    plim_settings_advance(reader);
    *ret_value = value + 0.0; /* -0 is 0 */
    return PLIM_OK;
}

static plim_status read_backend(plim_settings_reader *reader, plim_backend *ret_backend)
{
    PLIM_TRY(plim_settings_check_value(reader));
    plim_backend backend = PLIM_BACKEND_NATIVE;
    if (plim_settings_at_word(reader, "cudaMallocAsync") ||
        plim_settings_at_word(reader, "hipMallocAsync")) {
        backend = PLIM_BACKEND_CUDA_MALLOC_ASYNC;
    } else if (!plim_settings_at_word(reader, "native")) {
        return plim_settings_fail_word(reader, PLIM_CORRUPT, 0, "is not native or cudaMallocAsync");
    }
    plim_settings_advance(reader);
    *ret_backend = backend;
    return PLIM_OK;
}

/*
 * How much address space an expandable segment reserves: a positive number, of the device's
 * memory, or with G or g after it, of GiB. PyTorch warns of anything else and goes on: false, and
 * both results are untouched.
 */
static bool is_reserve(const plim_settings_token *token, double *ret_fraction, uint64_t *ret_bytes)
{
    const size_t length = plim_decimal_length(token->word);
    if (length == 0 || token->length >= PLIM_SETTINGS_WORD_BYTES) {
        return false;
    }
    const double number = plim_decimal_read(token->word);
    const bool in_gib = token->word[length] == 'G' || token->word[length] == 'g';
    const double bytes = number * (double)GIB;
    if (token->word[length + in_gib] != '\0' || !(number > 0) || !isfinite(number) ||
        (in_gib && bytes < 1)) {
        return false;
    }
    *ret_fraction = in_gib ? 0 : number;
    *ret_bytes = !in_gib ? 0 : bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX;
    return true;
}

static plim_status read_reserve(plim_settings_reader *reader, plim_settings *settings,
                                bool *ret_ignored)
{
    PLIM_TRY(plim_settings_check_word(reader, "a value of ", reader->key));
    *ret_ignored = !is_reserve(&reader->token, &settings->expandable_segments_reserve_fraction,
                               &settings->expandable_segments_reserve_bytes);
    plim_settings_advance(reader);
    return PLIM_OK;
}

/* By class, [name:value,…]: nothing here acts on it, so that only its form counts. */
static plim_status skip_classes(plim_settings_reader *reader, bool *ret_ignored)
{
    PLIM_TRY(plim_settings_expect(reader, '[', reader->key));
    while (reader->token.kind != ']') {
        double fraction = 0;
        uint64_t bytes = 0;
        PLIM_TRY(plim_settings_check_word(reader, "a class of ", reader->key));
        plim_settings_advance(reader);
        PLIM_TRY(plim_settings_expect(reader, ':', "a class"));
        PLIM_TRY(plim_settings_check_word(reader, "a class's value", ""));
        *ret_ignored |= !is_reserve(&reader->token, &fraction, &bytes);
        plim_settings_advance(reader);
        if (reader->token.kind != ']') {
            PLIM_TRY(plim_settings_expect(reader, ',', "a class's value"));
        }
    }
    plim_settings_advance(reader);
    return PLIM_OK;
}

static plim_status read_value(plim_settings_reader *reader, const plim_setting_row *row,
                              plim_settings *settings, bool *ret_ignored)
{
    void *const field = plim_setting_field(settings, row);
    switch (row->type) {
    case PLIM_TYPE_BOOL:
        return read_bool(reader, field);
    case PLIM_TYPE_MB:
        return read_mb(reader, plim_setting_min_mb(settings, row), field);
    case PLIM_TYPE_COUNT:
        return plim_settings_read_power(reader, "the number of threads", false, row->max, field);
    case PLIM_TYPE_FRACTION:
        return read_fraction(reader, row, field);
    case PLIM_TYPE_DIVISIONS:
        return plim_settings_read_divisions(reader, field);
    case PLIM_TYPE_BACKEND:
        return read_backend(reader, field);
    case PLIM_TYPE_RESERVE:
        return read_reserve(reader, settings, ret_ignored);
    case PLIM_TYPE_CLASSES:
        break;
    }
    return skip_classes(reader, ret_ignored);
}

bool plim_settings_read_value(const plim_setting_row *row, const char *value, uint64_t unit,
                              plim_settings *settings)
{
    plim_settings_reader reader;
    plim_settings_reader_init(&reader, "", value, NULL);
    reader.key = row->name;
    const bool is_size = row->type == PLIM_TYPE_MB;
    const bool is_unlimited = row->initial == PLIM_UNLIMITED && strcmp(value, "-1") == 0;
    const bool is_off =
        row->type == PLIM_TYPE_FRACTION && row->initial == 0 && strcmp(value, "0") == 0;
    if (is_unlimited || is_off) {
        plim_setting_reset(settings, row);
        return true;
    }
    uint64_t size = 0;
    if (is_size && plim_settings_peek_whole(&reader, &size) == PLIM_OK &&
        size <= UINT64_MAX / unit) {
        *(uint64_t *)plim_setting_field(settings, row) = size * unit;
        return true;
    }
    bool ignored = false;
    return !is_size && read_value(&reader, row, settings, &ignored) == PLIM_OK && !ignored &&
           reader.token.kind == '\0';
}

/* --- pairs --- */

static plim_status fail_key(const plim_settings_reader *reader)
{
    const char *const word = reader->token.word;
    const plim_settings_quote quote = plim_settings_quoted(reader);
    if (strchr(word, '=') != NULL) {
        return plim_settings_fail(reader, PLIM_CORRUPT, strcspn(word, "="),
                                  "expected ':' after a key, not '=' as in %s", quote.text);
    }
    const char *const nearest = plim_setting_key_nearest(word);
    return plim_settings_fail(reader, PLIM_CORRUPT, 0, "%s is not a setting%s%s%s", quote.text,
                              nearest == NULL ? "" : ", did you mean ",
                              nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
}

static plim_status read_pair(plim_settings_reader *reader, plim_setting_key key,
                             plim_settings *settings)
{
    const uint64_t large_segment_bytes = settings->large_segment_bytes;
    plim_settings_advance(reader);
    PLIM_TRY(plim_settings_expect(reader, ':', reader->key));
    bool ignored = false;
    PLIM_TRY(read_value(reader, &plim_setting_rows[key], settings, &ignored));
    settings->large_segment_bytes = large_segment_bytes; /* the last of them: found before */
    settings->given |= PLIM_SETTING_BIT(key);
    settings->ignored &= ~PLIM_SETTING_BIT(key);
    settings->ignored |= (uint32_t)ignored << key;
    return reader->token.kind == '\0' ? PLIM_OK : plim_settings_expect(reader, ',', "the value");
}

static plim_status read_next(plim_settings_reader *reader, const plim_settings_extra *extra,
                             plim_settings *settings)
{
    PLIM_TRY(plim_settings_check_word(reader, "a key", ""));
    plim_setting_key key = PLIM_SETTING_KEY_COUNT;
    if (plim_setting_key_find(reader->token.word, &key, &reader->key)) {
        return read_pair(reader, key, settings);
    }
    bool is_taken = false;
    if (extra != NULL) {
        PLIM_TRY(extra->take(extra->ctx, reader, &is_taken));
    }
    return is_taken ? PLIM_OK : fail_key(reader);
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
    const plim_setting_row *const row = &plim_setting_rows[PLIM_KEY_LARGE_SEGMENT_SIZE_MB];
    uint64_t bytes = bytes_before;
    plim_settings_reader reader;
    plim_settings_reader_init(&reader, "", text, NULL);
    reader.key = row->name;
    while (reader.token.kind == 'w') {
        const bool is_wanted = plim_settings_at_word(&reader, row->name);
        plim_settings_advance(&reader);
        if (reader.token.kind == ':') { /* else an extra */
            plim_settings_advance(&reader);
            if (!is_wanted) {
                skip_value(&reader);
            } else if (read_mb(&reader, row->min, &bytes) != PLIM_OK) {
                break;
            }
        }
        if (plim_settings_expect(&reader, ',', "") != PLIM_OK) {
            break;
        }
    }
    return bytes;
}

plim_status plim_settings_parse_from(const char *source, const char *text,
                                     const plim_settings_extra *extra, plim_settings *settings,
                                     plim_error *err)
{
    plim_settings next = *settings;
    next.large_segment_bytes = find_large_segment(text, settings->large_segment_bytes);
    next.given = 0;
    next.ignored = 0;
    for (size_t i = 0; i < PLIM_SETTING_KEY_COUNT; i++) {
        if (plim_setting_rows[i].is_reset) {
            plim_setting_reset(&next, &plim_setting_rows[i]);
        }
    }
    plim_settings_reader reader;
    plim_settings_reader_init(&reader, source, text, err);
    while (reader.token.kind != '\0') {
        PLIM_TRY(read_next(&reader, extra, &next));
    }
    memset(next.text, 0, sizeof next.text);
    memcpy(next.text, text, strnlen(text, sizeof next.text - 1));
    *settings = next;
    return PLIM_OK;
}

plim_status plim_settings_parse(const char *text, plim_settings *settings, plim_error *err)
{
    if (text == NULL || settings == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "settings: no %s",
                         text == NULL ? "string to parse" : "plim_settings to change");
    }
    return plim_settings_parse_from("settings", text, NULL, settings, err);
}

/* --- the environment --- */

/* Ours first; then PyTorch's, in the order its code asks for them. */
static const char *const variables[] = {
    "PLIMSOLL_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_HIP_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
};
#define VARIABLE_COUNT (sizeof variables / sizeof variables[0])

bool plim_settings_is_variable(const char *name)
{
    size_t i = 0;
    while (i < VARIABLE_COUNT && strcmp(variables[i], name) != 0) {
        i++;
    }
    return i < VARIABLE_COUNT;
}

plim_status plim_settings_from_environment(plim_settings *settings, const char **ret_variable,
                                           plim_error *err)
{
    if (settings == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "settings: no plim_settings to change");
    }
    plim_settings found = plim_settings_default();
    const char *variable = NULL;
    for (size_t i = 0; i < VARIABLE_COUNT && variable == NULL; i++) {
        const char *const text = getenv(variables[i]);
        if (text != NULL) { /* set to nothing is set, too */
            variable = variables[i];
            PLIM_TRY(plim_settings_parse_from(variable, text, NULL, &found, err));
        }
    }
    *settings = found;
    if (ret_variable != NULL) {
        *ret_variable = variable;
    }
    return PLIM_OK;
}
