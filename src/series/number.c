/*
 * number.c - decimal numbers and units of memory.
 *
 * Units are powers of two, whatever the letters: PyTorch's users write GB and divide by 1024^3.
 */
#include "series/number.h"

#include <math.h>
#include <string.h>

/* Digits that fit 64 bits; what comes after only moves the point. */
#define SERIES_DIGITS_MAX 19u
#define EXPONENT_MAX      300

/* --- finding --- */

static size_t skip_digits(const char *line, size_t length, size_t at)
{
    while (at < length && plim_is_digit(line[at])) {
        at++;
    }
    return at;
}

/* After an exponent that begins at `at`, or `at`. */
static size_t skip_exponent(const char *line, size_t length, size_t at)
{
    if (at >= length || (line[at] | 32) != 'e') {
        return at;
    }
    size_t digits = at + 1;
    if (digits < length && (line[digits] == '+' || line[digits] == '-')) {
        digits++;
    }
    const size_t end = skip_digits(line, length, digits);
    return end > digits && (end == length || !plim_is_name(line[end])) ? end : at;
}

static size_t skip_fraction(const char *line, size_t length, size_t at)
{
    if (at + 1 < length && line[at] == '.' && plim_is_digit(line[at + 1])) {
        return skip_digits(line, length, at + 1);
    }
    return at;
}

/*
 * After groups of thousands from a comma at `at`, if they are followed by a unit: without one,
 * "10,200,300" is as well a list.
 */
static size_t skip_thousands(const char *line, size_t length, plim_series_span head)
{
    size_t at = head.end;
    if (head.end - head.at > 3) {
        return head.end;
    }
    while (at + 3 < length && line[at] == ',' && skip_digits(line, length, at + 1) == at + 4) {
        at += 4;
    }
    if (at == head.end) {
        return head.end;
    }
    const plim_series_span whole = { .at = head.at,
                                     .end = (uint32_t)skip_fraction(line, length, at) };
    const bool measured = plim_series_unit_after(line, length, whole).log2 >= 0;
    return measured ? at : head.end;
}

uint32_t plim_series_number_end(const char *line, size_t length, size_t at, bool with_commas)
{
    plim_series_span number = { .at = (uint32_t)at };
    number.end = (uint32_t)skip_digits(line, length, at);
    if (with_commas && number.end < length && line[number.end] == ',') {
        number.end = (uint32_t)skip_thousands(line, length, number);
    }
    return (uint32_t)skip_exponent(line, length, skip_fraction(line, length, number.end));
}

size_t plim_series_numbers(const char *line, size_t length, plim_series_span *ret, size_t count_max)
{
    size_t count = 0;
    size_t at = 0;
    while (count < count_max) {
        while (at < length && !plim_is_digit(line[at])) {
            at++;
        }
        if (at == length) {
            break;
        }
        const uint32_t end = plim_series_number_end(line, length, at, true);
        ret[count++] = (plim_series_span){ .at = (uint32_t)at, .end = end };
        at = end;
    }
    return count;
}

/* --- reading --- */

bool plim_series_number_is_whole(const char *line, plim_series_span number)
{
    return skip_digits(line, number.end, number.at) == number.end;
}

static double power_of_ten(int exponent)
{
    static const double small[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    return (size_t)exponent < sizeof small / sizeof *small ? small[exponent] : pow(10, exponent);
}

/* The exponent that begins with an 'e' at `at`; false if none does. */
static bool read_exponent(const char *line, size_t at, size_t end, int *ret)
{
    const bool is_negative = at + 1 < end && line[at + 1] == '-';
    at += at + 1 < end && (line[at + 1] == '-' || line[at + 1] == '+') ? 2 : 1;
    int value = 0;
    for (; at < end; at++) {
        if (!plim_is_digit(line[at])) {
            return false;
        }
        value = value > EXPONENT_MAX ? value : value * 10 + (line[at] - '0');
    }
    *ret = is_negative ? -value : value;
    return true;
}

bool plim_series_number_read(const char *line, plim_series_span number, double *ret)
{
    uint64_t digits = 0;
    unsigned digit_count = 0;
    int exponent = 0;
    bool in_fraction = false;
    size_t at = number.at;
    for (; at < number.end; at++) {
        const unsigned digit = (unsigned char)line[at] - (unsigned)'0';
        if (digit <= 9) {
            if (digit_count < SERIES_DIGITS_MAX) {
                digits = digits * 10 + digit;
                digit_count += digits > 0 ? 1 : 0;
                exponent -= in_fraction ? 1 : 0;
            } else {
                exponent += in_fraction ? 0 : 1;
            }
        } else if (line[at] == '.' && !in_fraction) {
            in_fraction = true;
        } else if (line[at] != ',') {
            break;
        }
    }
    if (at < number.end) {
        int more = 0;
        if ((line[at] | 32) != 'e' || !read_exponent(line, at, number.end, &more)) {
            return false;
        }
        exponent += more;
    }
    if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX) {
        return false;
    }
    *ret = exponent < 0 ? (double)digits / power_of_ten(-exponent)
                        : (double)digits * power_of_ten(exponent);
    return *ret < 1e300;
}

