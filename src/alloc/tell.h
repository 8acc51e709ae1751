/*
 * tell.h - telling what happened: to the ring of recorded events, and to listeners.
 */
#ifndef PLIMSOLL_ALLOC_TELL_H
#define PLIMSOLL_ALLOC_TELL_H

#include "alloc/heap.h"
#include "base/ticks.h"

typedef struct plim_happening {
    plim_action action;
    plim_addr addr;
    uint64_t bytes;
    uint64_t block_bytes;
    plim_stream stream;
    uint32_t stack;
    const plim_pool *pool;
} plim_happening;

/* Slow path of plim_tell(): somebody listens. `ticks` is when it happened. */
void plim_tell_all(plim_heap *heap, const plim_happening *what, uint64_t ticks);

static inline bool plim_is_listening(const plim_heap *heap)
{
    return atomic_load_explicit(&heap->allocator->is_listening, memory_order_relaxed);
}

/* Called with the lock of the lane, or the world stopped. */
static inline void plim_tell(plim_heap *heap, const plim_happening *what)
{
    if (plim_is_listening(heap)) {
        plim_tell_all(heap, what, plim_ticks_now());
    }
}

/* One of the two moments of a block's free. `stack` may be PLIM_NONE: then that of its request. */
void plim_tell_freed(plim_heap *heap, plim_action action, const plim_heap_block *block,
                     uint32_t stack);

/* The pool a ring event names. */
plim_pool_id plim_ring_pool(const plim_heap *heap, uint32_t pool);

#endif
