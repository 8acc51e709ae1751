/*
 * tune.h - the parts of a search: what is tried, how low each gets, who does it.
 *
 *   candidates ──► sweep (threads) ──► first runs ──► bisections ──► sorted table
 */
#ifndef PLIMSOLL_REPLAY_TUNE_H
#define PLIMSOLL_REPLAY_TUNE_H

#include "replay/replay.h"

/* Memory comes from the driver in such pieces at least; capacities are told apart by one. */
#define PLIM_CAPACITY_STEP_BYTES ((uint64_t)2 << 20)

typedef PLIM_VEC(plim_tune_row) plim_tune_rows;

/* What is worth trying for a replay, row 0 being the recorded settings; the sizes come from the
 * trace itself. Results are empty. */
plim_status plim_tune_candidates(const plim_replay *replay, const plim_tune_options *options,
                                 plim_tune_rows *rows, plim_error *err);

#endif
