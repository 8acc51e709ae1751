/*
 * arguments.h - what several commands take as arguments, read the same way by all.
 *
 * What does not fit ends the program as any wrong usage does.
 */
#ifndef PLIMSOLL_CLI_ARGUMENTS_H
#define PLIMSOLL_CLI_ARGUMENTS_H

#include "report/term/style.h"

#include <argp.h>

/** A whole number between two others, both included. */
long plim_argument_number(struct argp_state *state, const char *option, const char *text,
                          long least, long most);

/** --color: auto, always or never. */
plim_color_choice plim_argument_color(struct argp_state *state, const char *text);

/** --width: columns. */
uint32_t plim_argument_width(struct argp_state *state, const char *text);

/** A size as people write it, "80GiB"; never 0. */
uint64_t plim_argument_size(struct argp_state *state, const char *option, const char *text);

#endif
