/*
 * history.c - reading a history, and its end.
 */
#include "history/tables.h"

#include "base/assert.h"

static const char *const action_names[] = {
#define ACTION_NAME(code, name) [code] = name,
    PLIM_ACTION_LIST(ACTION_NAME)
#undef ACTION_NAME
};

const char *plim_anomaly_name(plim_anomaly anomaly)
{
    static const char *const names[] = {
#define ANOMALY_NAME(code, name, text) [code] = name,
        PLIM_ANOMALY_LIST(ANOMALY_NAME)
#undef ANOMALY_NAME
    };
    return (size_t)anomaly < PLIM_ANOMALY_COUNT ? names[anomaly] : "unknown";
}

const char *plim_anomaly_text(plim_anomaly anomaly)
{
    static const char *const texts[] = {
#define ANOMALY_TEXT(code, name, text) [code] = text,
        PLIM_ANOMALY_LIST(ANOMALY_TEXT)
#undef ANOMALY_TEXT
    };
    return (size_t)anomaly < PLIM_ANOMALY_COUNT ? texts[anomaly] : "an unknown anomaly";
}

static void free_events(plim_history *history)
{
    size_t *capacity = history->events.capacities;
#define FREE_COLUMN(column)                                        \
    plim_mem_free(history->mem, history->events.column, *capacity, \
                  sizeof *history->events.column);                 \
    capacity++;
    PLIM_EVENT_COLUMNS(FREE_COLUMN)
#undef FREE_COLUMN
}

void plim_history_destroy(plim_history *history)
{
    if (history == NULL) {
        return;
    }
    const plim_mem *mem = history->mem;
    free_events(history);
    plim_intern_deinit(&history->string_index);
    plim_intern_deinit(&history->frame_index);
    plim_intern_deinit(&history->stack_index);
    plim_intern_deinit(&history->stream_index);
    plim_intern_deinit(&history->note_index);
    PLIM_VEC_FREE(mem, &history->strings);
    PLIM_VEC_FREE(mem, &history->frames);
    PLIM_VEC_FREE(mem, &history->stacks);
    PLIM_VEC_FREE(mem, &history->streams);
    PLIM_VEC_FREE(mem, &history->notes);
    PLIM_VEC_FREE(mem, &history->other_actions);
    PLIM_VEC_FREE(mem, &history->segments);
    PLIM_VEC_FREE(mem, &history->blocks);
    PLIM_VEC_FREE(mem, &history->ranges);
    PLIM_VEC_FREE(mem, &history->devices);
    PLIM_VEC_FREE(mem, &history->annotations);
    PLIM_VEC_FREE(mem, &history->settings);
    PLIM_VEC_FREE(mem, &history->warnings);
    plim_arena_deinit(&history->arena);
    plim_mem_free(mem, history, 1, sizeof *history);
}

plim_source plim_history_source(const plim_history *history)
{
    return history->source;
}

const char *plim_history_string(const plim_history *history, uint32_t string, size_t *ret_bytes)
{
    static const string_row empty = { "", 0 };
    const string_row *row = string == PLIM_NONE ? &empty : &history->strings.items[string];
    PLIM_ASSERT_DEBUG(string == PLIM_NONE || string < history->strings.count);
    if (ret_bytes != NULL) {
        *ret_bytes = row->bytes;
    }
    return row->text;
}

const plim_frame *plim_history_frame(const plim_history *history, uint32_t frame)
{
    PLIM_ASSERT(frame < history->frames.count);
    return &history->frames.items[frame];
}

plim_stack plim_history_stack(const plim_history *history, uint32_t stack)
{
    if (stack == PLIM_NONE) {
        return (plim_stack){ 0 };
    }
    PLIM_ASSERT(stack < history->stacks.count);
    return history->stacks.items[stack];
}

uint64_t plim_history_stream(const plim_history *history, uint32_t stream)
{
    PLIM_ASSERT(stream < history->streams.count);
    return history->streams.items[stream];
}

const plim_note *plim_history_note(const plim_history *history, uint32_t note)
{
    PLIM_ASSERT(note < history->notes.count);
    return &history->notes.items[note];
}

plim_event plim_history_event(const plim_history *history, const plim_device_history *device,
                              uint64_t index)
{
    const plim_events *const events = &device->events;
    PLIM_ASSERT(index < events->count);
    return (plim_event){
        .action = (plim_action)events->action[index],
        .device = device->device,
        .stream = plim_history_stream(history, events->stream[index]),
        .addr = events->addr[index],
        .bytes = events->bytes[index],
        .time_ns = plim_time_ns(events->time_us[index]),
        .pool = plim_history_note(history, events->note[index])->pool,
        .stack = events->stack[index],
        .note = events->note[index],
    };
}

const char *plim_history_action_name(const plim_history *history, uint8_t action)
{
    if (action < PLIM_ACTION_KNOWN_COUNT) {
        return action_names[action];
    }
    const size_t other = (size_t)action - PLIM_ACTION_OTHER;
    return other < history->other_actions.count ? history->other_actions.items[other] : "unknown";
}

size_t plim_history_device_count(const plim_history *history)
{
    return history->devices.count;
}

const plim_device_history *plim_history_device(const plim_history *history, size_t index)
{
    PLIM_ASSERT(index < history->devices.count);
    return &history->devices.items[index];
}

uint32_t plim_history_string_count(const plim_history *history)
{
    return (uint32_t)history->strings.count;
}

uint32_t plim_history_frame_count(const plim_history *history)
{
    return (uint32_t)history->frames.count;
}

uint32_t plim_history_stack_count(const plim_history *history)
{
    return (uint32_t)history->stacks.count;
}

uint32_t plim_history_stream_count(const plim_history *history)
{
    return (uint32_t)history->streams.count;
}

const plim_annotation *plim_history_annotations(const plim_history *history, uint64_t *ret_count)
{
    *ret_count = history->annotations.count;
    return history->annotations.items;
}

const plim_setting *plim_history_settings(const plim_history *history, uint64_t *ret_count)
{
    *ret_count = history->settings.count;
    return history->settings.items;
}

uint64_t plim_history_anomaly_count(const plim_history *history, plim_anomaly anomaly)
{
    PLIM_ASSERT((size_t)anomaly < PLIM_ANOMALY_COUNT);
    return history->anomalies[anomaly];
}

size_t plim_history_warning_count(const plim_history *history)
{
    return history->warnings.count;
}

const char *plim_history_warning(const plim_history *history, size_t index)
{
    PLIM_ASSERT(index < history->warnings.count);
    return history->warnings.items[index];
}
