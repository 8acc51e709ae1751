/*
 * scribe.c - an allocator's events as a history. See scribe.h.
 */
#include "traces/scribe.h"

#include "base/error.h"

#include <string.h>

/* --- stacks --- */

#define SCRIBE_FRAMES_MAX 64

static plim_status add_frame(plim_history *history, const plim_foreign_frame *from,
                             uint32_t *ret_frame, plim_error *err)
{
    plim_frame frame = { .line = from->line, .fx = PLIM_NONE };
    PLIM_TRY(plim_history_add_string(history, from->filename, strlen(from->filename),
                                     &frame.filename, err));
    PLIM_TRY(plim_history_add_string(history, from->name, strlen(from->name), &frame.name, err));
    return plim_history_add_frame(history, &frame, ret_frame, err);
}

static plim_status add_stack(trace_scribe *scribe, const plim_stack_record *stack,
                             uint32_t *ret_stack, plim_error *err)
{
    uint32_t frames[SCRIBE_FRAMES_MAX];
    const size_t count =
        stack->foreign_count < SCRIBE_FRAMES_MAX ? stack->foreign_count : SCRIBE_FRAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        PLIM_TRY(add_frame(scribe->history, &stack->foreign[i], &frames[i], err));
    }
    return plim_history_add_stack(scribe->history, frames, count, ret_stack, err);
}

static void on_stack(void *ctx, const plim_stack_record *stack)
{
    trace_scribe *const scribe = ctx;
    uint32_t number = PLIM_NONE;
    if (scribe->history == NULL || scribe->status != PLIM_OK) {
        return;
    }
    scribe->status = add_stack(scribe, stack, &number, &scribe->error);
    while (scribe->status == PLIM_OK && scribe->stacks.count <= stack->id) {
        if (!PLIM_VEC_PUSH(scribe->mem, &scribe->stacks, PLIM_NONE)) {
            scribe->status = plim_fail_memory(&scribe->error, "writing down a stack");
        }
    }
    if (scribe->status == PLIM_OK) {
        scribe->stacks.items[stack->id] = number;
    }
}

/* --- events --- */

static plim_status write_down(trace_scribe *scribe, const plim_event *from, plim_error *err)
{
    plim_event event = *from;
    event.time_ns = (int64_t)*scribe->time_ns;
    event.stack =
        from->stack < scribe->stacks.count ? scribe->stacks.items[from->stack] : PLIM_NONE;
    event.note = scribe->has_pools ? PLIM_NONE : 0;
    return plim_history_push_event(scribe->history, &event, err);
}

static void on_event(void *ctx, const plim_event *event)
{
    trace_scribe *const scribe = ctx;
    scribe->told++;
    if (scribe->history != NULL && scribe->told > scribe->skip && scribe->status == PLIM_OK) {
        scribe->status = write_down(scribe, event, &scribe->error);
    }
}

plim_event_sink trace_scribe_sink(trace_scribe *scribe)
{
    return (plim_event_sink){ .event = on_event, .stack = on_stack, .ctx = scribe };
}

void trace_scribe_annotate(trace_scribe *scribe, const char *name, bool is_start)
{
    if (scribe->history == NULL || scribe->status != PLIM_OK) {
        return;
    }
    plim_annotation annotation = { .time_us = (int64_t)(*scribe->time_ns / 1000),
                                   .is_start = is_start };
    scribe->status = plim_history_add_string(scribe->history, name, strlen(name), &annotation.name,
                                             &scribe->error);
    if (scribe->status == PLIM_OK) {
        scribe->status = plim_history_push_annotation(scribe->history, &annotation, &scribe->error);
    }
}

/* --- the end --- */

/* A string, frame or stack of one history, in another. */
static plim_status copy_string(const plim_history *from, uint32_t string, plim_history *to,
                               uint32_t *ret, plim_error *err)
{
    *ret = PLIM_NONE;
    if (string == PLIM_NONE) {
        return PLIM_OK;
    }
    size_t bytes = 0;
    const char *const text = plim_history_string(from, string, &bytes);
    return plim_history_add_string(to, text, bytes, ret, err);
}

