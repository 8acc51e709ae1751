/*
 * replaying.h - what replay and tune both do first: read the file, take the requests out of it,
 * and find out how far a replay is to be believed.
 */
#ifndef PLIMSOLL_CLI_REPLAYING_H
#define PLIMSOLL_CLI_REPLAYING_H

#include "base/progress.h"
#include "cli/replay_arguments.h"
#include "report/model/replay.h"

typedef struct plim_replaying {
    const char *who; /* heads messages */
    const plim_replay_arguments *arguments;
    plim_history *history;
    plim_replay *replay;
    plim_replay_facts *facts;
    plim_fidelity *fidelity;
    plim_replay_input input; /* what reports take; points to the above */
} plim_replaying;

/**
 * Read, prepare and verify, with progress bars.
 *
 * returns  PLIM_EXIT_OK, or the exit status to end with: why was said
 */
int plim_replaying_begin(const char *who, const plim_replay_arguments *arguments,
                         plim_replaying *ret);
/** Also after a failure. */
void plim_replaying_end(plim_replaying *self);

/** Memory of the whole device, or 0: no more than the capacity. */
uint64_t plim_replaying_total_bytes(const plim_replaying *self);

/** Options for a run, drawn on a bar. */
plim_run_options plim_replaying_run_options(const plim_replaying *self, plim_progress_bar *bar);

/** One line on stderr about what failed, with the file's name; returns the exit status. */
int plim_replaying_failed(const plim_replaying *self, const plim_error *err);

#endif
