/*
 * techniques.h - the options --with of rehearse and run, --only and --also of fit.
 */
#ifndef PLIMSOLL_CLI_TECHNIQUES_H
#define PLIMSOLL_CLI_TECHNIQUES_H

#include "base/text.h"
#include "cli/options.h"

/**
 * One technique of the command line, checked, as a line of `techniques`, which it begins where it
 * is the first. It lives as long as the program.
 *
 * conf  where settings of the allocator go, of "conf=…"; NULL: the command takes none this way
 */
void plim_techniques_take(struct argp_state *state, plim_text *techniques, const char *text,
                          const char **conf);

/** Ends the program if one of `lines`, techniques with spaces or line feeds between, excludes
 * another.
 */
void plim_techniques_check(struct argp_state *state, const char *option, const char *lines,
                           const char *text);

#endif
