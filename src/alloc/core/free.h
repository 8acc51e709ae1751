/*
 * free.h - from the free of a block to its reuse: at once, or after the events of other streams
 * that use it (PyTorch: free, insert_events, process_events, free_block, deferred frees of a
 * capture).
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_FREE_H
#define PLIMSOLL_ALLOC_FREE_H

#include "alloc/core/heap.h"

/* Notes that a stream uses a live block. */
plim_status plim_use_add(plim_heap *heap, plim_heap_block *block, plim_stream stream,
                         plim_error *err);

/* The stream a block was handed out on has to be done with it, too, before it is free: for policies
 * that hand it to others then. The block is being given back. Without host memory the stream is
 * waited for instead. */
plim_status plim_use_add_home(plim_heap *heap, plim_heap_block *block, plim_stream home,
                              plim_error *err);

/* An event of the heap's, new or used before; and back, which cannot fail. */
plim_status plim_fence_get(plim_heap *heap, plim_fence *ret_fence, plim_error *err);
void plim_fence_put(plim_heap *heap, plim_fence fence);

/* A block with uses was given back: waits for their work, or, while something is captured, for
 * the capture's end. */
plim_status plim_uses_wait(plim_heap *heap, plim_heap_block *block, plim_error *err);

/* Takes back blocks whose events have completed; deferred ones first. What every request does
 * first while nothing is captured. `stack` is that of the request, or PLIM_NONE: events of these
 * frees have it, here and below. */
plim_status plim_events_process(plim_heap *heap, uint32_t stack, plim_error *err);

/* Waits for every event, or only those of one private pool's blocks
 * (synchronize_and_free_events). */
plim_status plim_events_synchronize(plim_heap *heap, const plim_private_pool *pool, uint32_t stack,
                                    plim_error *err);

void plim_streams_deinit(plim_heap *heap);

/* A live block is given back: at once, or when other streams are done with it (free). The world is
 * stopped. */
plim_status plim_free_request(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                              plim_error *err);

/* Takes a block back that was let go of (free_block), whatever is returned. The world is stopped.
 * errors   those of the policy: PyTorch's has none */
plim_status plim_free_complete(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                               plim_error *err);

#endif
