/*
 * builder.c - filling the tables of a history, each equal thing once.
 */
#include "history/tables.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/hash.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WARNING_BYTES_MAX 512
#define EVENTS_MIN        ((size_t)1024) /* rows of the first growth */

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "building the history");
}

plim_status plim_history_create(const plim_mem *mem, plim_history **ret_history, plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    plim_history *history = plim_mem_alloc_zeroed(mem, 1, sizeof *history);
    if (history == NULL) {
        return no_memory(err);
    }
    history->mem = mem;
    history->last.stream_row = PLIM_NONE;
    history->last.pool_note = PLIM_NONE;
    history->source = (plim_source){ .format = "", .generation = "", .pickle_protocol = -1 };
    plim_arena_init(&history->arena, mem);
    plim_intern_init(&history->string_index, mem);
    plim_intern_init(&history->frame_index, mem);
    plim_intern_init(&history->stack_index, mem);
    plim_intern_init(&history->stream_index, mem);
    plim_intern_init(&history->note_index, mem);

    /* Note 0 is the empty one, for the many events that have nothing to say. */
    const plim_note empty = { .compile_context = PLIM_NONE,
                              .user_metadata = PLIM_NONE,
                              .forward_stack = PLIM_NONE,
                              .category = PLIM_NONE };
    uint32_t note = 0;
    const plim_status status = plim_history_add_note(history, &empty, &note, err);
    if (status != PLIM_OK) {
        plim_history_destroy(history);
        return status;
    }
    *ret_history = history;
    return PLIM_OK;
}

static bool string_equal(const void *table, uint32_t id, const void *wanted)
{
    const string_row *row = &((const plim_history *)table)->strings.items[id];
    const string_row *other = wanted;
    return row->bytes == other->bytes && memcmp(row->text, other->text, row->bytes) == 0;
}

plim_status plim_history_add_string(plim_history *history, const char *text, size_t bytes,
                                    uint32_t *ret_string, plim_error *err)
{
    const uint64_t hash = plim_hash_bytes(text, bytes, history->string_index.key);
    const string_row wanted = { text, bytes };
    uint32_t id = plim_intern_find(&history->string_index, hash, string_equal, history, &wanted);
    if (id == PLIM_INTERN_ABSENT) {
        const char *copy = plim_arena_copy(&history->arena, text, bytes);
        const string_row row = { copy, bytes };
        if (copy == NULL || !PLIM_VEC_PUSH(history->mem, &history->strings, row) ||
            !plim_intern_add(&history->string_index, hash, &id)) {
            return no_memory(err);
        }
    }
    *ret_string = id;
    return PLIM_OK;
}

/* A frame is its place in the program: what torch.fx adds is kept from the first one met. */
#define FRAME_KEY_BYTES offsetof(plim_frame, fx)

static bool frame_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_frame *row = &((const plim_history *)table)->frames.items[id];
    return memcmp(row, wanted, FRAME_KEY_BYTES) == 0;
}

plim_status plim_history_add_frame(plim_history *history, const plim_frame *frame,
                                   uint32_t *ret_frame, plim_error *err)
{
    _Static_assert(FRAME_KEY_BYTES == 12, "frames are compared as bytes: no padding");
    const uint64_t hash = plim_hash_bytes(frame, FRAME_KEY_BYTES, history->frame_index.key);
    uint32_t id = plim_intern_find(&history->frame_index, hash, frame_equal, history, frame);
    if (id == PLIM_INTERN_ABSENT && (!PLIM_VEC_PUSH(history->mem, &history->frames, *frame) ||
                                     !plim_intern_add(&history->frame_index, hash, &id))) {
        return no_memory(err);
    }
    *ret_frame = id;
    return PLIM_OK;
}

static bool stack_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_stack *row = &((const plim_history *)table)->stacks.items[id];
    const plim_stack *other = wanted;
    return row->frame_count == other->frame_count &&
           memcmp(row->frames, other->frames, row->frame_count * sizeof *row->frames) == 0;
}

