/*
 * numbers.c - see numbers.h.
 */
#include "profiler/numbers.h"

#include "base/ascii.h"

#define NS_DIGITS 3 /* of a microsecond */

bool plim_trace_unsigned(const char *text, size_t bytes, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++) {
        const uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (!plim_is_digit(text[i]) || number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *ret_number = number;
    return bytes > 0;
}

bool plim_trace_integer(const char *text, size_t bytes, int64_t *ret_integer)
{
    const bool is_negative = bytes > 0 && text[0] == '-';
    uint64_t number = 0;
    if (!plim_trace_unsigned(text + is_negative, bytes - is_negative, &number) ||
        number > INT64_MAX) {
        return false;
    }
    *ret_integer = is_negative ? -(int64_t)number : (int64_t)number;
    return true;
}

bool plim_trace_ns(const char *text, size_t bytes, int64_t *ret_ns)
{
    const bool is_negative = bytes > 0 && text[0] == '-';
    uint64_t ns = 0;
    int fraction = -1; /* digits of it so far; -1: the point is still to come */
    for (size_t i = is_negative; i < bytes && fraction < NS_DIGITS; i++) {
        if (text[i] == '.' && fraction < 0) {
            fraction = 0;
            continue;
        }
        if (!plim_is_digit(text[i]) || ns > (uint64_t)INT64_MAX / 10 - 9) {
            return false;
        }
        ns = ns * 10 + (uint64_t)(text[i] - '0');
        fraction += fraction >= 0;
    }
    for (fraction = fraction < 0 ? 0 : fraction; fraction < NS_DIGITS; fraction++) {
        if (ns > (uint64_t)INT64_MAX / 10) {
            return false;
        }
        ns *= 10;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (plim_lower(text[i]) == 'e') {
            return false;
        }
    }
    *ret_ns = is_negative ? -(int64_t)ns : (int64_t)ns;
    return bytes > is_negative;
}
