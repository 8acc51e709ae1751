/*
 * tables.h - the inside of a history: its tables, for the files of this room alone.
 */
#ifndef PLIMSOLL_HISTORY_TABLES_H
#define PLIMSOLL_HISTORY_TABLES_H

#include "base/arena.h"
#include "base/intern.h"
#include "history/builder.h"

/* The columns of the event table, in the order of their capacities. */
#define PLIM_EVENT_COLUMNS(X) X(action) X(addr) X(bytes) X(time_us) X(stack) X(stream) X(note)
#define EVENT_COLUMN_COUNT    7

typedef struct string_row {
    const char *text;
    size_t bytes;
} string_row;

struct plim_history {
    const plim_mem *mem;
    plim_arena arena; /* string bytes, stack frames */
    plim_source source;

    PLIM_VEC(string_row) strings;
    PLIM_VEC(plim_frame) frames;
    PLIM_VEC(plim_stack) stacks;
    PLIM_VEC(uint64_t) streams;
    PLIM_VEC(plim_note) notes;
    PLIM_VEC(const char *) other_actions; /* of PLIM_ACTION_OTHER + index */
    plim_intern string_index, frame_index, stack_index, stream_index, note_index;

    /* Events by column, all devices after one another. */
    struct {
        uint8_t *action;
        uint64_t *addr;
        uint64_t *bytes;
        int64_t *time_us;
        uint32_t *stack;
        uint32_t *stream;
        uint32_t *note;
        size_t count;
        size_t capacity; /* rows every column has room for */
        size_t capacities[EVENT_COLUMN_COUNT];
    } events;
    PLIM_VEC(plim_segment) segments;
    PLIM_VEC(plim_block) blocks;
    PLIM_VEC(plim_device_ranges) ranges;
    PLIM_VEC(plim_device_history) devices; /* made by sealing */
    PLIM_VEC(plim_annotation) annotations;
    PLIM_VEC(plim_setting) settings;
    PLIM_VEC(const char *) warnings;
    uint64_t anomalies[PLIM_ANOMALY_COUNT];

    /* Of the last event that was pushed: most have the same. */
    struct {
        plim_stream stream;
        plim_pool_id pool;
        uint32_t stream_row; /* PLIM_NONE: none was pushed */
        uint32_t pool_note;  /* likewise */
    } last;
};

#endif
