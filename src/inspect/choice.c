/*
 * choice.c - the names of moments.
 */
#include "plimsoll/inspect.h"

#include "base/ascii.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number from 0, with `rest` after it. */
static bool read_number(const char *text, uint64_t *ret, const char **ret_rest)
{
    char *rest = NULL;
    errno = 0;
    *ret = strtoull(text, &rest, 10);
    *ret_rest = rest;
    return plim_is_digit(*text) && errno == 0;
}

/* Of a kind's names, the first is the one that is written. */
static const struct {
    const char *prefix; /* before the number */
    const char *suffix; /* after it */
    plim_moment_kind kind;
} numbered[] = {
    { "event:", "", PLIM_MOMENT_EVENT },       { "", "", PLIM_MOMENT_EVENT },
    { "step:", "", PLIM_MOMENT_STEP_PEAK },    { "step:", ":peak", PLIM_MOMENT_STEP_PEAK },
    { "step:", ":end", PLIM_MOMENT_STEP_END }, { "oom:", "", PLIM_MOMENT_OOM },
};
static const struct {
    const char *name;
    plim_moment_kind kind;
} plain[] = {
    { "peak", PLIM_MOMENT_PEAK },
    { "start", PLIM_MOMENT_START },
    { "end", PLIM_MOMENT_END },
    { "oom", PLIM_MOMENT_OOM },
};

bool plim_moment_parse(const char *text, plim_moment_choice *ret_choice)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strcmp(text, plain[i].name) == 0) {
            *ret_choice = (plim_moment_choice){ .kind = plain[i].kind };
            return true;
        }
    }
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++) {
        const size_t length = strlen(numbered[i].prefix);
        uint64_t number = 0;
        const char *rest = "";
        if (strncmp(text, numbered[i].prefix, length) == 0 &&
            read_number(text + length, &number, &rest) && strcmp(rest, numbered[i].suffix) == 0) {
            *ret_choice = (plim_moment_choice){ .kind = numbered[i].kind, .number = number };
            return true;
        }
    }
    return false;
}

void plim_moment_text(plim_moment_choice choice, char text[PLIM_MOMENT_TEXT_BYTES])
{
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++) {
        if (numbered[i].kind == choice.kind) {
            (void)snprintf(text, PLIM_MOMENT_TEXT_BYTES, "%s%" PRIu64 "%s", numbered[i].prefix,
                           choice.number, numbered[i].suffix);
            return;
        }
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (plain[i].kind == choice.kind) {
            (void)snprintf(text, PLIM_MOMENT_TEXT_BYTES, "%s", plain[i].name);
            return;
        }
    }
}