plim_status plim_history_add_stack(plim_history *history, const uint32_t *frames, size_t count,
                                   uint32_t *ret_stack, plim_error *err)
{
    if (count == 0) {
        *ret_stack = PLIM_NONE;
        return PLIM_OK;
    }
    const size_t bytes = count * sizeof *frames;
    const uint64_t hash = plim_hash_bytes(frames, bytes, history->stack_index.key);
    const plim_stack wanted = { frames, (uint32_t)count };
    uint32_t id = plim_intern_find(&history->stack_index, hash, stack_equal, history, &wanted);
    if (id == PLIM_INTERN_ABSENT) {
        uint32_t *copy = plim_arena_alloc(&history->arena, bytes);
        if (copy == NULL) {
            return no_memory(err);
        }
        memcpy(copy, frames, bytes);
        const plim_stack row = { copy, (uint32_t)count };
        if (!PLIM_VEC_PUSH(history->mem, &history->stacks, row) ||
            !plim_intern_add(&history->stack_index, hash, &id)) {
            return no_memory(err);
        }
    }
    *ret_stack = id;
    return PLIM_OK;
}

static bool stream_equal(const void *table, uint32_t id, const void *wanted)
{
    return ((const plim_history *)table)->streams.items[id] == *(const uint64_t *)wanted;
}

plim_status plim_history_add_stream(plim_history *history, uint64_t handle, uint32_t *ret_stream,
                                    plim_error *err)
{
    const uint64_t hash = plim_hash_u64(handle, history->stream_index.key);
    uint32_t id = plim_intern_find(&history->stream_index, hash, stream_equal, history, &handle);
    if (id == PLIM_INTERN_ABSENT && (!PLIM_VEC_PUSH(history->mem, &history->streams, handle) ||
                                     !plim_intern_add(&history->stream_index, hash, &id))) {
        return no_memory(err);
    }
    *ret_stream = id;
    return PLIM_OK;
}

static bool note_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_note *row = &((const plim_history *)table)->notes.items[id];
    const plim_note *other = wanted;
    return plim_pool_ids_equal(row->pool, other->pool) && row->has_pool == other->has_pool &&
           row->compile_context == other->compile_context &&
           row->user_metadata == other->user_metadata &&
           row->forward_stack == other->forward_stack && row->category == other->category;
}

plim_status plim_history_add_note(plim_history *history, const plim_note *note, uint32_t *ret_note,
                                  plim_error *err)
{
    const uint64_t fields[] = { note->pool.a, note->pool.b, note->has_pool,
                                (uint64_t)note->compile_context << 32 | note->user_metadata,
                                (uint64_t)note->forward_stack << 32 | note->category };
    const uint64_t hash = plim_hash_bytes(fields, sizeof fields, history->note_index.key);
    uint32_t id = plim_intern_find(&history->note_index, hash, note_equal, history, note);
    if (id == PLIM_INTERN_ABSENT && (!PLIM_VEC_PUSH(history->mem, &history->notes, *note) ||
                                     !plim_intern_add(&history->note_index, hash, &id))) {
        return no_memory(err);
    }
    *ret_note = id;
    return PLIM_OK;
}

plim_status plim_history_add_action(plim_history *history, const char *name, size_t bytes,
                                    plim_action *ret_action, plim_error *err)
{
    const size_t known = PLIM_ACTION_OTHER + history->other_actions.count;
    for (size_t action = 0; action < known; action++) {
        const char *candidate = plim_history_action_name(history, (uint8_t)action);
        if (strlen(candidate) == bytes && memcmp(candidate, name, bytes) == 0) {
            *ret_action = (plim_action)action;
            return PLIM_OK;
        }
    }
    if (known > PLIM_ACTION_MAX) {
        return plim_fail(err, PLIM_LIMIT,
                         "more than %d different event actions: not a memory snapshot",
                         PLIM_ACTION_MAX - PLIM_ACTION_OTHER);
    }
    const char *copy = plim_arena_copy(&history->arena, name, bytes);
    if (copy == NULL || !PLIM_VEC_PUSH(history->mem, &history->other_actions, copy)) {
        return no_memory(err);
    }
    *ret_action = (plim_action)known;
    return PLIM_OK;
}

