/*
 * tell.c - recording an event, and passing it on. See tell.h.
 */
#include "alloc/tell.h"

static plim_pool_id id_of(const plim_pool *pool)
{
    return pool->owner != NULL ? pool->owner->id : (plim_pool_id){ 0, 0 };
}

/* The number of a private pool's id; made if need be. The world is stopped. */
static uint32_t ring_number(plim_heap *heap, plim_pool_id id)
{
    if (id.a == 0 && id.b == 0) {
        return 0;
    }
    for (size_t i = 0; i < heap->pool_names.count; i++) {
        if (plim_pool_ids_equal(heap->pool_names.items[i], id)) {
            return (uint32_t)i + 1;
        }
    }
    if (!PLIM_VEC_PUSH(heap->allocator->mem, &heap->pool_names, id)) {
        return 0;
    }
    return (uint32_t)heap->pool_names.count;
}

plim_pool_id plim_ring_pool(const plim_heap *heap, uint32_t pool)
{
    return pool == 0 ? (plim_pool_id){ 0, 0 } : heap->pool_names.items[pool - 1];
}

static void record(plim_heap *heap, const plim_record_options *options, const plim_happening *what,
                   uint64_t ticks)
{
    if ((options->skip_actions >> (unsigned)what->action & 1u) != 0) {
        return;
    }
    const plim_ring_event event = {
        .ticks = ticks,
        .addr = what->addr,
        .bytes = what->bytes,
        .stream = what->stream,
        .stack = options->stacks >= PLIM_STACKS_ALLOC ? what->stack : PLIM_NONE,
        .pool = ring_number(heap, id_of(what->pool)),
        .action = (uint8_t)what->action,
    };
    plim_spin_lock(&heap->ring_lock);
    plim_ring_push(&heap->ring, &event);
    plim_spin_unlock(&heap->ring_lock);
}

void plim_tell_all(plim_heap *heap, const plim_happening *what, uint64_t ticks)
{
    const plim_allocator *allocator = heap->allocator;
    const plim_recording *recording = plim_recording_of(allocator);
    if (recording != NULL && recording->options.is_enabled) {
        record(heap, &recording->options, what, ticks);
    }
    if (allocator->sinks.count == 0 || what->action == PLIM_SNAPSHOT) {
        return;
    }
    const plim_event_record event = {
        .action = what->action,
        .device = heap->index,
        .stream = what->stream,
        .addr = what->addr,
        .bytes = what->bytes,
        .block_bytes = what->block_bytes,
        .time_ns = plim_ticks_to_unix_ns(ticks),
        .stack = what->stack,
        .pool = id_of(what->pool),
        .is_small = what->pool->is_small,
    };
    for (size_t i = 0; i < allocator->sinks.count; i++) {
        allocator->sinks.items[i].event(allocator->sinks.items[i].ctx, &event);
    }
}

void plim_tell_freed(plim_heap *heap, plim_action action, const plim_heap_block *block,
                     uint32_t stack)
{
    const plim_shelf *shelf = plim_shelf_of(block);
    plim_tell(heap, &(plim_happening){ .action = action,
                                       .addr = block->addr,
                                       .bytes = block->requested_bytes,
                                       .block_bytes = block->bytes,
                                       .stream = plim_home_of(heap, block),
                                       .stack = stack != PLIM_NONE ? stack : block->stack,
                                       .pool = shelf->pool });
}
