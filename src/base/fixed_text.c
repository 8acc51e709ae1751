/*
 * fixed_text.c - a bounded text writer, with the semantics of snprintf().
 */
#include "base/fixed_text.h"

#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>

plim_fixed_text plim_fixed_text_begin(char *text, size_t bytes)
{
    PLIM_ASSERT(text != NULL || bytes == 0);
    if (bytes > 0) {
        text[0] = '\0';
    }
    return (plim_fixed_text){ .text = text, .bytes = bytes };
}

void plim_fixed_text_put(plim_fixed_text *out, const char *format, ...)
{
    const size_t room = out->length < out->bytes ? out->bytes - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(room > 0 ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
    PLIM_ASSERT(length >= 0);
    out->length += (size_t)length;
}
