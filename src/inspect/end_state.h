/*
 * end_state.h - what the segments and blocks at the end say, in all and by pool.
 *
 * Nothing here looks at events. inactive_split_bytes also counts the free blocks of expandable
 * segments: a user who asks what fragments the memory wants to know of them too, although
 * PyTorch's own inactive_split statistic leaves them out (PyTorch 2.11,
 * c10/cuda/CUDACachingAllocator.cpp).
 */
#ifndef PLIMSOLL_INSPECT_END_STATE_H
#define PLIMSOLL_INSPECT_END_STATE_H

#include "base/arena.h"
#include "plimsoll/inspect.h"

/* The state of a whole device; counts what its blocks contradict in `anomalies`. */
plim_end_state plim_end_state_of(const plim_device_history *device,
                                 uint64_t anomalies[PLIM_ANOMALY_COUNT]);

/* The state of one of its segments. */
plim_end_state plim_segment_state_of(const plim_device_history *device,
                                     const plim_segment *segment);

/*
 * The same by pool: by stream handle, private pool, small before large, plain before expandable.
 * ret_pools lives in `arena`. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_pool_states_of(const plim_history *history, const plim_device_history *device,
                                plim_arena *arena, const plim_pool_state **ret_pools,
                                size_t *ret_count, plim_error *err);

/* 1 - allocated/reserved; 0 when nothing is reserved. */
double plim_fragmentation(uint64_t allocated_bytes, uint64_t reserved_bytes);

#endif
