/*
 * simulating.h - what rehearse, run and fit ask alike of the GPU that they simulate.
 */
#ifndef PLIMSOLL_CLI_SIMULATING_H
#define PLIMSOLL_CLI_SIMULATING_H

#include "plimsoll/rehearse.h"

#include <argp.h>

/** Ends the program, as wrong usage, for a GPU or settings that plim_rehearsal_prepare() would
 * refuse. */
void plim_simulated_check(struct argp_state *state, const plim_rehearse_options *how);

/** The option --margin: "2GiB" or "10%". */
void plim_margin_take(struct argp_state *state, plim_rehearse_options *how, const char *text);

#endif
