/*
 * same.c - two histories side by side, by their public interface.
 */
#include "torch/same.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct comparison {
    const plim_history *a, *b;
    char where[128]; /* what is being compared */
    char *difference;
    size_t bytes;
} comparison;

__attribute__((format(printf, 2, 3))) static bool differ(comparison *c, const char *format, ...)
{
    char what[512];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    snprintf(c->difference, c->bytes, "%s: %s", c->where, what);
    return false;
}

static bool same_u64(comparison *c, const char *name, uint64_t a, uint64_t b)
{
    return a == b || differ(c, "%s is %" PRIu64 ", then %" PRIu64, name, a, b);
}

static bool same_text(comparison *c, const char *name, uint32_t a, uint32_t b)
{
    size_t a_bytes = 0;
    size_t b_bytes = 0;
    const char *a_text = plim_history_string(c->a, a, &a_bytes);
    const char *b_text = plim_history_string(c->b, b, &b_bytes);
    return (a_bytes == b_bytes && memcmp(a_text, b_text, a_bytes) == 0) ||
           differ(c, "%s is \"%s\", then \"%s\"", name, a_text, b_text);
}

/* Here a missing text is not an empty one. */
static bool same_optional(comparison *c, const char *name, uint32_t a, uint32_t b)
{
    return ((a == PLIM_NONE) == (b == PLIM_NONE) || differ(c, "%s is there once only", name)) &&
           same_text(c, name, a, b);
}

static bool same_stack(comparison *c, uint32_t a, uint32_t b)
{
    const plim_stack left = plim_history_stack(c->a, a);
    const plim_stack right = plim_history_stack(c->b, b);
    if (!same_u64(c, "the number of frames", left.frame_count, right.frame_count)) {
        return false;
    }
    for (uint32_t i = 0; i < left.frame_count; i++) {
        const plim_frame *x = plim_history_frame(c->a, left.frames[i]);
        const plim_frame *y = plim_history_frame(c->b, right.frames[i]);
        if (!same_text(c, "a frame's file", x->filename, y->filename) ||
            !same_text(c, "a frame's name", x->name, y->name) ||
            !same_u64(c, "a frame's line", x->line, y->line) ||
            !same_optional(c, "a frame's torch.fx", x->fx, y->fx)) {
            return false;
        }
    }
    return true;
}

static bool same_pool(comparison *c, plim_pool_id a, plim_pool_id b)
{
    return same_u64(c, "the pool", a.a, b.a) && same_u64(c, "the pool's second half", a.b, b.b);
}

static bool same_note(comparison *c, uint32_t a, uint32_t b)
{
    const plim_note *x = plim_history_note(c->a, a);
    const plim_note *y = plim_history_note(c->b, b);
    return same_pool(c, x->pool, y->pool) &&
           same_u64(c, "whether it has a pool", x->has_pool, y->has_pool) &&
           same_optional(c, "the compile context", x->compile_context, y->compile_context) &&
           same_optional(c, "the metadata", x->user_metadata, y->user_metadata) &&
           same_optional(c, "the forward stack", x->forward_stack, y->forward_stack) &&
           same_optional(c, "the category", x->category, y->category);
}

static bool same_events(comparison *c, int device, const plim_events *a, const plim_events *b)
{
    snprintf(c->where, sizeof c->where, "device %d", device);
    bool same = same_u64(c, "the number of events", a->count, b->count);
    for (uint64_t i = 0; i < a->count && same; i++) {
        snprintf(c->where, sizeof c->where, "device %d, event %" PRIu64, device, i);
        const char *x = plim_history_action_name(c->a, a->action[i]);
        const char *y = plim_history_action_name(c->b, b->action[i]);
        same = (strcmp(x, y) == 0 || differ(c, "the action is %s, then %s", x, y)) &&
               same_u64(c, "the address", a->addr[i], b->addr[i]) &&
               same_u64(c, "the size", a->bytes[i], b->bytes[i]) &&
               same_u64(c, "the time", (uint64_t)a->time_us[i], (uint64_t)b->time_us[i]) &&
               same_u64(c, "the stream", plim_history_stream(c->a, a->stream[i]),
                        plim_history_stream(c->b, b->stream[i])) &&
               same_stack(c, a->stack[i], b->stack[i]) && same_note(c, a->note[i], b->note[i]);
    }
    return same;
}

static bool same_block(comparison *c, const plim_block *a, const plim_block *b)
{
    return same_u64(c, "a block's address", a->addr, b->addr) &&
           same_u64(c, "a block's size", a->bytes, b->bytes) &&
           same_u64(c, "a block's request", a->requested_bytes, b->requested_bytes) &&
           same_u64(c, "a block's state", a->state, b->state) && same_stack(c, a->stack, b->stack);
}

static bool same_segment(comparison *c, const plim_segment *a, const plim_segment *b)
{
    return same_u64(c, "the address", a->addr, b->addr) &&
           same_u64(c, "the size", a->bytes, b->bytes) && same_pool(c, a->pool, b->pool) &&
           same_u64(c, "the stream", plim_history_stream(c->a, a->stream),
                    plim_history_stream(c->b, b->stream)) &&
           same_stack(c, a->stack, b->stack) &&
           same_u64(c, "the number of blocks", a->block_count, b->block_count) &&
           same_u64(c, "whether it is large", a->is_large, b->is_large) &&
           same_u64(c, "whether it is expandable", a->is_expandable, b->is_expandable);
}

