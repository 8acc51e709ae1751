/*
 * pools.h - where free blocks are kept: shelves, the lanes that hold those of the default pool,
 * private pools, and which pool a request is routed to (PyTorch: PrivatePool, beginAllocateToPool).
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_POOLS_H
#define PLIMSOLL_ALLOC_POOLS_H

#include "alloc/core/heap.h"

/* The pool of a request: the newest routing that accepts the stream, else the default pool. */
plim_pool *plim_pool_for(plim_heap *heap, plim_stream stream, bool is_small);
/* The shelf of a pool for a stream, made if need be; NULL: no host memory. */
plim_shelf *plim_shelf_for(plim_heap *heap, plim_pool *pool, plim_stream stream);
/* The same, its sets settled: ready to be searched. */
plim_status plim_shelf_ready(plim_heap *heap, plim_pool *pool, plim_stream stream,
                             plim_shelf **ret_shelf, plim_error *err);

/* Fails with the words for a pool that is not there. */
plim_status plim_no_such_pool(plim_error *err, plim_pool_id id, int32_t device);

plim_private_pool *plim_private_pool_find(const plim_heap *heap, plim_pool_id id);
/* Forgets a pool without users and driver allocations. */
void plim_private_pool_remove(plim_heap *heap, plim_private_pool *pool);
/* All pools, shelves and lanes. */
void plim_pools_deinit(plim_heap *heap);

/* --- shelves: the free blocks of one pool, size class and stream --- */

/* The shelf of a pool for a stream, or NULL. */
plim_shelf *plim_shelf_find(const plim_pool *pool, plim_stream stream);

/* --- lanes, by stream --- */

/* The lane of a stream, or NULL when it has none yet. Any thread, no lock. */
plim_lane *plim_lane_find(const plim_heap *heap, plim_stream stream);
/* The same, made if need be; NULL: no memory. The world is stopped. */
plim_lane *plim_lane_make(plim_heap *heap, plim_stream stream);

#endif
