/*
 * release.h - giving cached memory back to the device: garbage_collect_cached_blocks,
 * release_available_cached_blocks and release_cached_blocks.
 *
 * The world is stopped in all of these. What was given back before a failure stays given back.
 */
#ifndef PLIMSOLL_ALLOC_RELEASE_H
#define PLIMSOLL_ALLOC_RELEASE_H

#include "alloc/core/heap.h"

/* Everything that is free in the default pool and in private pools without users; with an id,
 * of that private pool. The default pool is left alone while something is routed. */
plim_status plim_release_cached(plim_heap *heap, plim_pool_id id, uint32_t stack, plim_error *err);

/* Oversize blocks of one shelf until `bytes` are released; false: not that many. */
plim_status plim_release_oversize(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                  bool *ret_is_enough, plim_error *err);

/* Old unsplit blocks of the default large pool, until the limit's threshold is kept
 * (garbage_collect_cached_blocks). */
plim_status plim_collect_garbage(plim_heap *heap, uint32_t stack, plim_error *err);

#endif
