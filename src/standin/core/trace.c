/* trace.c - see trace.h. */
#include "standin/core/trace.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_on(void)
{
    const char *value = getenv("PLIM_STANDIN_TRACE");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

void plim_standin_trace(const char *format, ...)
{
    if (!is_on()) {
        return;
    }
    /* One write per line, so that lines of two threads do not mix. */
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "standin: %s\n", line);
}