/*
 * Columns grow one by one: after a failure half way some have more room than others, which is why
 * each has its capacity. The common one is the least of them.
 */
static bool grow_events(plim_history *history)
{
    const size_t old = history->events.capacity;
    const size_t wanted = old + old / 2 < EVENTS_MIN ? EVENTS_MIN : old + old / 2;
    size_t *capacity = history->events.capacities;
#define GROW_COLUMN(column)                                                                    \
    if (*capacity < wanted) {                                                                  \
        void *grown = plim_mem_resize(history->mem, history->events.column, *capacity, wanted, \
                                      sizeof *history->events.column);                         \
        if (grown == NULL) {                                                                   \
            return false;                                                                      \
        }                                                                                      \
        history->events.column = grown;                                                        \
        *capacity = wanted;                                                                    \
    }                                                                                          \
    capacity++;
    PLIM_EVENT_COLUMNS(GROW_COLUMN)
#undef GROW_COLUMN
    history->events.capacity = wanted;
    return true;
}

/* The rows of an event's stream and note are those of the event before it. */
static bool has_last_rows(const plim_history *history, const plim_event *event)
{
    return history->last.stream == event->stream && history->last.stream_row != PLIM_NONE &&
           (event->note != PLIM_NONE || (history->last.pool_note != PLIM_NONE &&
                                         plim_pool_ids_equal(history->last.pool, event->pool)));
}

/* Finds the rows of an event's stream and note; out of line, for it is rarely called. */
__attribute__((noinline)) static plim_status find_rows(plim_history *history,
                                                       const plim_event *event, plim_error *err)
{
    if (history->last.stream_row == PLIM_NONE || history->last.stream != event->stream) {
        PLIM_TRY(plim_history_add_stream(history, event->stream, &history->last.stream_row, err));
        history->last.stream = event->stream;
    }
    if (event->note == PLIM_NONE && (history->last.pool_note == PLIM_NONE ||
                                     !plim_pool_ids_equal(history->last.pool, event->pool))) {
        const plim_note note = { .pool = event->pool,
                                 .has_pool = true,
                                 .compile_context = PLIM_NONE,
                                 .user_metadata = PLIM_NONE,
                                 .forward_stack = PLIM_NONE,
                                 .category = PLIM_NONE };
        PLIM_TRY(plim_history_add_note(history, &note, &history->last.pool_note, err));
        history->last.pool = event->pool;
    }
    return PLIM_OK;
}

plim_status plim_history_push_event_at(plim_history *history, const plim_event *event,
                                       int64_t time_us, plim_error *err)
{
    if (!has_last_rows(history, event)) {
        PLIM_TRY(find_rows(history, event, err));
    }
    if (history->events.count == history->events.capacity && !grow_events(history)) {
        return no_memory(err);
    }
    const size_t row = history->events.count++;
    history->events.action[row] = (uint8_t)event->action;
    history->events.addr[row] = event->addr;
    history->events.bytes[row] = event->bytes;
    history->events.time_us[row] = time_us;
    history->events.stack[row] = event->stack;
    history->events.stream[row] = history->last.stream_row;
    history->events.note[row] = event->note == PLIM_NONE ? history->last.pool_note : event->note;
    return PLIM_OK;
}

plim_status plim_history_push_event(plim_history *history, const plim_event *event, plim_error *err)
{
    return plim_history_push_event_at(history, event, plim_time_us(event->time_ns), err);
}

static plim_events events_at(const plim_history *history, plim_range range)
{
    if (range.count == 0) {
        return (plim_events){ 0 };
    }
    return (plim_events){ .count = range.count,
                          .action = history->events.action + range.first,
                          .addr = history->events.addr + range.first,
                          .bytes = history->events.bytes + range.first,
                          .time_us = history->events.time_us + range.first,
                          .stack = history->events.stack + range.first,
                          .stream = history->events.stream + range.first,
                          .note = history->events.note + range.first };
}

