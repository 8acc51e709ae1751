/*
 * events.c - events into the ring and to sinks, stacks taken for them, and the switches of both.
 * See events.h.
 */
#include "alloc/core/events.h"

#include "alloc/core/world.h"
#include "base/error.h"

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

bool plim_is_recording(plim_allocator *allocator)
{
    const plim_recording *recording = plim_recording_of(allocator);
    return recording != NULL && recording->options.is_enabled;
}

/* --- stacks --- */

static void emit_stack(plim_allocator *allocator, uint32_t id)
{
    const plim_stack_record record = plim_stacks_get(allocator->stacks, id);
    for (size_t i = 0; i < allocator->sinks.count; i++) {
        const plim_event_sink *sink = &allocator->sinks.items[i];
        if (sink->stack != NULL) {
            sink->stack(sink->ctx, &record);
        }
    }
}

uint32_t plim_take_stack(plim_allocator *allocator, plim_stack_level level)
{
    const plim_recording *recording = plim_recording_of(allocator);
    if (recording == NULL || !recording->options.is_enabled || recording->options.stacks < level) {
        return PLIM_NONE;
    }
    const plim_record_options *options = &recording->options;
    bool is_new = false;
    const uint32_t id = plim_stacks_take(allocator->stacks, options->has_c_frames,
                                         options->foreign_frames, options->foreign_ctx, &is_new);
    if (is_new) { /* rare: the sinks may only be looked at with the worlds stopped */
        plim_worlds_stop(allocator);
        emit_stack(allocator, id);
        plim_worlds_resume(allocator);
    }
    return id;
}

/* --- switches; the worlds are stopped while they are thrown --- */

static void refresh_listening(plim_allocator *allocator)
{
    const bool is_listening = allocator->sinks.count > 0 || plim_is_recording(allocator);
    atomic_store_explicit(&allocator->is_listening, is_listening, memory_order_relaxed);
}

plim_status plim_record_history(plim_allocator *allocator, const plim_record_options *options,
                                plim_error *err)
{
    if (options == NULL || options->stacks > PLIM_STACKS_ALL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "history: no options, or no such stack level");
    }
    plim_recording *recording = plim_mem_alloc(allocator->mem, 1, sizeof *recording);
    if (recording == NULL) {
        return plim_fail_memory(err, "switching the history");
    }
    recording->options = *options;
    PLIM_WORLDS_HOLD(allocator);
    recording->older = (plim_recording *)(uintptr_t)plim_recording_of(allocator);
    atomic_store_explicit(&allocator->recording, recording, memory_order_release);
    for (size_t i = 0; i < allocator->heap_count; i++) {
        plim_heap *heap = &allocator->heaps[i];
        plim_ring_set_max(&heap->ring, options->max_events);
        if (!options->is_enabled || options->clears) {
            plim_ring_clear(&heap->ring);
        }
    }
    refresh_listening(allocator);
    return PLIM_OK;
}

plim_status plim_add_event_sink(plim_allocator *allocator, const plim_event_sink *sink,
                                plim_error *err)
{
    if (sink == NULL || sink->event == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "an event sink needs a function");
    }
    PLIM_WORLDS_HOLD(allocator);
    const bool is_added = PLIM_VEC_PUSH(allocator->mem, &allocator->sinks, *sink);
    refresh_listening(allocator);
    return is_added ? PLIM_OK : plim_fail_memory(err, "adding a listener");
}

void plim_remove_event_sink(plim_allocator *allocator, const void *ctx)
{
    PLIM_WORLDS_HOLD(allocator);
    size_t kept = 0;
    for (size_t i = 0; i < allocator->sinks.count; i++) {
        if (allocator->sinks.items[i].ctx != ctx) {
            allocator->sinks.items[kept] = allocator->sinks.items[i];
            kept++;
        }
    }
    allocator->sinks.count = kept;
    refresh_listening(allocator);
}