static plim_status copy_stack(const plim_history *from, uint32_t stack, plim_history *to,
                              uint32_t *ret, plim_error *err)
{
    *ret = PLIM_NONE;
    if (stack == PLIM_NONE) {
        return PLIM_OK;
    }
    uint32_t frames[SCRIBE_FRAMES_MAX];
    const plim_stack of = plim_history_stack(from, stack);
    const uint32_t count = of.frame_count < SCRIBE_FRAMES_MAX ? of.frame_count : SCRIBE_FRAMES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        plim_frame frame = *plim_history_frame(from, of.frames[i]);
        PLIM_TRY(copy_string(from, frame.filename, to, &frame.filename, err));
        PLIM_TRY(copy_string(from, frame.name, to, &frame.name, err));
        PLIM_TRY(plim_history_add_frame(to, &frame, &frames[i], err));
    }
    return plim_history_add_stack(to, frames, count, ret, err);
}

static plim_status copy_state(const plim_history *from, const plim_device_history *device,
                              plim_history *to, plim_error *err)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        plim_segment segment = device->segments[i];
        PLIM_TRY(plim_history_add_stream(to, plim_history_stream(from, segment.stream),
                                         &segment.stream, err));
        PLIM_TRY(copy_stack(from, segment.stack, to, &segment.stack, err));
        PLIM_TRY(plim_history_push_segment(to, &segment, err));
    }
    for (uint64_t i = 0; i < device->block_count; i++) {
        plim_block block = device->blocks[i];
        PLIM_TRY(copy_stack(from, block.stack, to, &block.stack, err));
        PLIM_TRY(plim_history_push_block(to, &block, err));
    }
    return PLIM_OK;
}

static plim_status copy_settings(const plim_history *from, plim_history *to, plim_error *err)
{
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(from, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_setting setting = settings[i];
        PLIM_TRY(copy_string(from, setting.group, to, &setting.group, err));
        PLIM_TRY(copy_string(from, setting.name, to, &setting.name, err));
        if (setting.kind == PLIM_SETTING_TEXT) {
            PLIM_TRY(copy_string(from, setting.value.text, to, &setting.value.text, err));
        }
        PLIM_TRY(plim_history_push_setting(to, &setting, err));
    }
    return PLIM_OK;
}

static plim_status copy_end(const plim_history *from, trace_scribe *scribe,
                            uint64_t capacity_events, plim_error *err)
{
    plim_history *const to = scribe->history;
    const plim_device_history *const device = plim_history_device(from, 0);
    PLIM_TRY(copy_state(from, device, to, err));
    PLIM_TRY(copy_settings(from, to, err));
    const plim_device_ranges ranges = { .device = device->device,
                                        .events = { 0, plim_history_pushed_events(to) },
                                        .segments = { 0, device->segment_count },
                                        .blocks = { 0, device->block_count },
                                        .capacity_events = capacity_events,
                                        .overflowed = scribe->skip > 0 ? PLIM_YES : PLIM_NO };
    PLIM_TRY(plim_history_add_device(to, &ranges, err));
    const plim_source source = plim_history_source(from);
    plim_history_set_source(to, &source);
    plim_history_seal(to);
    return PLIM_OK;
}

plim_status trace_scribe_finish(trace_scribe *scribe, plim_allocator *allocator,
                                uint64_t capacity_events, plim_error *err)
{
    if (scribe->status != PLIM_OK) {
        if (err != NULL) {
            *err = scribe->error;
        }
        return scribe->status;
    }
    plim_history *end = NULL;
    PLIM_TRY(plim_allocator_snapshot(allocator, NULL, false, &end, err));
    const plim_status status = copy_end(end, scribe, capacity_events, err);
    plim_history_destroy(end);
    return status;
}

void trace_scribe_deinit(trace_scribe *scribe)
{
    PLIM_VEC_FREE(scribe->mem, &scribe->stacks);
}
