/*
 * observers.c - the switches of history, sinks and callbacks, and the stacks taken for them. See
 * observers.h.
 */
#include "alloc/observers.h"

#include "alloc/core/world.h"
#include "base/error.h"

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

/* --- callbacks --- */

plim_status plim_add_free_memory_callback(plim_allocator *allocator,
                                          plim_free_memory_callback *callback, void *ctx,
                                          plim_error *err)
{
    if (callback == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "a free-memory callback needs a function");
    }
    PLIM_WORLDS_HOLD(allocator);
    const bool is_added = PLIM_VEC_PUSH(allocator->mem, &allocator->free_callbacks,
                                        ((plim_callback_row){ callback, ctx }));
    allocator->has_free_callbacks = allocator->free_callbacks.count > 0;
    return is_added ? PLIM_OK : plim_fail_memory(err, "adding a callback");
}

plim_status plim_add_oom_observer(plim_allocator *allocator, plim_oom_observer *observer, void *ctx,
                                  plim_error *err)
{
    if (observer == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "an observer needs a function");
    }
    pthread_mutex_lock(&allocator->lock);
    const bool is_added = PLIM_VEC_PUSH(allocator->mem, &allocator->observers,
                                        ((plim_observer_row){ observer, ctx }));
    pthread_mutex_unlock(&allocator->lock);
    return is_added ? PLIM_OK : plim_fail_memory(err, "adding an observer");
}
