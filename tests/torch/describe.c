/*
 * describe.c - histories as text, by their public interface.
 */
#include "torch/describe.h"

#include <inttypes.h>

#define TEXT_BYTES_MAX ((size_t)1 << 28)

static void put_time(plim_text *text, int64_t time_us)
{
    if (time_us != PLIM_TIME_UNKNOWN) {
        plim_text_append_format(text, " t%" PRId64, time_us);
    }
}

static void put_stack(plim_text *text, const plim_history *history, uint32_t number)
{
    const plim_stack stack = plim_history_stack(history, number);
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const plim_frame *frame = plim_history_frame(history, stack.frames[i]);
        plim_text_append_format(text, "%s%s", i == 0 ? " " : "<",
                                plim_history_string(history, frame->name, NULL));
        if (frame->filename != PLIM_NONE) {
            plim_text_append_format(
                text, "@%s:%u", plim_history_string(history, frame->filename, NULL), frame->line);
        }
        if (frame->fx != PLIM_NONE) {
            plim_text_append_format(text, "(%s)", plim_history_string(history, frame->fx, NULL));
        }
    }
}

static void put_named(plim_text *text, const plim_history *history, const char *name,
                      uint32_t string)
{
    if (string != PLIM_NONE) {
        plim_text_append_format(text, " %s=%s", name, plim_history_string(history, string, NULL));
    }
}

static void put_note(plim_text *text, const plim_history *history, uint32_t number)
{
    const plim_note *note = plim_history_note(history, number);
    if (note->has_pool) {
        plim_text_append_format(text, " pool %" PRIu64 ",%" PRIu64, note->pool.a, note->pool.b);
    }
    put_named(text, history, "context", note->compile_context);
    put_named(text, history, "metadata", note->user_metadata);
    put_named(text, history, "forward", note->forward_stack);
    put_named(text, history, "category", note->category);
}

static void put_events(plim_text *text, const plim_history *history, const plim_events *events)
{
    for (uint64_t i = 0; i < events->count; i++) {
        plim_text_append_format(text, "%s 0x%" PRIx64 " %" PRIu64 " s%" PRIu64,
                                plim_history_action_name(history, events->action[i]),
                                events->addr[i], events->bytes[i],
                                plim_history_stream(history, events->stream[i]));
        put_time(text, events->time_us[i]);
        put_stack(text, history, events->stack[i]);
        put_note(text, history, events->note[i]);
        plim_text_append_char(text, '\n');
    }
}

static void put_blocks(plim_text *text, const plim_history *history,
                       const plim_device_history *device, const plim_segment *segment)
{
    static const char *const states[] = { "inactive", "active_allocated", "active_pending_free" };
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *block = &device->blocks[segment->block_first + i];
        plim_text_append_format(text, "block 0x%" PRIx64 " %" PRIu64 "/%" PRIu64 " %s", block->addr,
                                block->bytes, block->requested_bytes, states[block->state]);
        put_stack(text, history, block->stack);
        plim_text_append_char(text, '\n');
    }
}

static void put_device(plim_text *text, const plim_history *history,
                       const plim_device_history *device)
{
    plim_text_append_format(text, "device %d", device->device);
    if (device->capacity_events != 0) {
        plim_text_append_format(text, " of %" PRIu64, device->capacity_events);
    }
    if (device->overflowed != PLIM_UNKNOWN) {
        plim_text_append_string(text, device->overflowed == PLIM_YES ? " overflowed" : " whole");
    }
    plim_text_append_char(text, '\n');
    put_events(text, history, &device->events);
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *segment = &device->segments[i];
        plim_text_append_format(
            text,
            "segment 0x%" PRIx64 " %" PRIu64 " s%" PRIu64 " pool %" PRIu64 ",%" PRIu64 " %s%s",
            segment->addr, segment->bytes, plim_history_stream(history, segment->stream),
            segment->pool.a, segment->pool.b, segment->is_large ? "large" : "small",
            segment->is_expandable ? " expandable" : "");
        put_stack(text, history, segment->stack);
        plim_text_append_char(text, '\n');
        put_blocks(text, history, device, segment);
    }
}

static void put_setting(plim_text *text, const plim_history *history, const plim_setting *setting)
{
    plim_text_append_format(
        text, "setting %s%s%s=", plim_history_string(history, setting->group, NULL),
        setting->group == PLIM_NONE ? "" : "/", plim_history_string(history, setting->name, NULL));
    switch (setting->kind) {
    case PLIM_SETTING_NONE:
        plim_text_append_string(text, "none\n");
        break;
    case PLIM_SETTING_INTEGER:
        plim_text_append_format(text, "%" PRId64 "\n", setting->value.integer);
        break;
    case PLIM_SETTING_REAL:
        plim_text_append_format(text, "%.3f\n", setting->value.real);
        break;
    case PLIM_SETTING_BOOLEAN:
        plim_text_append_string(text, setting->value.boolean ? "yes\n" : "no\n");
        break;
    case PLIM_SETTING_TEXT:
        plim_text_append_format(text, "'%s'\n",
                                plim_history_string(history, setting->value.text, NULL));
        break;
    }
}

static void put_annotations(plim_text *text, const plim_history *history)
{
    uint64_t count = 0;
    const plim_annotation *annotations = plim_history_annotations(history, &count);
    for (uint64_t i = 0; i < count; i++) {
        plim_text_append_format(
            text, "annotation %s %s on %d", annotations[i].is_start ? "START" : "END",
            plim_history_string(history, annotations[i].name, NULL), annotations[i].device);
        put_time(text, annotations[i].time_us);
        plim_text_append_char(text, '\n');
    }
}

plim_text describe(const plim_history *history)
{
    plim_text text;
    uint64_t setting_count = 0;
    const plim_setting *settings = plim_history_settings(history, &setting_count);
    plim_text_init(&text, NULL, TEXT_BYTES_MAX);
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        put_device(&text, history, plim_history_device(history, i));
    }
    for (uint64_t i = 0; i < setting_count; i++) {
        put_setting(&text, history, &settings[i]);
    }
    put_annotations(&text, history);
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        const uint64_t times = plim_history_anomaly_count(history, (plim_anomaly)i);
        if (times > 0) {
            plim_text_append_format(&text, "%s %" PRIu64 "\n", plim_anomaly_name((plim_anomaly)i),
                                    times);
        }
    }
    for (size_t i = 0; i < plim_history_warning_count(history); i++) {
        plim_text_append_format(&text, "warning %s\n", plim_history_warning(history, i));
    }
    return text;
}
