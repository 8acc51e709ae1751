/*
 * tell.h - telling what happened: to the ring of recorded events, and to sinks.
 */
#ifndef PLIMSOLL_ALLOC_TELL_H
#define PLIMSOLL_ALLOC_TELL_H

#include "alloc/heap.h"
#include "base/ticks.h"

/* Slow path of plim_tell(): there is a listener. `ticks` is when it happened. Fills the event in
 * where it stands: a copy would wait for what was just stored. */
void plim_tell_all(plim_heap *heap, const plim_pool *pool, plim_event *event, uint64_t ticks);

static inline bool plim_is_listening(const plim_heap *heap)
{
    return atomic_load_explicit(&heap->allocator->is_listening, memory_order_relaxed);
}

/* Adds to an event what is the heap's and the pool's to say, and the time. Called with the lock of
 * the lane, or the world stopped. */
static inline void plim_tell(plim_heap *heap, const plim_pool *pool, plim_event *event)
{
    if (plim_is_listening(heap)) {
        plim_tell_all(heap, pool, event, plim_ticks_now());
    }
}

/* One of the two moments of a block's free. `stack` may be PLIM_NONE: then that of its request. */
void plim_tell_freed(plim_heap *heap, plim_action action, const plim_heap_block *block,
                     uint32_t stack);

/* The recorded event that is `index`th in time, 0 the oldest; what the ring does not keep is not
 * known. */
plim_event plim_told_event(const plim_heap *heap, uint64_t index);

#endif
