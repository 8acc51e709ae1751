/*
 * stage.c - see stage.h.
 */
#include "standin/core/stage.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_DEVICE_FAILED 3

static plim_stage *stage;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

/* Without exit(): its handlers would come back here. */
static _Noreturn void end(const char *text)
{
    (void)fprintf(stderr, "plimsoll: %s\n", text);
    _exit(EXIT_DEVICE_FAILED);
}

static void open_stage(void)
{
    const char *path = getenv(PLIM_STAGE_VARIABLE);
    if (path == NULL || path[0] == '\0') {
        end("the CUDA stand-ins work only in a program that `plimsoll rehearse` started: "
            "no " PLIM_STAGE_VARIABLE " in the environment");
    }
    plim_error err = { 0 };
    if (plim_stage_open(path, &stage, &err) != PLIM_OK) {
        end(err.message);
    }
}

plim_stage *plim_standin_stage(void)
{
    (void)pthread_once(&opened, open_stage);
    return stage;
}

const plim_stage_settings *plim_standin_settings(void)
{
    return plim_stage_get_settings(plim_standin_stage());
}

/* ---- traces ---------------------------------------------------------------------------------- */

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
