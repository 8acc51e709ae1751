/*
 * events.c - an event into the ring and to sinks. See events.h.
 */
#include "alloc/core/events.h"

/* The number of a private pool's id; made if need be. The world is stopped. */
static uint32_t ring_number(plim_heap *heap, plim_pool_id id)
{
    if (plim_pool_is_default(id)) {
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

plim_event plim_recorded_event(const plim_heap *heap, uint64_t index)
{
    const plim_ring_event *const kept = plim_ring_at(&heap->ring, index);
    plim_event event = { .action = (plim_action)kept->action,
                         .device = heap->index,
                         .stream = kept->stream,
                         .addr = kept->addr,
                         .bytes = kept->bytes,
                         .time_ns = (int64_t)plim_ticks_to_unix_ns(kept->ticks),
                         .stack = kept->stack,
                         .note = PLIM_NONE };
    if (kept->pool != 0) {
        event.pool = heap->pool_names.items[kept->pool - 1];
    }
    return event;
}

static plim_pool_id id_of(const plim_pool *pool)
{
    return pool->owner != NULL ? pool->owner->id : (plim_pool_id){ 0, 0 };
}

static void record(plim_heap *heap, const plim_record_options *options, const plim_pool *pool,
                   const plim_event *event, uint64_t ticks)
{
    if ((options->skip_actions >> (unsigned)event->action & 1u) != 0) {
        return;
    }
    const plim_ring_event kept = {
        .ticks = ticks,
        .addr = event->addr,
        .bytes = event->bytes,
        .stream = event->stream,
        .stack = options->stacks >= PLIM_STACKS_ALLOC ? event->stack : PLIM_NONE,
        .pool = ring_number(heap, id_of(pool)),
        .action = (uint8_t)event->action,
    };
    plim_spin_lock(&heap->ring_lock);
    plim_ring_push(&heap->ring, &kept);
    plim_spin_unlock(&heap->ring_lock);
}

void plim_emit_always(plim_heap *heap, const plim_pool *pool, plim_event *event, uint64_t ticks)
{
    const plim_allocator *allocator = heap->allocator;
    const plim_recording *recording = plim_recording_of(allocator);
    if (recording != NULL && recording->options.is_enabled) {
        record(heap, &recording->options, pool, event, ticks);
    }
    if (allocator->sinks.count == 0 || event->action == PLIM_SNAPSHOT) {
        return;
    }
    event->device = heap->index;
    event->pool = id_of(pool);
    event->note = PLIM_NONE;
    event->is_small = pool->is_small;
    event->time_ns = (int64_t)plim_ticks_to_unix_ns(ticks);
    for (size_t i = 0; i < allocator->sinks.count; i++) {
        allocator->sinks.items[i].event(allocator->sinks.items[i].ctx, event);
    }
}

void plim_emit_free(plim_heap *heap, plim_action action, const plim_heap_block *block,
                    uint32_t stack)
{
    const plim_shelf *shelf = plim_shelf_of(block);
    plim_emit(heap, shelf->pool,
              &(plim_event){ .action = action,
                             .addr = block->addr,
                             .bytes = block->requested_bytes,
                             .block_bytes = block->bytes,
                             .stream = plim_home_of(heap, block),
                             .stack = stack != PLIM_NONE ? stack : block->stack });
}
