/*
 * help.h - a command's help, from the rows of its options.
 *
 * argp could print it, but aborts when it finds no memory to sort options with; and this way
 * examples stand where a reader looks for them.
 */
#ifndef PLIMSOLL_CLI_HELP_H
#define PLIMSOLL_CLI_HELP_H

#include "cli/options.h"

/** Print it; returns the exit status. */
int plim_help_print(const char *who, const plim_usage *usage);
/** Only the line with the arguments. */
int plim_help_print_usage(const char *who, const plim_usage *usage);

#endif
