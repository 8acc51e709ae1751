/*
 * pools.h - private pools, and which pool a request belongs to (PrivatePool,
 * beginAllocateToPool).
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_POOLS_H
#define PLIMSOLL_ALLOC_POOLS_H

#include "alloc/heap.h"

/* The pool of a request: the newest routing that accepts the stream, else the default pool. */
plim_pool *plim_pool_for(plim_heap *heap, plim_stream stream, bool is_small);
/* The shelf of a pool for a stream, made if need be; NULL: no host memory. */
plim_shelf *plim_shelf_for(plim_heap *heap, plim_pool *pool, plim_stream stream);

/* Fails with the words for a pool that is not there. */
plim_status plim_no_such_pool(plim_error *err, plim_pool_id id, int32_t device);

plim_private_pool *plim_private_pool_find(const plim_heap *heap, plim_pool_id id);
/* Forgets a pool without users and driver allocations. */
void plim_private_pool_remove(plim_heap *heap, plim_private_pool *pool);
void plim_pools_deinit(plim_heap *heap);

#endif