static bool same_device(comparison *c, const plim_device_history *a, const plim_device_history *b)
{
    snprintf(c->where, sizeof c->where, "the devices");
    if (!same_u64(c, "a device", (uint64_t)a->device, (uint64_t)b->device) ||
        !same_u64(c, "the capacity", a->capacity_events, b->capacity_events) ||
        !same_u64(c, "whether it overflowed", a->overflowed, b->overflowed) ||
        !same_u64(c, "the number of segments", a->segment_count, b->segment_count) ||
        !same_events(c, a->device, &a->events, &b->events)) {
        return false;
    }
    for (uint64_t i = 0; i < a->segment_count; i++) {
        const plim_segment *x = &a->segments[i];
        const plim_segment *y = &b->segments[i];
        snprintf(c->where, sizeof c->where, "device %d, segment %" PRIu64, a->device, i);
        if (!same_segment(c, x, y)) {
            return false;
        }
        for (uint64_t k = 0; k < x->block_count; k++) {
            if (!same_block(c, &a->blocks[x->block_first + k], &b->blocks[y->block_first + k])) {
                return false;
            }
        }
    }
    return true;
}

static const plim_device_history *next_device(const plim_history *history, size_t *next)
{
    while (*next < plim_history_device_count(history)) {
        const plim_device_history *device = plim_history_device(history, (*next)++);
        if (device->events.count > 0 || device->segment_count > 0) {
            return device;
        }
    }
    return NULL;
}

static bool same_devices(comparison *c)
{
    size_t a_next = 0;
    size_t b_next = 0;
    for (;;) {
        const plim_device_history *a = next_device(c->a, &a_next);
        const plim_device_history *b = next_device(c->b, &b_next);
        if (a == NULL || b == NULL) {
            return a == b || differ(c, "one has a device more");
        }
        if (!same_device(c, a, b)) {
            return false;
        }
    }
}

/* To the bit: there are two zeros, and many numbers that are none. */
static bool same_real(comparison *c, double a, double b)
{
    uint64_t bits[2] = { 0 };
    memcpy(&bits[0], &a, sizeof a);
    memcpy(&bits[1], &b, sizeof b);
    return bits[0] == bits[1] || differ(c, "a setting is %g, then %g", a, b);
}

static bool same_value(comparison *c, const plim_setting *a, const plim_setting *b)
{
    switch (a->kind) {
    case PLIM_SETTING_NONE:
        return true;
    case PLIM_SETTING_INTEGER:
        return same_u64(c, "a setting", (uint64_t)a->value.integer, (uint64_t)b->value.integer);
    case PLIM_SETTING_REAL:
        return same_real(c, a->value.real, b->value.real);
    case PLIM_SETTING_BOOLEAN:
        return same_u64(c, "a setting", a->value.boolean, b->value.boolean);
    case PLIM_SETTING_TEXT:
        return same_text(c, "a setting", a->value.text, b->value.text);
    }
    return false;
}

static bool same_settings(comparison *c)
{
    uint64_t a_count = 0;
    uint64_t b_count = 0;
    const plim_setting *a = plim_history_settings(c->a, &a_count);
    const plim_setting *b = plim_history_settings(c->b, &b_count);
    snprintf(c->where, sizeof c->where, "the settings");
    bool same = same_u64(c, "their number", a_count, b_count);
    for (uint64_t i = 0; i < a_count && same; i++) {
        same = same_optional(c, "a group", a[i].group, b[i].group) &&
               same_text(c, "a name", a[i].name, b[i].name) &&
               same_u64(c, "a kind", a[i].kind, b[i].kind) && same_value(c, &a[i], &b[i]);
    }
    return same;
}

static bool same_annotations(comparison *c)
{
    uint64_t a_count = 0;
    uint64_t b_count = 0;
    const plim_annotation *a = plim_history_annotations(c->a, &a_count);
    const plim_annotation *b = plim_history_annotations(c->b, &b_count);
    snprintf(c->where, sizeof c->where, "the annotations");
    bool same = same_u64(c, "their number", a_count, b_count);
    for (uint64_t i = 0; i < a_count && same; i++) {
        same = same_text(c, "a name", a[i].name, b[i].name) &&
               same_u64(c, "a device", (uint64_t)a[i].device, (uint64_t)b[i].device) &&
               same_u64(c, "a time", (uint64_t)a[i].time_us, (uint64_t)b[i].time_us) &&
               same_u64(c, "a stage", a[i].is_start, b[i].is_start);
    }
    return same;
}

bool same_history(const plim_history *a, const plim_history *b, char *difference, size_t bytes)
{
    comparison c = { .a = a, .b = b, .difference = difference, .bytes = bytes };
    difference[0] = '\0';
    return same_devices(&c) && same_settings(&c) && same_annotations(&c);
}
