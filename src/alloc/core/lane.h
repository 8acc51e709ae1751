/*
 * lane.h - the fast path: a stream's cached blocks under a lock of its own.
 *
 * It only takes from and gives to the free sets of one stream's two shelves, by the policy's `fit`
 * (policy.h). Whatever else a request needs (memory from the device, another stream's events, a
 * peak that several lanes might pass together) is left to the slow path, with nothing changed.
 */
#ifndef PLIMSOLL_ALLOC_LANE_H
#define PLIMSOLL_ALLOC_LANE_H

#include "alloc/core/heap.h"

/* False: not a case for the fast path. */
bool plim_lane_malloc(plim_lane *lane, uint64_t bytes, uint32_t stack, plim_addr *ret_addr);
bool plim_lane_free(plim_lane *lane, plim_addr addr, uint32_t stack);

/* Puts parked blocks back and forgets what could be undone. The world is stopped. */
void plim_lane_settle(plim_lane *lane);

#endif
