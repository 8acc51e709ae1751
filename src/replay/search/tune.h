/*
 * tune.h - the parts of a search: what is tried, how low each gets, who does it.
 *
 *   candidates ──► trials, over threads ──► bisections ──► ranking
 *       ▲                                        │
 *       └──── combinations, moments ◄── best ◄───┘
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_TUNE_H
#define PLIMSOLL_REPLAY_SEARCH_TUNE_H

#include "replay/replay.h"

/* Memory comes from the driver in such pieces at least; capacities differ by one at least. */
#define PLIM_CAPACITY_STEP_BYTES ((uint64_t)2 << 20)

typedef PLIM_VEC(plim_tune_row) plim_tune_rows;

/* The fewest steps that have so many bytes. */
static inline uint64_t plim_capacity_steps(uint64_t bytes)
{
    return bytes / PLIM_CAPACITY_STEP_BYTES + (bytes % PLIM_CAPACITY_STEP_BYTES != 0);
}

#endif
