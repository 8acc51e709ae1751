/*
 * events.h - emitting events: to the ring of recorded events, and to sinks.
 */
#ifndef PLIMSOLL_ALLOC_EVENTS_H
#define PLIMSOLL_ALLOC_EVENTS_H

#include "alloc/core/heap.h"
#include "base/ticks.h"

/* Slow path of plim_emit(): something records. `ticks` is the time of the event. Fills the event
 * in where it stands: a copy would wait for what was just stored. */
void plim_emit_always(plim_heap *heap, const plim_pool *pool, plim_event *event, uint64_t ticks);

static inline bool plim_is_listening(const plim_heap *heap)
{
    return atomic_load_explicit(&heap->allocator->is_listening, memory_order_relaxed);
}

/* Adds the device, the pool and the time to an event. The caller holds the lock of the lane, or has
 * the world stopped. */
static inline void plim_emit(plim_heap *heap, const plim_pool *pool, plim_event *event)
{
    if (plim_is_listening(heap)) {
        plim_emit_always(heap, pool, event, plim_ticks_now());
    }
}

/* One of the two moments of a block's free. `stack` may be PLIM_NONE: then that of its request. */
void plim_emit_free(plim_heap *heap, plim_action action, const plim_heap_block *block,
                    uint32_t stack);

/* The recorded event that is `index`th in time, 0 the oldest; members that the ring does not keep
 * are zero. */
plim_event plim_recorded_event(const plim_heap *heap, uint64_t index);

#endif
