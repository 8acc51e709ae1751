/*
 * world.h - stopping a heap's lanes, to do what the fast path cannot.
 */
#ifndef PLIMSOLL_ALLOC_WORLD_H
#define PLIMSOLL_ALLOC_WORLD_H

#include "alloc/core/heap.h"

/* Takes the heap's lock and those of its open lanes, and folds what they counted. Not recursive. */
void plim_world_stop(plim_heap *heap);
/* Lets go. `lane` (may be NULL) becomes open, if lanes may be open at all in this state. */
void plim_world_resume(plim_heap *heap, plim_lane *lane);

/* The same for all heaps of an allocator, in order. */
void plim_worlds_stop(plim_allocator *allocator);
void plim_worlds_resume(plim_allocator *allocator);

/* Parts of the three macros below. */
static inline void plim_world_leave(plim_heap *const *heap)
{
    plim_world_resume(*heap, NULL);
}

static inline void plim_worlds_leave(plim_allocator *const *allocator)
{
    plim_worlds_resume(*allocator);
    pthread_mutex_unlock(&(*allocator)->lock);
}

static inline plim_allocator *plim_worlds_enter(plim_allocator *allocator)
{
    pthread_mutex_lock(&allocator->lock);
    plim_worlds_stop(allocator);
    return allocator;
}

/* The world of a heap is stopped from here to the end of the block, however that is left. */
#define PLIM_WORLD_HOLD(heap)                                                  \
    __attribute__((cleanup(plim_world_leave), unused)) plim_heap *const held = \
        (plim_world_stop(heap), (heap))
/* The same for one that is stopped already. */
#define PLIM_WORLD_HELD(heap) \
    __attribute__((cleanup(plim_world_leave), unused)) plim_heap *const held = (heap)
/* The same for all, under the allocator's own lock. */
#define PLIM_WORLDS_HOLD(allocator)                                                  \
    __attribute__((cleanup(plim_worlds_leave), unused)) plim_allocator *const held = \
        plim_worlds_enter(allocator)

/* Everything counted so far is in heap->stats. The world is stopped. */
void plim_world_settle(plim_heap *heap);

/* The heap of a device; NULL: no such device, err says so. */
plim_heap *plim_heap_of(plim_allocator *allocator, int32_t device, plim_error *err);

/* Stops the world of the heap that a live address belongs to. NULL: it is not live, and
 * no world is stopped. */
plim_heap *plim_stop_world_of(plim_allocator *allocator, plim_addr addr,
                              plim_heap_block **ret_block);

#endif
