/*
 * builder.h - how importers make a history.
 *
 * The life of one: create; intern strings, frames, stacks, streams and notes as they are met;
 * push events, segments and blocks, a device's all together and in order; name the device's
 * ranges with plim_history_add_device(); seal. After sealing a history is read-only.
 *
 * Everything an importer half-built is freed by plim_history_destroy().
 */
#ifndef PLIMSOLL_HISTORY_BUILDER_H
#define PLIMSOLL_HISTORY_BUILDER_H

#include "plimsoll/history.h"

/* A run of rows in one of the history's tables. */
typedef struct plim_range {
    uint64_t first;
    uint64_t count;
} plim_range;

/* The argument of plim_history_add_device(). Segment rows name blocks by index from blocks.first.
 */
typedef struct plim_device_ranges {
    int32_t device;
    plim_range events;
    plim_range segments;
    plim_range blocks;
    uint64_t capacity_events;
    plim_known overflowed;
    uint64_t earlier_events;
} plim_device_ranges;

plim_status plim_history_create(const plim_mem *mem, plim_history **ret_history, plim_error *err);

/* Each gives the number of an equal thing met before, or the next one. */
plim_status plim_history_add_string(plim_history *history, const char *text, size_t bytes,
                                    uint32_t *ret_string, plim_error *err);
plim_status plim_history_add_frame(plim_history *history, const plim_frame *frame,
                                   uint32_t *ret_frame, plim_error *err);
plim_status plim_history_add_stack(plim_history *history, const uint32_t *frames, size_t count,
                                   uint32_t *ret_stack, plim_error *err);
plim_status plim_history_add_stream(plim_history *history, uint64_t handle, uint32_t *ret_stream,
                                    plim_error *err);
plim_status plim_history_add_note(plim_history *history, const plim_note *note, uint32_t *ret_note,
                                  plim_error *err);
/* The action of this name: a known one, or one of the 244 others a history can have. */
plim_status plim_history_add_action(plim_history *history, const char *name, size_t bytes,
                                    plim_action *ret_action, plim_error *err);

/* The event's stack is one of the history's; its note too, or PLIM_NONE: then it gets one that
 * names its pool. What the columns have no place for is left out. */
plim_status plim_history_push_event(plim_history *history, const plim_event *event,
                                    plim_error *err);
/* Likewise, for sources that keep microseconds: time_ns is not read. */
plim_status plim_history_push_event_at(plim_history *history, const plim_event *event,
                                       int64_t time_us, plim_error *err);
/* Row `index` of the events pushed so far, to push a copy of it. */
plim_event plim_history_pushed_event(const plim_history *history, uint64_t index);
uint64_t plim_history_pushed_events(const plim_history *history);
plim_status plim_history_push_segment(plim_history *history, const plim_segment *segment,
                                      plim_error *err);
plim_status plim_history_push_block(plim_history *history, const plim_block *block,
                                    plim_error *err);
plim_status plim_history_push_annotation(plim_history *history, const plim_annotation *annotation,
                                         plim_error *err);
plim_status plim_history_push_setting(plim_history *history, const plim_setting *setting,
                                      plim_error *err);

plim_status plim_history_add_device(plim_history *history, const plim_device_ranges *ranges,
                                    plim_error *err);

void plim_history_count_anomaly(plim_history *history, plim_anomaly anomaly, uint64_t times);
/* A line for the user; beyond PLIM_WARNINGS_MAX they are only counted. */
plim_status plim_history_warn(plim_history *history, plim_error *err, const char *format, ...)
    PLIM_PRINTF(3, 4);
#define PLIM_WARNINGS_MAX 64

void plim_history_set_source(plim_history *history, const plim_source *source);

/* Frees what only building needed and fixes the tables where they are. */
void plim_history_seal(plim_history *history);

#endif
