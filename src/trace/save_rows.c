/*
 * save_rows.c - events and annotations of a device as rows; what rows have no place for as notes.
 */
#include "trace/save.h"

#include "base/error.h"
#include "trace/filling.h"

#include <string.h>

#define NS_PER_US 1000u

typedef struct row_writer {
    plim_saving *saving;
    const plim_saved_device *saved;
    plim_filling *filling;
    const plim_annotation *annotations; /* of the history */
    size_t known;                       /* blocks of start.known that are done */
    int32_t device;
} row_writer;

/* Nanoseconds, or 0 for what no recording can have: before 1970 or far in the future. */
static uint64_t to_ns(int64_t time_us)
{
    return time_us <= 0 || (uint64_t)time_us > UINT64_MAX / NS_PER_US
               ? 0
               : (uint64_t)time_us * NS_PER_US;
}

static plim_status put_row(row_writer *writer, const plim_row *row, plim_error *err)
{
    if (!plim_filling_add(writer->filling, row)) {
        if (plim_filling_write(writer->filling, &writer->saving->file) != PLIM_OK) {
            return plim_saving_failed(writer->saving, err);
        }
        (void)plim_filling_add(writer->filling, row);
    }
    return PLIM_OK;
}

/* The next annotation of the device, or NULL. */
static const plim_annotation *next_annotation(const row_writer *writer)
{
    const plim_saving *const saving = writer->saving;
    if (saving->annotations_done == saving->annotations.count ||
        saving->annotations.items[saving->annotations_done].device != writer->device) {
        return NULL;
    }
    return &writer->annotations[saving->annotations.items[saving->annotations_done].index];
}

static plim_status put_annotation(row_writer *writer, const plim_annotation *annotation,
                                  plim_error *err)
{
    plim_saving *const saving = writer->saving;
    const plim_row row = { .code = PLIM_ROW_ANNOTATION,
                           .addr = annotation->is_start,
                           .bytes = saving->annotations.items[saving->annotations_done].string,
                           .time_ns = to_ns(annotation->time_us) };
    saving->annotations_done++;
    return put_row(writer, &row, err);
}

/* Annotations up to a time; those without one follow the one before them. */
static plim_status put_annotations(row_writer *writer, uint64_t until_ns, plim_error *err)
{
    const plim_annotation *annotation = next_annotation(writer);
    while (annotation != NULL && to_ns(annotation->time_us) <= until_ns) {
        PLIM_TRY(put_annotation(writer, annotation, err));
        annotation = next_annotation(writer);
    }
    return PLIM_OK;
}

static uint64_t block_bytes(row_writer *writer, uint64_t event)
{
    const plim_start *const start = &writer->saved->start;
    while (writer->known < start->known.count && start->known.items[writer->known].event < event) {
        writer->known++;
    }
    if (writer->known < start->known.count && start->known.items[writer->known].event == event) {
        return start->known.items[writer->known].bytes;
    }
    return plim_saved_block_bytes(writer->saved->device->events.bytes[event]);
}

static plim_status put_event(row_writer *writer, uint64_t event, plim_error *err)
{
    const plim_history *const history = writer->saving->history;
    const plim_events *const events = &writer->saved->device->events;
    const plim_origins *const origins = &writer->saved->origins;
    const uint32_t row_of = origins->of_event[event];
    const plim_origin *const origin = row_of == PLIM_NONE ? NULL : &origins->rows.items[row_of];
    const plim_note *const note = plim_history_note(history, events->note[event]);
    const uint64_t *const pool = note->has_pool || origin == NULL ? note->pool : origin->pool;
    const uint8_t action = events->action[event];
    const plim_row row = { .code = action < PLIM_ACTION_KNOWN_COUNT ? action : PLIM_USER_DEFINED,
                           .is_small = origin != NULL && origin->is_small,
                           .stack = events->stack[event],
                           .stream = plim_history_stream(history, events->stream[event]),
                           .pool = { pool[0], pool[1] },
                           .addr = events->addr[event],
                           .bytes = events->bytes[event],
                           .block_bytes =
                               action <= PLIM_FREE_COMPLETED ? block_bytes(writer, event) : 0,
                           .time_ns = to_ns(events->time_us[event]) };
    return put_row(writer, &row, err);
}

static plim_status put_rows(row_writer *writer, plim_error *err)
{
    const uint64_t count = writer->saved == NULL ? 0 : writer->saved->device->events.count;
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(put_annotations(writer, to_ns(writer->saved->device->events.time_us[i]), err));
        PLIM_TRY(put_event(writer, i, err));
    }
    PLIM_TRY(put_annotations(writer, UINT64_MAX, err));
    return plim_filling_write(writer->filling, &writer->saving->file) == PLIM_OK
               ? PLIM_OK
               : plim_saving_failed(writer->saving, err);
}

