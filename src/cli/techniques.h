/*
 * techniques.h - the option --with of rehearse and run.
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

#endif
