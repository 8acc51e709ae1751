/* trace.c - see trace.h. */
#include "standin/core/trace.h"

#include "standin/core/stage.h"

#include <stdarg.h>
#include <stdio.h>

void plim_standin_trace(const char *format, ...)
{
    if (!plim_standin_settings()->prints_calls) {
        return;
    }
    /* One write per line, so that lines of two threads do not mix. */
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "plimsoll: %s\n", line);
}
