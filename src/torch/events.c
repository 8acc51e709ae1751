/*
 * events.c - trace entries and annotations (docs/formats/pytorch-snapshot.md).
 */
#include "torch/import.h"

#include "base/error.h"

#include <string.h>

/* PyTorch writes this for events outside of any compiled region. */
#define NO_COMPILE_CONTEXT "N/A"

static plim_status import_action(plim_import *import, plim_value value, plim_action *ret_action,
                                 plim_error *err)
{
    /* A few names, whose addresses are chance: the high bits of a product keep them apart. */
    const size_t cached = (value.bits * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ACTIONS_KEPT;
    if (value.bits != 0 && import->last.action_bits[cached] == value.bits) {
        *ret_action = import->last.actions[cached];
        return PLIM_OK;
    }
    const char *text = "(none)";
    size_t bytes = strlen(text);
    if (!plim_value_string(value, &text, &bytes)) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
    }
    PLIM_TRY(plim_history_add_action(import->history, text, bytes, ret_action, err));
    import->last.action_bits[cached] = value.bits;
    import->last.actions[cached] = *ret_action;
    return PLIM_OK;
}

plim_status plim_import_stream(plim_import *import, uint64_t handle, uint32_t *ret_stream,
                               plim_error *err)
{
    if (!import->last.has_stream || import->last.stream_handle != handle) {
        PLIM_TRY(plim_history_add_stream(import->history, handle, &import->last.stream, err));
        import->last.stream_handle = handle;
        import->last.has_stream = true;
    }
    *ret_stream = import->last.stream;
    return PLIM_OK;
}

/* The frames of the forward pass, a list of texts, as one text; the list's slot keeps it. */
static plim_status import_forward(plim_import *import, plim_value frames, uint32_t *ret_string,
                                  plim_error *err)
{
    uint32_t *slot = plim_value_slot(frames); /* the history's number + 1 */
    *ret_string = PLIM_NONE;
    if (slot == NULL || plim_value_count(frames) == 0) {
        return PLIM_OK;
    }
    if (*slot == 0) {
        char text[8192];
        size_t used = 0;
        for (uint64_t i = 0; i < plim_value_count(frames); i++) {
            const char *line = NULL;
            size_t bytes = 0;
            if (plim_value_string(plim_value_item(frames, i), &line, &bytes) &&
                bytes + 1 < sizeof text - used) {
                memcpy(text + used, line, bytes);
                used += bytes;
                text[used++] = '\n';
            }
        }
        PLIM_TRY(plim_history_add_string(import->history, text, used > 0 ? used - 1 : 0, ret_string,
                                         err));
        *slot = *ret_string + 1;
    }
    *ret_string = *slot - 1;
    return PLIM_OK;
}

static plim_status make_note(plim_import *import, const plim_record *record, plim_note *ret_note,
                             plim_error *err)
{
    plim_note note = { .forward_stack = PLIM_NONE };
    note.has_pool = plim_record_pool(import, record, FIELD_POOL_ID, &note.pool);
    PLIM_TRY(plim_record_string(import, record, FIELD_COMPILE_CONTEXT, &note.compile_context, err));
    PLIM_TRY(plim_record_string(import, record, FIELD_USER_METADATA, &note.user_metadata, err));
    PLIM_TRY(plim_record_string(import, record, FIELD_CATEGORY, &note.category, err));
    PLIM_TRY(
        import_forward(import, record_get(record, FIELD_FORWARD_FRAMES), &note.forward_stack, err));
    /* PyTorch's words for "nothing". */
    if (plim_value_is_string(record_get(record, FIELD_COMPILE_CONTEXT), NO_COMPILE_CONTEXT)) {
        note.compile_context = PLIM_NONE;
    }
    if (plim_value_is_string(record_get(record, FIELD_USER_METADATA), "")) {
        note.user_metadata = PLIM_NONE;
    }
    import->facts.has_compile_context |= record->shape->position[FIELD_COMPILE_CONTEXT] >= 0;
    import->facts.has_user_metadata |= record->shape->position[FIELD_USER_METADATA] >= 0;
    import->facts.has_pool_id |= note.has_pool;
    *ret_note = note;
    return PLIM_OK;
}

/* The place of the note of these values: kinds of events take turns, each with its own. */
static uint32_t place_of_note(const plim_value values[NOTE_FIELDS])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < NOTE_FIELDS; i++) {
        hash = hash * 31 + values[i].bits;
    }
    hash *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / the golden ratio: the high bits are mixed */
    return (uint32_t)(hash >> 32) & (NOTES_KEPT - 1);
}

