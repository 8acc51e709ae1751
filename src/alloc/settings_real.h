/*
 * settings_real.h - numbers with a fraction in settings, in any locale.
 */
#ifndef PLIMSOLL_ALLOC_SETTINGS_REAL_H
#define PLIMSOLL_ALLOC_SETTINGS_REAL_H

#include <stddef.h>

/* How many characters at the start of `text` are a decimal number like 0.5, .5, -1 or 1e-3; 0 when
 * it does not start with one. No hexadecimals, infinities and the like. */
size_t plim_settings_real_length(const char *text);
/* That number. */
double plim_settings_real(const char *text);

typedef struct plim_settings_real_text {
    char text[32];
} plim_settings_real_text;
/* The fewest digits that read back as `value`, which is finite. */
plim_settings_real_text plim_settings_format_real(double value);

#endif
