/*
 * size.c - parsing and formatting of sizes and other numbers for people.
 *
 * All in integers: what is printed is the nearest value of three digits, halves up, and what is
 * read is exact up to the last byte.
 */
#include "base/size.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h" /* plim_uint128 */

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* --- reading --- */

/* The most that fits 64 bits; even of the largest unit, 2^60 bytes, more would not make half a
 * byte. */
#define FRACTION_DIGITS_MAX 19

static const char unit_letters[] = "KMGTPE";

typedef struct size_reader {
    const char *text;
    const char *at;
    plim_error *err;
} size_reader;

static plim_status fail_size(const size_reader *reader, const char *what)
{
    const uint64_t place = (uint64_t)(reader->at - reader->text);
    return plim_fail_at(reader->err, PLIM_INVALID_ARGUMENT, place,
                        "\"%.60s\" is not a size: %s at character %" PRIu64
                        "; write one like 512B, 20MiB or 1.5GiB",
                        reader->text, what, place + 1);
}

static void skip_blanks(size_reader *reader)
{
    while (*reader->at == ' ' || *reader->at == '\t') {
        reader->at++;
    }
}

static plim_status read_whole(size_reader *reader, uint64_t *ret)
{
    if (*reader->at == '-') {
        return fail_size(reader, "a size cannot be negative,");
    }
    if (!plim_is_digit(*reader->at)) {
        return fail_size(reader, "a digit is missing");
    }
    uint64_t value = 0;
    for (; plim_is_digit(*reader->at); reader->at++) {
        const uint64_t digit = (uint64_t)(*reader->at - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return fail_size(reader, "the number is too large");
        }
        value = value * 10 + digit;
    }
    *ret = value;
    return PLIM_OK;
}

/* Digits after a point as *ret_digits / *ret_scale; 0 / 1 when there is no point. */
static plim_status read_fraction(size_reader *reader, uint64_t *ret_digits, uint64_t *ret_scale)
{
    uint64_t digits = 0;
    uint64_t scale = 1;
    if (*reader->at == '.') {
        reader->at++;
        if (!plim_is_digit(*reader->at)) {
            return fail_size(reader, "a digit is missing");
        }
        for (int i = 0; plim_is_digit(*reader->at); i++, reader->at++) {
            if (i < FRACTION_DIGITS_MAX) {
                digits = digits * 10 + (uint64_t)(*reader->at - '0');
                scale *= 10;
            }
        }
    }
    *ret_digits = digits;
    *ret_scale = scale;
    return PLIM_OK;
}

/* The unit as the power of two it is; false, and nothing is read, where none stands. */
static bool read_unit_log2(size_reader *reader, unsigned *ret_log2)
{
    const char letter = plim_upper(*reader->at);
    *ret_log2 = 0;
    if (letter == 'B') {
        reader->at++;
        return true;
    }
    const char *found = letter == '\0' ? NULL : strchr(unit_letters, letter);
    if (found == NULL) {
        return false;
    }
    reader->at++;
    if (plim_upper(reader->at[0]) == 'I' && plim_upper(reader->at[1]) == 'B') {
        reader->at += 2;
    } else if (plim_upper(reader->at[0]) == 'B') {
        reader->at++;
    }
    *ret_log2 = 10u * (unsigned)(found - unit_letters + 1);
    return true;
}

plim_status plim_size_parse(const char *text, uint64_t *ret_bytes, plim_error *err)
{
    PLIM_ASSERT(text != NULL);

    size_reader reader = { .text = text, .at = text, .err = err };
    uint64_t whole = 0;
    uint64_t digits = 0;
    uint64_t scale = 1;
    skip_blanks(&reader);
    PLIM_TRY(read_whole(&reader, &whole));
    const char *point = reader.at;
    PLIM_TRY(read_fraction(&reader, &digits, &scale));
    skip_blanks(&reader);
    unsigned log2 = 0;
    const bool has_unit = read_unit_log2(&reader, &log2);
    skip_blanks(&reader);
    if (*reader.at != '\0') {
        return fail_size(&reader, "something does not belong,");
    }
    if (!has_unit && (whole > 0 || digits > 0)) {
        return fail_size(&reader, "a unit is missing");
    }
    if (log2 == 0 && digits > 0) {
        reader.at = point;
        return fail_size(&reader, "bytes have no fractions,");
    }
    const plim_uint128 part = (((plim_uint128)digits << log2) + scale / 2) / scale;
    const plim_uint128 bytes = ((plim_uint128)whole << log2) + part;
    if (bytes > UINT64_MAX) {
        reader.at = text;
        return fail_size(&reader, "it is 16 EiB or more,");
    }
    *ret_bytes = (uint64_t)bytes;
    return PLIM_OK;
}

