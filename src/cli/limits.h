/*
 * limits.h - --fail-on of diagnose: verdicts and bounds, and which devices exceed them.
 *
 *   leak,fragmentation>20%,peak>20GiB,growth>1MiB/step
 */
#ifndef PLIMSOLL_CLI_LIMITS_H
#define PLIMSOLL_CLI_LIMITS_H

#include "cli/bounds.h"
#include "cli/options.h"
#include "report/model/diagnose_ranks.h"

typedef enum plim_limit_kind {
    PLIM_LIMIT_VERDICT,       /* a finding of that kind decides */
    PLIM_LIMIT_ANY,           /* any verdict but healthy */
    PLIM_LIMIT_FRAGMENTATION, /* a share of what is reserved at the peak */
    PLIM_LIMIT_PEAK,          /* requested bytes */
    PLIM_LIMIT_RESERVED,
    PLIM_LIMIT_GROWTH, /* bytes a step, of the fastest leak */
} plim_limit_kind;

typedef struct plim_limit {
    plim_limit_kind kind;
    plim_verdict verdict;
    double value;
} plim_limit;

typedef struct plim_limits {
    plim_limit items[PLIM_BOUNDS_MAX];
    size_t count;
} plim_limits;

/** Add what the option's text names. Ends the program where the text names nothing. */
void plim_limits_take(struct argp_state *state, plim_limits *limits, const char *text);

/** Say on stderr which device exceeds which limit; true if one does. */
bool plim_limits_exceeded(const char *who, const plim_limits *limits,
                          const plim_diagnosed_rank *ranks, size_t count, char *const *paths);

#endif
