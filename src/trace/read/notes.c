/*
 * notes.c - what rows have no place for: runs of events that share a note.
 */
#include "trace/read/reading.h"

#include "base/error.h"

static plim_status read_string(plim_file_reading *reading, plim_trace_bytes *bytes, bool is_there,
                               uint32_t *ret_string, plim_error *err)
{
    *ret_string = PLIM_NONE;
    return is_there ? plim_file_reading_string(reading, plim_get_varint(bytes), ret_string, err)
                    : PLIM_OK;
}

static plim_status read_note(plim_file_reading *reading, plim_trace_bytes *bytes,
                             plim_note_run *run, plim_error *err)
{
    const uint64_t fields = plim_get_varint(bytes);
    plim_note note = { .has_pool = (fields & PLIM_NOTE_POOL) != 0 };
    uint32_t action = PLIM_NONE;
    size_t length = 0;
    note.pool.a = note.has_pool ? plim_get_varint(bytes) : 0;
    note.pool.b = note.has_pool ? plim_get_varint(bytes) : 0;
    PLIM_TRY(read_string(reading, bytes, (fields & PLIM_NOTE_COMPILE_CONTEXT) != 0,
                         &note.compile_context, err));
    PLIM_TRY(read_string(reading, bytes, (fields & PLIM_NOTE_USER_METADATA) != 0,
                         &note.user_metadata, err));
    PLIM_TRY(read_string(reading, bytes, (fields & PLIM_NOTE_FORWARD_STACK) != 0,
                         &note.forward_stack, err));
    PLIM_TRY(read_string(reading, bytes, (fields & PLIM_NOTE_CATEGORY) != 0, &note.category, err));
    PLIM_TRY(read_string(reading, bytes, (fields & PLIM_NOTE_ACTION) != 0, &action, err));
    if (bytes->at == NULL) {
        return PLIM_OK;
    }
    if (action != PLIM_NONE) {
        const char *const name = plim_history_string(reading->history, action, &length);
        plim_action named = PLIM_USER_DEFINED;
        PLIM_TRY(plim_history_add_action(reading->history, name, length, &named, err));
        run->action = named < PLIM_ACTION_OTHER ? PLIM_USER_DEFINED : named;
    }
    return plim_history_add_note(reading->history, &note, &run->note, err);
}

plim_status plim_file_reading_notes(plim_file_reading *reading, const plim_chunk *chunk,
                                    plim_note_runs *runs, plim_error *err)
{
    plim_trace_bytes bytes = { 0 };
    uint64_t behind = 0;
    const uint64_t least =
        runs->count == 0 ? 0
                         : runs->items[runs->count - 1].first + runs->items[runs->count - 1].count;
    PLIM_TRY(plim_file_reading_open(reading, chunk, &bytes, err));
    (void)plim_get_varint(&bytes); /* the device */
    while (plim_bytes_left(&bytes) > 0) {
        plim_note_run run = { .action = PLIM_USER_DEFINED };
        run.first = behind + plim_get_varint(&bytes);
        run.count = plim_get_varint(&bytes);
        PLIM_TRY(read_note(reading, &bytes, &run, err));
        if (run.first < behind || run.first < least || run.count > UINT64_MAX - run.first) {
            bytes.at = NULL;
        }
        if (bytes.at != NULL && !PLIM_VEC_PUSH(reading->mem, runs, run)) {
            return plim_fail_memory(err, "reading a recording");
        }
        behind = run.first + run.count;
    }
    if (bytes.at == NULL) {
        plim_file_reading_spoiled(reading, chunk);
    }
    return PLIM_OK;
}