/* Five words of which mostly all are equal: compared here, for memcmp() would be called each time.
 */
static bool has_values(const known_note *known, const plim_value values[NOTE_FIELDS])
{
    uint64_t differing_bits = 0;
    for (size_t i = 0; i < NOTE_FIELDS; i++) {
        differing_bits |= known->values[i].bits ^ values[i].bits;
    }
    return differing_bits == 0;
}

static plim_status import_note(plim_import *import, const plim_record *record, uint32_t *ret_note,
                               plim_error *err)
{
    static const plim_record_field fields[NOTE_FIELDS] = { FIELD_COMPILE_CONTEXT,
                                                           FIELD_USER_METADATA, FIELD_POOL_ID,
                                                           FIELD_FORWARD_FRAMES, FIELD_CATEGORY };
    plim_value values[NOTE_FIELDS];
    for (size_t i = 0; i < NOTE_FIELDS; i++) {
        values[i] = record_get(record, fields[i]);
    }
    if (!has_values(&import->last.notes[import->last.note], values)) {
        import->last.note = place_of_note(values);
        known_note *const known = &import->last.notes[import->last.note];
        if (!has_values(known, values)) {
            plim_note note;
            PLIM_TRY(make_note(import, record, &note, err));
            PLIM_TRY(plim_history_add_note(import->history, &note, &known->note, err));
            memcpy(known->values, values, sizeof values);
        }
    }
    *ret_note = import->last.notes[import->last.note].note;
    return PLIM_OK;
}

/* The address column: of a failed request it holds what the driver had free. */
static uint64_t import_addr(plim_import *import, const plim_record *record, plim_action action)
{
    const plim_record_field field = action == PLIM_OOM ? FIELD_DEVICE_FREE : FIELD_ADDR;
    if (action <= PLIM_SEGMENT_UNMAP && record->shape->position[field] < 0) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_MISSING_FIELD, 1);
    }
    return plim_record_u64(import, record, field, action == PLIM_OOM ? PLIM_SIZE_UNKNOWN : 0);
}

/* A time that no event can have is unknown. */
static int64_t import_time(plim_import *import, const plim_record *record)
{
    const int64_t time_us = plim_record_i64(import, record, FIELD_TIME_US, PLIM_TIME_UNKNOWN);
    if (time_us >= -PLIM_TIME_US_MAX && time_us <= PLIM_TIME_US_MAX) {
        return time_us;
    }
    if (time_us != PLIM_TIME_UNKNOWN) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
    }
    return PLIM_TIME_UNKNOWN;
}

plim_status plim_import_event(plim_import *import, const plim_record *record, uint64_t *ret_id,
                              plim_error *err)
{
    plim_event event = { 0 };
    PLIM_TRY(import_action(import, record_get(record, FIELD_ACTION), &event.action, err));
    event.addr = import_addr(import, record, event.action);
    event.bytes = plim_record_u64(import, record, FIELD_SIZE, 0);
    const int64_t time_us = import_time(import, record);
    event.stream = plim_record_handle(import, record, FIELD_STREAM);
    PLIM_TRY(plim_import_record_stack(import, record, &event.stack, err));
    PLIM_TRY(import_note(import, record, &event.note, err));
    import->facts.has_time |= time_us != PLIM_TIME_UNKNOWN;
    if (event.action >= PLIM_ACTION_OTHER) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_UNKNOWN_ACTION, 1);
    }
    *ret_id = plim_history_pushed_events(import->history);
    return plim_history_push_event_at(import->history, &event, time_us, err);
}

plim_status plim_import_annotation(plim_import *import, const plim_record *record, uint64_t *ret_id,
                                   plim_error *err)
{
    plim_annotation annotation = { .is_start = plim_value_is_string(record_get(record, FIELD_STAGE),
                                                                    "START") };
    PLIM_TRY(plim_record_string(import, record, FIELD_NAME, &annotation.name, err));
    annotation.device = plim_record_device(import, record);
    annotation.time_us = plim_record_i64(import, record, FIELD_TIME_US, PLIM_TIME_UNKNOWN);
    *ret_id = import->annotations.count;
    return PLIM_VEC_PUSH(import->mem, &import->annotations, annotation)
               ? PLIM_OK
               : plim_fail_memory(err, "importing the snapshot");
}
