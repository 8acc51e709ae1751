/*
 * match.h - two lists of driver calls, and how many of them are the same.
 *
 *   recorded    alloc 2   free 20   alloc 20
 *   predicted   alloc 2             alloc 20   alloc 8      2 match
 *
 * Lists are what happened between two requests, so they are short, but for a cache that is
 * emptied.
 */
#ifndef PLIMSOLL_REPLAY_RUN_MATCH_H
#define PLIMSOLL_REPLAY_RUN_MATCH_H

#include "base/vec.h"
#include "history/driver_actions.h"

/* A segment_alloc, free, map or unmap. */
typedef struct plim_driver_call {
    uint64_t bytes;
    uint64_t event; /* of the recording: the call itself, or what it was predicted for */
    uint8_t action; /* plim_action */
} plim_driver_call;

typedef PLIM_VEC(plim_driver_call) plim_driver_calls;

/* From the front, the calls that are the same in both. */
size_t plim_calls_prefix(const plim_driver_calls *a, const plim_driver_calls *b);

/*
 * The most calls that are the same in both and in the same order: exact while what is left of
 * the lists between their common ends is short, from below where it is long.
 *
 * lengths  scratch that grows to the longer list
 * time     at most some hundred steps a call
 * errors   PLIM_OUT_OF_HOST_MEMORY
 */
typedef PLIM_VEC(uint32_t) plim_match_lengths;
plim_status plim_calls_match(const plim_driver_calls *a, const plim_driver_calls *b,
                             const plim_mem *mem, plim_match_lengths *lengths, size_t *ret_count);

#endif
