/*
 * save.h - the state of one snapshot being written, shared by the files save*.c.
 *
 * The root is written in one pass from the history's tables, a record after the other; what is
 * written is never held. What records share - texts, frames, stacks - is written where it is
 * first met and referred to from then on: its number in the pickle's memo is kept in an array
 * beside the history's table. Everything else stays out of the memo, which readers have to hold.
 *
 * Failures stick to the emitter (pickle/emit.h); what a function emits after one is not written.
 */
#ifndef PLIMSOLL_TORCH_SAVE_H
#define PLIMSOLL_TORCH_SAVE_H

#include "base/map.h"
#include "pickle/emit.h"
#include "torch/import.h"

#include "plimsoll/snapshot.h"

/* Texts of the format itself: the fields of records (import.h) and what follows. */
#define SAVE_TEXT_LIST(X)                                 \
    FIELD_LIST(X)                                         \
    X(SEGMENTS, "segments")                               \
    X(DEVICE_TRACES, "device_traces")                     \
    X(ALLOCATOR_SETTINGS, "allocator_settings")           \
    X(EXTERNAL_ANNOTATIONS, "external_annotations")       \
    X(HOST_SEGMENTS, "host_segments")                     \
    X(HOST_TRACES, "host_traces")                         \
    X(TRACE_ALLOC_MAX_ENTRIES, "trace_alloc_max_entries") \
    X(TRACE_ALLOC_OVERFLOWED, "trace_alloc_overflowed")   \
    X(SMALL, "small")                                     \
    X(LARGE, "large")                                     \
    X(INACTIVE, "inactive")                               \
    X(ACTIVE_ALLOCATED, "active_allocated")               \
    X(ACTIVE_PENDING_FREE, "active_pending_free")         \
    X(START, "START")                                     \
    X(END, "END")                                         \
    X(NO_CONTEXT, "N/A")                                  \
    X(EMPTY, "")

typedef enum save_text {
#define SAVE_TEXT_ENUM(code, text) TEXT_##code,
    SAVE_TEXT_LIST(SAVE_TEXT_ENUM)
#undef SAVE_TEXT_ENUM
        TEXT_COUNT
} save_text;

typedef struct plim_save {
    const plim_history *history;
    const plim_mem *mem;
    plim_error *err;
    uint32_t torch; /* the release whose keys are written, as PLIM_TORCH() has it */
    plim_emitter out;

    /* Numbers in the memo, plus 1; 0: not written yet. */
    uint32_t texts[TEXT_COUNT];
    uint32_t actions[PLIM_ACTION_MAX + 1];
    uint32_t *strings; /* by the history's number */
    uint32_t *frames;
    uint32_t *stacks;
    plim_map forwards; /* lists of the forward pass, by the string that has their lines */
    plim_text scratch;
} plim_save;

/* Writes one pickle into a sink: plim_snapshot_save() without the file. */
plim_status plim_snapshot_write(const plim_history *history,
                                const plim_snapshot_save_options *options, plim_sink sink,
                                plim_error *err);

/* --- save_texts.c: what is shared --- */

plim_status plim_save_init_shared(plim_save *save);
void plim_save_deinit_shared(plim_save *save);

/* A text of the format; one of the history's, "" for PLIM_NONE; an action's name. */
void plim_save_text(plim_save *save, save_text text);
void plim_save_string(plim_save *save, uint32_t string);
void plim_save_action(plim_save *save, uint8_t action);
/* A list of frames, or an empty one for PLIM_NONE. */
void plim_save_stack(plim_save *save, uint32_t stack);
/* The lines of a string as a list. */
void plim_save_lines(plim_save *save, uint32_t string);

/* --- save_records.c --- */

/* The segments of all devices but the host, or of the host alone, as one list. */
plim_status plim_save_segments(plim_save *save, bool of_host);
/* A list for each device up to the last; or the host's own list. */
plim_status plim_save_traces(plim_save *save);
plim_status plim_save_events(plim_save *save, const plim_events *events);
plim_status plim_save_annotations(plim_save *save);

/* --- save_settings.c --- */

plim_status plim_save_settings(plim_save *save);

/* A container of `count` items begins; see plim_emit_between() for what follows. */
static inline void plim_save_open(plim_save *save, const plim_emit_form *form)
{
    plim_emit_opcode(&save->out, form->empty);
}

/* Before item `next` of the open list, and, with next == count, at its end. */
static inline PLIM_MUST_USE plim_status plim_save_between(plim_save *save, uint64_t next,
                                                          uint64_t count)
{
    plim_emit_between(&save->out, &plim_emit_list, next, count);
    return plim_emit_value(&save->out);
}

/* A dict of a few pairs: what is written between these two is keys and values in turn. */
static inline void plim_save_begin_record(plim_save *save)
{
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_EMPTY_DICT);
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_MARK);
}

static inline void plim_save_end_record(plim_save *save)
{
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_SETITEMS);
}

#endif