plim_status plim_saving_rows(plim_saving *saving, int32_t device, const plim_saved_device *saved,
                             plim_error *err)
{
    row_writer writer = { .saving = saving, .saved = saved, .device = device };
    uint64_t annotation_count = 0;
    writer.annotations = plim_history_annotations(saving->history, &annotation_count);
    writer.filling = plim_filling_create(saving->mem, device);
    if (writer.filling == NULL) {
        return plim_fail_memory(err, "saving events");
    }
    const plim_status status = put_rows(&writer, err);
    plim_filling_destroy(saving->mem, writer.filling);
    return status;
}

/* --- what rows have no place for --- */

/* Neighbouring events whose rows and notes are alike. */
typedef struct note_run {
    uint64_t first;
    uint64_t count; /* 0: none */
    uint32_t note;
    uint8_t action; /* PLIM_USER_DEFINED for all that rows know */
} note_run;

static unsigned fields_of(const plim_note *note, uint8_t action)
{
    return (note->has_pool ? PLIM_NOTE_POOL : 0u) |
           (note->compile_context != PLIM_NONE ? PLIM_NOTE_COMPILE_CONTEXT : 0u) |
           (note->user_metadata != PLIM_NONE ? PLIM_NOTE_USER_METADATA : 0u) |
           (note->forward_stack != PLIM_NONE ? PLIM_NOTE_FORWARD_STACK : 0u) |
           (note->category != PLIM_NONE ? PLIM_NOTE_CATEGORY : 0u) |
           (action >= PLIM_ACTION_OTHER ? PLIM_NOTE_ACTION : 0u);
}

static plim_status put_string(plim_state_writer *state, uint32_t string, plim_error *err)
{
    uint32_t id = 0;
    if (string != PLIM_NONE) {
        PLIM_TRY(plim_state_string(state, string, &id, err));
        plim_records_number(&state->list, id);
    }
    return PLIM_OK;
}

static plim_status put_run(plim_saving *saving, const plim_saved_device *saved, const note_run *run,
                           uint64_t *behind, plim_error *err)
{
    plim_state_writer *const state = &saving->state;
    const plim_note *const note = plim_history_note(saving->history, run->note);
    const unsigned fields = fields_of(note, run->action);
    if (plim_state_begins_chunk(state)) {
        plim_records_number(&state->list, plim_zigzag((uint64_t)saved->device->device));
        *behind = 0;
    }
    plim_records_number(&state->list, run->first - *behind);
    plim_records_number(&state->list, run->count);
    plim_records_number(&state->list, fields);
    if (note->has_pool) {
        plim_records_number(&state->list, note->pool[0]);
        plim_records_number(&state->list, note->pool[1]);
    }
    PLIM_TRY(put_string(state, note->compile_context, err));
    PLIM_TRY(put_string(state, note->user_metadata, err));
    PLIM_TRY(put_string(state, note->forward_stack, err));
    PLIM_TRY(put_string(state, note->category, err));
    if ((fields & PLIM_NOTE_ACTION) != 0) {
        const char *const name = plim_history_action_name(saving->history, run->action);
        uint32_t id = 0;
        PLIM_TRY(plim_names_string(&saving->names, name, strlen(name), &id, err));
        plim_records_number(&state->list, id);
    }
    *behind = run->first + run->count;
    return plim_state_close(state, PLIM_CHUNK_NOTES, err);
}

/* Whether the row of an event says all of it: its pool, and that it named one. */
static bool row_suffices(const plim_saving *saving, const plim_events *events, uint64_t event)
{
    const plim_note *const note = plim_history_note(saving->history, events->note[event]);
    return fields_of(note, events->action[event]) == PLIM_NOTE_POOL;
}

plim_status plim_saving_notes(plim_saving *saving, const plim_saved_device *saved, plim_error *err)
{
    const plim_events *const events = &saved->device->events;
    note_run run = { 0 };
    uint64_t behind = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        const uint8_t action =
            events->action[i] < PLIM_ACTION_OTHER ? PLIM_USER_DEFINED : events->action[i];
        if (run.count > 0 && events->note[i] == run.note && action == run.action) {
            run.count++;
            continue;
        }
        if (run.count > 0) {
            PLIM_TRY(put_run(saving, saved, &run, &behind, err));
            run.count = 0;
        }
        if (!row_suffices(saving, events, i)) {
            run = (note_run){ .first = i, .count = 1, .note = events->note[i], .action = action };
        }
    }
    if (run.count > 0) {
        PLIM_TRY(put_run(saving, saved, &run, &behind, err));
    }
    return plim_state_write(&saving->state, PLIM_CHUNK_NOTES, err);
}
