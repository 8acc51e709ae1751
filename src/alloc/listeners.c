/*
 * listeners.c - who is told what happens: the switches of history and sinks, and new stacks.
 */
#include "alloc/listeners.h"

#include "alloc/world.h"
#include "base/error.h"

bool plim_is_recording(plim_allocator *allocator)
{
    const plim_recording *recording = plim_recording_of(allocator);
    return recording != NULL && recording->options.is_enabled;
}

/* --- stacks --- */

static void tell_stack(plim_allocator *allocator, uint32_t id)
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
        tell_stack(allocator, id);
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
    pthread_mutex_lock(&allocator->lock);
    plim_worlds_stop(allocator);
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
    plim_worlds_resume(allocator);
    pthread_mutex_unlock(&allocator->lock);
    return PLIM_OK;
}

plim_status plim_add_event_sink(plim_allocator *allocator, const plim_event_sink *sink,
                                plim_error *err)
{
    if (sink == NULL || sink->event == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "an event sink needs a function");
    }
    pthread_mutex_lock(&allocator->lock);
    plim_worlds_stop(allocator);
    const bool is_added = PLIM_VEC_PUSH(allocator->mem, &allocator->sinks, *sink);
    refresh_listening(allocator);
    plim_worlds_resume(allocator);
    pthread_mutex_unlock(&allocator->lock);
    return is_added ? PLIM_OK : plim_fail_memory(err, "adding a listener");
}

void plim_remove_event_sink(plim_allocator *allocator, const void *ctx)
{
    pthread_mutex_lock(&allocator->lock);
    plim_worlds_stop(allocator);
    size_t kept = 0;
    for (size_t i = 0; i < allocator->sinks.count; i++) {
        if (allocator->sinks.items[i].ctx != ctx) {
            allocator->sinks.items[kept] = allocator->sinks.items[i];
            kept++;
        }
    }
    allocator->sinks.count = kept;
    refresh_listening(allocator);
    plim_worlds_resume(allocator);
    pthread_mutex_unlock(&allocator->lock);
}
