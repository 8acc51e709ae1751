/*
 * reading.h - texts as exports of the profiler, for the tests of this room.
 */
#ifndef PLIMSOLL_TESTS_PROFILER_READING_H
#define PLIMSOLL_TESTS_PROFILER_READING_H

#include "base/input.h"
#include "codec/codec.h"
#include "plimsoll/timeline.h"
#include "profiler/read.h"

#include "harness.h"

static inline plim_status t_read(const char *text, size_t bytes, const plim_mem *mem,
                                 plim_history **ret_history, plim_error *err)
{
    plim_input *input = NULL;
    const plim_input_options how = { .mem = mem, .codecs = plim_codecs };
    const plim_load_options options = { .mem = mem };
    plim_status status = plim_input_open_memory(text, bytes, &how, &input, err);
    if (status == PLIM_OK) {
        status = plim_profiler_read(input, &options, ret_history, err);
    }
    plim_input_close(input);
    return status;
}

static inline plim_history *t_must_read(const char *text)
{
    plim_history *history = NULL;
    plim_error err = { 0 };
    if (t_read(text, strlen(text), NULL, &history, &err) != PLIM_OK) {
        print_error("%s\n", err.message);
    }
    T_NOT_NULL(history);
    return history;
}

static inline plim_history *t_must_read_file(const char *path)
{
    static char data[1 << 20];
    FILE *const file = fopen(path, "rb");
    T_NOT_NULL(file);
    const size_t bytes = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    plim_history *history = NULL;
    T_EQ_U64(t_read(data, bytes, NULL, &history, NULL), PLIM_OK);
    return history;
}

/* The name of a frame of an event's stack, the innermost first. */
static inline const char *t_frame(const plim_history *history, uint64_t event, uint32_t frame)
{
    const plim_device_history *const device = plim_history_device(history, 0);
    const plim_stack stack = plim_history_stack(history, device->events.stack[event]);
    T_TRUE(frame < stack.frame_count);
    return plim_history_string(history, plim_history_frame(history, stack.frames[frame])->name,
                               NULL);
}

/* The highest sum of blocks, as the timeline has it. */
static inline uint64_t t_peak(const plim_history *history)
{
    plim_timeline *timeline = NULL;
    plim_cursor *cursor = NULL;
    uint64_t peak = 0;
    T_EQ_U64(plim_timeline_create(history, 0, NULL, &timeline, NULL), PLIM_OK);
    T_EQ_U64(plim_cursor_create(timeline, &cursor, NULL), PLIM_OK);
    while (plim_cursor_next(cursor)) {
        const plim_figures figures = plim_cursor_figures(cursor);
        peak = figures.allocated_bytes > peak ? figures.allocated_bytes : peak;
        T_EQ_U64(figures.allocated_slack_bytes, 0);
    }
    plim_cursor_destroy(cursor);
    plim_timeline_destroy(timeline);
    return peak;
}

#endif
