/*
 * diff_limits.h - --fail-on of diff: how much worse a figure may be, and which devices exceed it.
 *
 *   peak>+5%,end>+1GiB,growth>+1MiB/step,new>64MiB
 */
#ifndef PLIMSOLL_CLI_DIFF_LIMITS_H
#define PLIMSOLL_CLI_DIFF_LIMITS_H

#include "cli/bounds.h"
#include "report/model/diff_ranks.h"

typedef struct plim_diff_limit {
    plim_diff_figure_id figure;
    bool is_share; /* of the figure before */
    double value;
} plim_diff_limit;

typedef struct plim_diff_limits {
    plim_diff_limit items[PLIM_BOUNDS_MAX];
    size_t count;
} plim_diff_limits;

/** Add what the option's text names. Ends the program where the text names nothing. */
void plim_diff_limits_take(struct argp_state *state, plim_diff_limits *limits, const char *text);

/**
 * Say on stderr which device exceeds which limit, and of which nothing can be said.
 *
 * returns  PLIM_EXIT_FOUND: one is exceeded; PLIM_EXIT_FAILED: none, but one could not be checked;
 *          PLIM_EXIT_OK
 */
int plim_diff_limits_check(const char *who, const plim_diff_limits *limits,
                           const plim_diff_job *job);

#endif
