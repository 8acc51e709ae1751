/*
 * settings_real.c - decimal numbers in and out, with a point whatever the program's locale is.
 */
#include "alloc/settings_real.h"

#include "base/ascii.h"
#include "base/assert.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The C locale is static data, so asking for it takes no memory. */
static locale_t enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static size_t count_digits(const char *text)
{
    size_t length = 0;
    while (plim_is_digit(text[length])) {
        length++;
    }
    return length;
}

size_t plim_settings_real_length(const char *text)
{
    size_t at = text[0] == '+' || text[0] == '-' ? 1 : 0;
    const size_t whole_digits = count_digits(text + at);
    at += whole_digits;
    size_t fraction_digits = 0;
    if (text[at] == '.') {
        fraction_digits = count_digits(text + at + 1);
        at += 1 + fraction_digits;
    }
    if (whole_digits + fraction_digits == 0) {
        return 0;
    }
    if (text[at] == 'e' || text[at] == 'E') {
        const size_t sign = text[at + 1] == '+' || text[at + 1] == '-' ? 1 : 0;
        const size_t digits = count_digits(text + at + 1 + sign);
        at += digits > 0 ? 1 + sign + digits : 0;
    }
    return at;
}

double plim_settings_real(const char *text)
{
    PLIM_ASSERT(plim_settings_real_length(text) > 0);

    const locale_t before = enter_c_locale();
    const double value = strtod(text, NULL);
    (void)uselocale(before);
    return value;
}

plim_settings_real_text plim_settings_format_real(double value)
{
    PLIM_ASSERT(isfinite(value));

    plim_settings_real_text real;
    const locale_t before = enter_c_locale();
    int digits = 1;
    do { /* 17 are always enough */
        snprintf(real.text, sizeof real.text, "%.*g", digits, value);
        digits++;
    } while (digits <= 17 && strtod(real.text, NULL) != value);
    (void)uselocale(before);
    return real;
}
