/*
 * replay.h - the inside of a plim_replay.
 */
#ifndef PLIMSOLL_REPLAY_REPLAY_H
#define PLIMSOLL_REPLAY_REPLAY_H

#include "plimsoll/phases.h"
#include "replay/program/program.h"

/* One device. `recorded` is the program as it was, `asked` with the scales; they are the same
 * program where there are none. */
typedef struct plim_replay_device_part {
    plim_program recorded;
    plim_program scaled;
    const plim_program *asked;
} plim_replay_device_part;

struct plim_replay {
    const plim_mem *mem;
    const plim_history *history; /* borrowed */
    PLIM_VEC(plim_replay_device_part) devices;
};

/* True if a run under `conf` has the start as the device's recording has it: nothing but limits
 * differs from the recorded settings, and nothing is scaled. */
bool plim_replay_is_restored(const plim_replay_device_part *part, const plim_conf *conf);

/* Replaces steps in options by their first events. */
PLIM_MUST_USE plim_status plim_replay_find_range(const plim_history *history,
                                                 plim_replay_options *options, plim_error *err);

/* Bytes that others hold of the device, beside the capacity asked about. */
uint64_t plim_others_bytes(const plim_run_options *options);

#endif
