/*
 * trial.h - one row of a search at one capacity: does every device of the replay survive?
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_TRIAL_H
#define PLIMSOLL_REPLAY_SEARCH_TRIAL_H

#include "replay/replay.h"
#include "replay/search/watch.h"

/* Common to the trials of one search. */
typedef struct plim_trial_context {
    const plim_replay *replay;
    const plim_driver_costs *costs; /* NULL: the default ones */
    uint64_t others_bytes;          /* of the device, beside any capacity */
    const plim_steps *steps;        /* by device; NULL: no row asks for them */
    plim_watch *watch;
} plim_trial_context;

typedef struct plim_trial_setup {
    const plim_tune_row *row;     /* its results are not read */
    uint64_t capacity_bytes;      /* or PLIM_UNLIMITED */
    bool stops_at_failure;        /* at any, also of requests that failed in the recording */
    bool has_budget;              /* ends when it is spent */
    plim_run_result *ret_results; /* all devices are run, whichever fails, and here is what becomes
                                   * of each; NULL: the first that fails ends it */
} plim_trial_setup;

typedef struct plim_trial {
    plim_run_result result; /* of the first device that fails, else of that with the highest peak */
    bool survives;          /* on all devices */
    bool starts;            /* on all that were tried the start fits */
    uint64_t peak_bytes;    /* reserved on any device, where it survives: it would with this */
    uint64_t needed_bytes;  /* about what the failed request would have taken; 0: unknown;
                             * UINT64_MAX: nothing is enough */
    double reach;           /* how much of the run was made until it failed, 0 to 1 */
    plim_error start_error; /* where it does not start: what the start needs */
} plim_trial;

/*
 * Runs it.
 *
 * errors   PLIM_CANCELLED (also when the budget is spent: the watch knows),
 * PLIM_OUT_OF_HOST_MEMORY, what the settings are refused with. That the start does not fit is a
 * result.
 */
plim_status plim_trial_run(const plim_trial_context *context, const plim_trial_setup *setup,
                           plim_trial *ret_trial, plim_error *err);

#endif