/* --- units --- */

/* The row of a word, which is not empty, in [units], or NULL. */
static const plim_series_word *find_unit(const char *word, size_t length)
{
    const plim_series_vocabulary *const all = plim_series_vocabulary_shared();
    uint8_t row = plim_series_chain_of(&all->unit_chains, word[0]);
    for (; row != 0; row = all->unit_chains.next[row - 1]) {
        const char *const unit = all->units[row - 1].text;
        size_t at = 1;
        while (at < length && unit[at] != '\0' && unit[at] == plim_lower(word[at])) {
            at++;
        }
        if (at == length && unit[at] == '\0') {
            return &all->units[row - 1];
        }
    }
    return NULL;
}

int8_t plim_series_unit_of(const char *word, size_t length)
{
    /* Most words are not units: look at their first letter before anything else. */
    if (length == 0 || strchr("bkmgt", plim_lower(word[0])) == NULL) {
        return PLIM_UNIT_NONE;
    }
    const plim_series_word *const unit = find_unit(word, length);
    return unit != NULL && unit->log2 >= 0 ? unit->log2 : PLIM_UNIT_NONE;
}

/* Words that may follow a number of something else, "10 iterations" apart. */
static bool measures_something_else(const char *word, size_t length)
{
    const plim_series_word *const unit = find_unit(word, length);
    return unit != NULL && unit->log2 == PLIM_UNIT_ELSE;
}

/* A single letter only means a unit when it is large: 3400M, but 5m and 10s are times. */
static int8_t unit_word(const char *word, size_t length)
{
    return length == 1 && !plim_is_upper(word[0]) ? PLIM_UNIT_NONE
                                                  : plim_series_unit_of(word, length);
}

plim_series_unit plim_series_unit_after(const char *line, size_t length, plim_series_span number)
{
    plim_series_unit unit = { .log2 = PLIM_UNIT_NONE, .text = { number.end, number.end } };
    size_t at = number.end;
    while (at < length && at < number.end + 2 && line[at] == ' ') {
        at++;
    }
    const bool is_glued = at == number.end;
    size_t end = at;
    while (end < length && plim_is_alphabetic(line[end])) {
        end++;
    }
    if (end == at) {
        if (at < length && line[at] == '%') {
            unit.log2 = PLIM_UNIT_ELSE;
            unit.text.end = (uint32_t)at + 1;
        }
        return unit;
    }
    const int8_t log2 = unit_word(line + at, end - at);
    const bool is_whole_word = end == length || !plim_is_name(line[end]);
    const bool is_rate = end + 1 < length && line[end] == '/' && plim_is_alphabetic(line[end + 1]);
    if (log2 >= 0 && is_whole_word && !is_rate) {
        unit.log2 = log2;
    } else if (is_glued || is_rate || measures_something_else(line + at, end - at)) {
        unit.log2 = PLIM_UNIT_ELSE;
    }
    while (unit.log2 == PLIM_UNIT_ELSE && end + 1 < length && line[end] == '/' &&
           plim_is_alphabetic(line[end + 1])) {
        for (end++; end < length && plim_is_alphabetic(line[end]);) {
            end++; /* "images/s" */
        }
    }
    if (unit.log2 != PLIM_UNIT_NONE) {
        unit.text = (plim_series_span){ .at = (uint32_t)at, .end = (uint32_t)end };
    }
    return unit;
}
