/*
 * replay_arguments.h - what replay and tune both take as arguments.
 */
#ifndef PLIMSOLL_CLI_REPLAY_ARGUMENTS_H
#define PLIMSOLL_CLI_REPLAY_ARGUMENTS_H

#include "cli/options.h"

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

#endif
