/*
 * settings_value.c - words as values. Ranges and, where they are good, words are PyTorch's
 * (pytorch-caching-allocator §9.2).
 */
#include "alloc/settings_value.h"

#include "alloc/settings_real.h"
#include "base/error.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>

#define MB_MAX (UINT64_MAX / MIB)

/* A word that is a value stands here, and is not cut. */
static plim_status check_word(const plim_settings_reader *reader)
{
    const plim_settings_token *const token = &reader->token;
    if (token->kind != 'w') {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "expected a value of %s, not %s",
                                  reader->key, plim_settings_quoted(reader).text);
    }
    if (token->length >= PLIM_SETTINGS_WORD_BYTES) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "%s is too long for a value (%s)",
                                  plim_settings_quoted(reader).text, reader->key);
    }
    return PLIM_OK;
}

plim_status plim_settings_read_bool(plim_settings_reader *reader, bool *ret_value)
{
    PLIM_TRY(check_word(reader));
    const bool is_true = plim_settings_at_word(reader, "True");
    if (!is_true && !plim_settings_at_word(reader, "False")) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0, "%s is not True or False (%s)",
                                  plim_settings_quoted(reader).text, reader->key);
    }
    plim_settings_advance(reader);
    *ret_value = is_true;
    return PLIM_OK;
}

/* Digits only, below 2^64. The reader stays, so that a caller can still complain of the value. */
static plim_status peek_whole(const plim_settings_reader *reader, uint64_t *ret_value)
{
    PLIM_TRY(check_word(reader));
    const char *const word = reader->token.word;
    uint64_t value = 0;
    bool fits = true;
    for (size_t i = 0; i < reader->token.length; i++) {
        if (word[i] < '0' || word[i] > '9') {
            return plim_settings_fail(reader, PLIM_CORRUPT, i, "%s is not a whole number (%s)",
                                      plim_settings_quoted(reader).text, reader->key);
        }
        const uint64_t digit = (uint64_t)(word[i] - '0');
        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    if (!fits) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s is too large, must be < 2^64 (%s)",
                                  plim_settings_quoted(reader).text, reader->key);
    }
    *ret_value = value;
    return PLIM_OK;
}

plim_status plim_settings_read_mb(plim_settings_reader *reader, uint64_t mb_min,
                                  uint64_t *ret_bytes)
{
    uint64_t mb = 0;
    PLIM_TRY(peek_whole(reader, &mb));
    if (mb < mb_min) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s too small, must be >= %" PRIu64 ", not %" PRIu64, reader->key,
                                  mb_min, mb);
    }
    plim_settings_advance(reader);
    *ret_bytes = (mb < MB_MAX ? mb : MB_MAX) * MIB;
    return PLIM_OK;
}

plim_status plim_settings_read_fraction(plim_settings_reader *reader, bool with_ends,
                                        double *ret_value)
{
    PLIM_TRY(check_word(reader));
    const size_t length = plim_settings_real_length(reader->token.word);
    if (length != reader->token.length) {
        return plim_settings_fail(reader, PLIM_CORRUPT, length, "%s is not a number (%s)",
                                  plim_settings_quoted(reader).text, reader->key);
    }
    const double value = plim_settings_real(reader->token.word);
    const bool fine = with_ends ? value >= 0 && value <= 1 : value > 0 && value < 1;
    if (!fine) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s is invalid, set it in %s, like 0.8; not %s", reader->key,
                                  with_ends ? "[0.0, 1.0]" : "(0.0, 1.0)",
                                  plim_settings_quoted(reader).text);
    }
    plim_settings_advance(reader);
    *ret_value = value + 0.0; /* -0 is 0 */
    return PLIM_OK;
}

plim_status plim_settings_read_power(plim_settings_reader *reader, const char *what, bool with_zero,
                                     uint64_t max, uint64_t *ret_value)
{
    uint64_t value = 0;
    PLIM_TRY(peek_whole(reader, &value));
    const bool is_power = value != 0 && (value & (value - 1)) == 0;
    if (!is_power && !(with_zero && value == 0)) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s must be a power of 2%s, like 4, not %" PRIu64 " (%s)", what,
                                  with_zero ? " or 0 to disable rounding" : "", value, reader->key);
    }
    if (value > max) {
        return plim_settings_fail(reader, PLIM_INVALID_ARGUMENT, 0,
                                  "%s must be at most %" PRIu64 ", not %" PRIu64 " (%s)", what, max,
                                  value, reader->key);
    }
    plim_settings_advance(reader);
    *ret_value = value;
    return PLIM_OK;
}

plim_status plim_settings_read_backend(plim_settings_reader *reader, plim_backend *ret_backend)
{
    PLIM_TRY(check_word(reader));
    plim_backend backend = PLIM_BACKEND_NATIVE;
    if (plim_settings_at_word(reader, "cudaMallocAsync") ||
        plim_settings_at_word(reader, "hipMallocAsync")) {
        backend = PLIM_BACKEND_CUDA_MALLOC_ASYNC;
    } else if (!plim_settings_at_word(reader, "native")) {
        return plim_settings_fail(reader, PLIM_CORRUPT, 0,
                                  "%s is not native or cudaMallocAsync (%s)",
                                  plim_settings_quoted(reader).text, reader->key);
    }
    plim_settings_advance(reader);
    *ret_backend = backend;
    return PLIM_OK;
}

bool plim_settings_read_reserve(const char *word, double *ret_fraction, uint64_t *ret_bytes)
{
    const size_t length = plim_settings_real_length(word);
    if (length == 0) {
        return false;
    }
    const double number = plim_settings_real(word);
    const bool in_gib = word[length] == 'G' || word[length] == 'g';
    if (word[length + in_gib] != '\0' || !(number > 0) || !isfinite(number)) {
        return false;
    }
    if (!in_gib) {
        *ret_fraction = number;
        *ret_bytes = 0;
        return true;
    }
    const double bytes = number * (double)GIB;
    if (bytes < 1) {
        return false;
    }
    *ret_fraction = 0;
    *ret_bytes = bytes < 0x1p64 ? (uint64_t)bytes : UINT64_MAX;
    return true;
}
