/*
 * decimal.h - numbers with a fraction as text, with a point whatever the program's locale is.
 */
#ifndef PLIMSOLL_BASE_DECIMAL_H
#define PLIMSOLL_BASE_DECIMAL_H

#include <stddef.h>

/* A short text by value: printf("%s", plim_format_decimal(x).text) */
typedef struct plim_decimal_text {
    char text[40];
} plim_decimal_text;

/* The fewest digits that read back as `value`, which is finite: "0.8", "1e-05". */
plim_decimal_text plim_format_decimal(double value);

/* Number of characters at the start of `text` are a decimal number like 0.5, .5, -1 or 1e-3; 0 when
 * it does not start with one. No hexadecimals, infinities and the like. */
size_t plim_decimal_length(const char *text);
/* The number that `text` starts with. */
double plim_decimal_read(const char *text);

#endif
