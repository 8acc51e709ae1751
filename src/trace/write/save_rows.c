/*
 * save_rows.c - events and annotations of a device as rows; what rows have no place for as notes.
 */
#include "trace/write/save.h"

#include "base/error.h"
#include "trace/write/filling.h"

#include <string.h>

typedef struct row_writer {
    plim_saving *saving;
    const plim_saved_device *saved;
    plim_filling *filling;
    const plim_annotation *annotations; /* of the history */
    int32_t device;
} row_writer;

static plim_status put_row(row_writer *writer, const plim_event *row, plim_error *err)
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
    const plim_event row = { .action = (plim_action)PLIM_ROW_ANNOTATION,
                             .addr = annotation->is_start,
                             .bytes = saving->annotations.items[saving->annotations_done].string,
                             .time_ns = plim_time_ns(annotation->time_us) };
    saving->annotations_done++;
    return put_row(writer, &row, err);
}

/* Annotations up to a time; those without one follow the one before them. */
static plim_status put_annotations(row_writer *writer, int64_t until_ns, plim_error *err)
{
    const plim_annotation *annotation = next_annotation(writer);
    while (annotation != NULL && plim_time_ns(annotation->time_us) <= until_ns) {
        PLIM_TRY(put_annotation(writer, annotation, err));
        annotation = next_annotation(writer);
    }
    return PLIM_OK;
}

/* The block that an event is about; where it is about none, what its bytes would take. */
static uint64_t block_bytes(const row_writer *writer, uint64_t event)
{
    const plim_timeline *const timeline = &writer->saved->timeline;
    const uint64_t id = plim_timeline_about(timeline, event);
    return id != PLIM_NO_ALLOCATION
               ? plim_timeline_allocation(timeline, id).block_bytes
               : plim_rule_round(&timeline->blocks.rule, timeline->device->events.bytes[event]);
}

static plim_status put_event(row_writer *writer, uint64_t event, plim_error *err)
{
    const plim_history *const history = writer->saving->history;
    const plim_origins *const origins = &writer->saved->origins;
    const uint32_t row_of = origins->of_event[event];
    plim_event row = plim_history_event(history, writer->saved->device, event);
    if (row.action >= PLIM_ACTION_OTHER) {
        row.action = PLIM_USER_DEFINED;
    }
    if (row.action <= PLIM_FREE_COMPLETED) {
        row.block_bytes = block_bytes(writer, event);
    }
    if (row_of != PLIM_NONE) {
        const plim_origin *const origin = &origins->rows.items[row_of];
        row.is_small = origin->is_small;
        row.pool = plim_history_note(history, row.note)->has_pool ? row.pool : origin->pool;
    }
    return put_row(writer, &row, err);
}

static plim_status put_rows(row_writer *writer, plim_error *err)
{
    const uint64_t count = writer->saved == NULL ? 0 : writer->saved->device->events.count;
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(
            put_annotations(writer, plim_time_ns(writer->saved->device->events.time_us[i]), err));
        PLIM_TRY(put_event(writer, i, err));
    }
    PLIM_TRY(put_annotations(writer, INT64_MAX, err));
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
        plim_records_number(&state->list, note->pool.a);
        plim_records_number(&state->list, note->pool.b);
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

/* True if the row of an event says all of it: its pool, and that it named one. */
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
