/*
 * values.c - see values.h.
 */
#include "rmm/values.h"

#include "base/ascii.h"

#define US_PER_SECOND INT64_C(1000000)
#define SECONDS_MAX   INT64_C(9000000000) /* the year 2255 */
#define FRACTION_MAX  6                   /* digits of microseconds; further ones are dropped */

static int hex_digit(char c)
{
    const char lower = plim_lower(c);
    return plim_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool plim_rmm_address(plim_csv_field field, uint64_t *ret_address)
{
    if (field.bytes == 0 || plim_csv_is(field, "(nil)")) {
        *ret_address = 0;
        return true;
    }
    const bool has_prefix =
        field.bytes > 2 && field.text[0] == '0' && plim_lower(field.text[1]) == 'x';
    uint64_t address = 0;
    for (size_t i = has_prefix ? 2 : 0; i < field.bytes; i++) {
        const int digit = hex_digit(field.text[i]);
        if (digit < 0 || address >> 60 != 0) {
            return false;
        }
        address = address << 4 | (uint64_t)digit;
    }
    *ret_address = address;
    return true;
}

bool plim_rmm_bytes(plim_csv_field field, uint64_t *ret_bytes)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < field.bytes; i++) {
        const uint64_t digit = (uint64_t)(field.text[i] - '0');
        if (!plim_is_digit(field.text[i]) || bytes > (UINT64_MAX - digit) / 10) {
            return false;
        }
        bytes = bytes * 10 + digit;
    }
    *ret_bytes = bytes;
    return field.bytes > 0;
}

/* Digits at *at, as a number up to `max`; false: no digit, or it is larger. */
static bool read_digits(plim_csv_field field, size_t *at, int64_t max, int64_t *ret_number)
{
    int64_t number = 0;
    const size_t begin = *at;
    for (; *at < field.bytes && plim_is_digit(field.text[*at]); ++*at) {
        number = number * 10 + (field.text[*at] - '0');
        if (number > max) {
            return false;
        }
    }
    *ret_number = number;
    return *at > begin;
}

/* The part after the seconds: nothing, or a separator and a fraction that ends the field. */
static bool read_fraction(plim_csv_field field, size_t at, int64_t *ret_us)
{
    int64_t us = 0;
    int digits = 0;
    if (at < field.bytes && (field.text[at] == '.' || field.text[at] == ':')) {
        for (at++; at < field.bytes && plim_is_digit(field.text[at]); at++) {
            us = digits < FRACTION_MAX ? us * 10 + (field.text[at] - '0') : us;
            digits += digits < FRACTION_MAX;
        }
    }
    for (; digits < FRACTION_MAX; digits++) {
        us *= 10;
    }
    *ret_us = us;
    return at == field.bytes;
}

plim_rmm_clock plim_rmm_time(plim_csv_field field, int64_t *ret_us)
{
    size_t at = 0;
    int64_t seconds = 0;
    int64_t minutes = 0;
    int64_t us = 0;
    plim_rmm_clock clock = PLIM_RMM_CLOCK_EPOCH;
    if (!read_digits(field, &at, SECONDS_MAX, &seconds)) {
        return PLIM_RMM_CLOCK_NONE;
    }
    if (at < field.bytes && field.text[at] == ':') {
        const int64_t hours = seconds;
        at++;
        if (hours > 23 || !read_digits(field, &at, 59, &minutes) || at >= field.bytes ||
            field.text[at] != ':') {
            return PLIM_RMM_CLOCK_NONE;
        }
        at++;
        if (!read_digits(field, &at, 60, &seconds)) {
            return PLIM_RMM_CLOCK_NONE;
        }
        seconds += hours * 3600 + minutes * 60;
        clock = PLIM_RMM_CLOCK_DAY;
    }
    if (!read_fraction(field, at, &us)) {
        return PLIM_RMM_CLOCK_NONE;
    }
    *ret_us = seconds * US_PER_SECOND + us;
    return clock;
}
