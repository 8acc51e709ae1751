/*
 * decimal.c - decimal numbers in and out, in any locale.
 */
#include "base/decimal.h"

#include "base/assert.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The decimal point of the program's locale, whatever its bytes, becomes a dot. */
static void use_points(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (strchr("0123456789+-e", *from) != NULL) {
            *to++ = *from;
        } else if (to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

plim_decimal_text plim_format_decimal(double value)
{
    PLIM_ASSERT(isfinite(value));

    /* DBL_DIG digits survive any trip, so fewer are never needed: %g drops trailing zeros. Only
     * numbers near zero have less than that to say. 17 digits are always enough. */
    plim_decimal_text decimal;
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    do {
        snprintf(decimal.text, sizeof decimal.text, "%.*g", digits, value);
        digits++;
    } while (digits <= 17 && strtod(decimal.text, NULL) != value);
    use_points(decimal.text);
    return decimal;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

size_t plim_decimal_length(const char *text)
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

double plim_decimal_read(const char *text)
{
    PLIM_ASSERT(plim_decimal_length(text) > 0);

    /* The C locale is static data, so asking for it takes no memory. */
    const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    const double value = strtod(text, NULL);
    (void)uselocale(before);
    return value;
}
