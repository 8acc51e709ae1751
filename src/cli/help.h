/*
 * help.h - a command's help, from the table of its options.
 *
 * argp could print it, but aborts when it finds no memory to sort options with; and this way
 * examples stand where a reader looks for them.
 */
#ifndef PLIMSOLL_CLI_HELP_H
#define PLIMSOLL_CLI_HELP_H

#include <argp.h>

/* What a command tells about itself; strings are constants. */
typedef struct plim_help {
    const char *arguments; /* "FILE..." */
    const char *purpose;   /* a sentence or two */
    const struct argp_option *options;
    const char *const *examples; /* pairs: the command line, what it gives; then NULL */
    const char *closing;         /* exit statuses and such */
} plim_help;

/* Keys of the options that every command has, and the first for its own: beyond characters. */
enum { PLIM_OPTION_HELP = 'h', PLIM_OPTION_USAGE = 0x100, PLIM_OPTION_FIRST };

/** Print it; returns the exit status. */
int plim_help_print(const char *who, const plim_help *help);
/** Only the line with the arguments. */
int plim_help_print_usage(const char *who, const plim_help *help);

#endif