plim_event plim_history_pushed_event(const plim_history *history, uint64_t index)
{
    PLIM_ASSERT(index < history->events.count);
    const plim_device_history all = { .events = events_at(
                                          history, (plim_range){ 0, history->events.count }) };
    return plim_history_event(history, &all, index);
}

uint64_t plim_history_pushed_events(const plim_history *history)
{
    return history->events.count;
}

plim_status plim_history_push_segment(plim_history *history, const plim_segment *segment,
                                      plim_error *err)
{
    return PLIM_VEC_PUSH(history->mem, &history->segments, *segment) ? PLIM_OK : no_memory(err);
}

plim_status plim_history_push_block(plim_history *history, const plim_block *block, plim_error *err)
{
    return PLIM_VEC_PUSH(history->mem, &history->blocks, *block) ? PLIM_OK : no_memory(err);
}

plim_status plim_history_push_annotation(plim_history *history, const plim_annotation *annotation,
                                         plim_error *err)
{
    return PLIM_VEC_PUSH(history->mem, &history->annotations, *annotation) ? PLIM_OK
                                                                           : no_memory(err);
}

plim_status plim_history_push_setting(plim_history *history, const plim_setting *setting,
                                      plim_error *err)
{
    return PLIM_VEC_PUSH(history->mem, &history->settings, *setting) ? PLIM_OK : no_memory(err);
}

plim_status plim_history_add_device(plim_history *history, const plim_device_ranges *ranges,
                                    plim_error *err)
{
    PLIM_ASSERT(ranges->events.first + ranges->events.count <= history->events.count);
    PLIM_ASSERT(ranges->segments.first + ranges->segments.count <= history->segments.count);
    PLIM_ASSERT(ranges->blocks.first + ranges->blocks.count <= history->blocks.count);
    /* The row sealing will fill is taken now, so that sealing cannot fail. */
    const plim_device_history empty = { .device = ranges->device };
    if (!PLIM_VEC_PUSH(history->mem, &history->ranges, *ranges) ||
        !PLIM_VEC_PUSH(history->mem, &history->devices, empty)) {
        return no_memory(err);
    }
    return PLIM_OK;
}

void plim_history_count_anomaly(plim_history *history, plim_anomaly anomaly, uint64_t times)
{
    PLIM_ASSERT((size_t)anomaly < PLIM_ANOMALY_COUNT);
    history->anomalies[anomaly] += times;
}

plim_status plim_history_warn(plim_history *history, plim_error *err, const char *format, ...)
{
    if (history->warnings.count >= PLIM_WARNINGS_MAX) {
        return PLIM_OK;
    }
    char line[WARNING_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const char *copy = plim_arena_copy(&history->arena, line, written < 0 ? 0 : strlen(line));
    if (copy == NULL || !PLIM_VEC_PUSH(history->mem, &history->warnings, copy)) {
        return no_memory(err);
    }
    return PLIM_OK;
}

void plim_history_set_source(plim_history *history, const plim_source *source)
{
    history->source = *source;
}

void plim_history_seal(plim_history *history)
{
    plim_intern_deinit(&history->string_index);
    plim_intern_deinit(&history->frame_index);
    plim_intern_deinit(&history->stack_index);
    plim_intern_deinit(&history->stream_index);
    plim_intern_deinit(&history->note_index);
    for (size_t i = 0; i < history->ranges.count; i++) {
        const plim_device_ranges *ranges = &history->ranges.items[i];
        plim_device_history *device = &history->devices.items[i];
        device->events = events_at(history, ranges->events);
        device->segment_count = ranges->segments.count;
        device->block_count = ranges->blocks.count;
        device->capacity_events = ranges->capacity_events;
        device->earlier_events = ranges->earlier_events;
        device->overflowed = ranges->overflowed;
        if (ranges->segments.count > 0) {
            device->segments = history->segments.items + ranges->segments.first;
        }
        if (ranges->blocks.count > 0) {
            device->blocks = history->blocks.items + ranges->blocks.first;
        }
    }
}
