/*
 * enabling.h - what `enable` and `disable` share: their options and their end.
 */
#ifndef PLIMSOLL_CLI_ENABLING_H
#define PLIMSOLL_CLI_ENABLING_H

#include "cli/options.h"

#include "plimsoll/enable.h"

typedef struct plim_enable_asked {
    plim_asked asked;
    const char *python;
    bool for_user;
    bool wants_status;
} plim_enable_asked;

extern const plim_option plim_enabling_options[];
#define PLIM_ENABLING_OPTION_COUNT 2u

/** Neither takes words beside its options. */
void plim_enabling_check(struct argp_state *state, void *arguments);

/** Does it and prints what came of it; the exit status. */
int plim_enabling_run(const char *who, plim_enable_action action,
                      const plim_enable_asked *arguments);

#endif
