/*
 * replaying.h - the first part of replay and of tune: take the arguments, read the file, take the
 * requests out of it, and find out how exact a replay of them is.
 */
#ifndef PLIMSOLL_CLI_REPLAYING_H
#define PLIMSOLL_CLI_REPLAYING_H

#include "base/progress.h"
#include "cli/options.h"
#include "report/model/replay.h"

#include "plimsoll/gpu.h"
#include "plimsoll/replay.h"

#define PLIM_REPLAY_CONFS_MAX  64
#define PLIM_REPLAY_SCALES_MAX 32

/* All zero but `device` is a valid default; strings are the command line's. */
typedef struct plim_replay_arguments {
    plim_asked asked; /* one file */
    int32_t device;   /* or PLIM_ALL_DEVICES */
    bool has_range;
    uint64_t from_event;
    uint64_t to_event;
    uint64_t from_step;
    uint64_t to_step;
    plim_scale scales[PLIM_REPLAY_SCALES_MAX];
    size_t scale_count;
    const char *confs[PLIM_REPLAY_CONFS_MAX];
    size_t conf_count;
    uint64_t capacity_bytes; /* 0: as the file says */
    uint64_t total_bytes;    /* 0: what the GPU has, else the capacity */
    const plim_gpu *gpu;     /* or NULL */
    plim_driver_costs costs;
} plim_replay_arguments;

/* Rows from --capacity to --costs. */
#define PLIM_REPLAY_OPTION_COUNT 8
extern const plim_option plim_replay_option_rows[PLIM_REPLAY_OPTION_COUNT];

#define PLIM_REPLAY_CLOSING                                                              \
    "Exit status: 0 fine, 1 --fail-on found something, 2 wrong usage, 3 the file could " \
    "not be read or replayed, or the output not written."

/* --conf, whose purpose differs. */
void plim_replay_take_conf(struct argp_state *state, void *arguments, char *text);

plim_replay_arguments plim_replay_arguments_default(void);

/** Ends the program where what was given does not do. */
void plim_replay_arguments_check(struct argp_state *state, const plim_replay_arguments *arguments);

typedef struct plim_replaying {
    const char *who; /* heads messages */
    const plim_replay_arguments *arguments;
    plim_history *history;
    bool is_borrowed; /* the history */
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
/**
 * The same for a history that was read already, and without a word.
 *
 * history  borrowed until plim_replaying_end()
 * errors   those of plim_replay_create() and plim_replay_verify()
 */
PLIM_MUST_USE plim_status plim_replaying_of(plim_history *history,
                                            const plim_replay_arguments *arguments,
                                            plim_replaying *ret, plim_error *err);
/** Also after a failure. */
void plim_replaying_end(plim_replaying *self);

/** Memory of the whole device, or 0: no more than the capacity. */
uint64_t plim_replaying_total_bytes(const plim_replaying *self);

/** Options for a run, drawn on a bar. */
plim_run_options plim_replaying_run_options(const plim_replaying *self, plim_progress_bar *bar);

/** One line on stderr about what failed, with the file's name; returns the exit status. */
int plim_replaying_failed(const plim_replaying *self, const plim_error *err);

#endif
