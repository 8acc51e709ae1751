/*
 * arguments.c - reading numbers, sizes and choices from the command line.
 */
#include "cli/arguments.h"

#include "base/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

long plim_argument_number(struct argp_state *state, const char *option, const char *text,
                          long least, long most)
{
    char *end = NULL;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < least || number > most) {
        argp_error(state, "--%s takes a number from %ld to %ld, not \"%s\"", option, least, most,
                   text);
    }
    return number;
}

plim_color_choice plim_argument_color(struct argp_state *state, const char *text)
{
    static const char *const choices[] = { "auto", "always", "never" }; /* as in the enum */
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, choices[i]) == 0) {
            return (plim_color_choice)i;
        }
    }
    argp_error(state, "--color takes auto, always or never, not \"%s\"", text);
    return PLIM_COLOR_AUTO;
}

uint32_t plim_argument_width(struct argp_state *state, const char *text)
{
    return (uint32_t)plim_argument_number(state, "width", text, PLIM_STYLE_WIDTH_MIN,
                                          PLIM_STYLE_WIDTH_MAX);
}

uint64_t plim_argument_size(struct argp_state *state, const char *option, const char *text)
{
    uint64_t bytes = 0;
    plim_error err;
    if (plim_size_parse(text, &bytes, &err) != PLIM_OK) {
        argp_error(state, "--%s: %s", option, err.message);
    }
    if (bytes == 0) {
        argp_error(state, "--%s takes a size such as 80GiB, not \"%s\"", option, text);
    }
    return bytes;
}