/* --- writing --- */

/* value / unit to the nearest 1/scale, halves up, times scale. */
static uint64_t scaled(uint64_t value, uint64_t unit, uint64_t scale)
{
    return (uint64_t)(((plim_uint128)value * scale + unit / 2) / unit);
}

/*
 * value / unit with three significant digits (four from 1000 on) and the unit's name after them.
 * False when that comes out as `limit` or more, which is for the next unit to say.
 */
static bool three_digits(uint64_t value, uint64_t unit, uint64_t limit, const char *name,
                         plim_short_text *ret)
{
    const uint64_t hundredths = scaled(value, unit, 100);
    const uint64_t tenths = scaled(value, unit, 10);
    const uint64_t ones = scaled(value, unit, 1);
    if (ones >= limit) {
        return false;
    }
    if (hundredths < 1000) {
        snprintf(ret->text, sizeof ret->text, "%" PRIu64 ".%02" PRIu64 " %s", hundredths / 100,
                 hundredths % 100, name);
    } else if (tenths < 1000) {
        snprintf(ret->text, sizeof ret->text, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10,
                 tenths % 10, name);
    } else {
        snprintf(ret->text, sizeof ret->text, "%" PRIu64 " %s", ones, name);
    }
    return true;
}

plim_short_text plim_format_bytes(uint64_t bytes)
{
    plim_short_text result;
    if (bytes < 1024) {
        snprintf(result.text, sizeof result.text, "%" PRIu64 " B", bytes);
        return result;
    }
    for (unsigned i = 0; unit_letters[i] != '\0'; i++) {
        const char name[] = { unit_letters[i], 'i', 'B', '\0' };
        if (three_digits(bytes, (uint64_t)1 << (10 * (i + 1)), 1024, name, &result)) {
            break; /* at the latest with EiB, of which there are 16 */
        }
    }
    return result;
}

plim_short_text plim_format_count(uint64_t count)
{
    plim_short_text result;
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            result.text[at++] = ',';
        }
        result.text[at++] = digits[i];
    }
    result.text[at] = '\0';
    return result;
}

plim_short_text plim_format_percent(double share)
{
    plim_short_text result;
    if (isnan(share)) {
        snprintf(result.text, sizeof result.text, "-");
        return result;
    }
    /* Tenths of a percent; far beyond what a share can be there is nothing left to say. */
    const double tenths = fmax(fmin(round(share * 1000), 1e15), -1e15);
    int64_t rounded = (int64_t)tenths;
    const char *side = rounded < 0 ? "-" : "";
    if (share > 0 && rounded == 0) {
        side = "<";
        rounded = 1;
    } else if (share < 1 && rounded == 1000) {
        side = ">";
        rounded = 999;
    }
    const uint64_t size = rounded < 0 ? (uint64_t)-rounded : (uint64_t)rounded;
    snprintf(result.text, sizeof result.text, "%s%" PRIu64 ".%" PRIu64 "%%", side, size / 10,
             size % 10);
    return result;
}

#define SECOND_US ((uint64_t)1000000)
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US   (60 * MINUTE_US)
#define DAY_US    (24 * HOUR_US)

plim_short_text plim_format_duration_us(uint64_t duration_us)
{
    static const struct {
        uint64_t unit_us;
        uint64_t part_us;
        uint64_t parts; /* of a unit */
        const char *unit;
        const char *part;
    } pairs[] = {
        { MINUTE_US, SECOND_US, 60, "min", "s" },
        { HOUR_US, MINUTE_US, 60, "h", "min" },
        { DAY_US, HOUR_US, 24, "d", "h" },
    };
    plim_short_text result;
    if (duration_us < 1000) {
        snprintf(result.text, sizeof result.text, "%" PRIu64 " us", duration_us);
        return result;
    }
    if (three_digits(duration_us, 1000, 1000, "ms", &result) ||
        three_digits(duration_us, SECOND_US, 60, "s", &result)) {
        return result;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const bool is_last = i + 1 == sizeof pairs / sizeof *pairs;
        const uint64_t parts = scaled(duration_us, pairs[i].part_us, 1);
        if (is_last || parts < pairs[i + 1].unit_us / pairs[i].part_us) {
            snprintf(result.text, sizeof result.text, "%" PRIu64 " %s %02" PRIu64 " %s",
                     parts / pairs[i].parts, pairs[i].unit, parts % pairs[i].parts, pairs[i].part);
            break;
        }
    }
    return result;
}
