/*
 * stacks.c - frames and stacks: a list of frame dicts becomes one number.
 *
 * The list's items keep the number in their slot, and equal lists share their items, so a stack
 * that a million events have is looked up a million times by one load.
 */
#include "torch/import.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Slots hold the stack + SLOT_BASE, so that PLIM_NONE fits and 0 stays "not built yet". */
#define SLOT_NONE 1u
#define SLOT_BASE 2u

/* A frame's members of torch.fx as one string: "op name\ntrace". PLIM_NONE for most frames. */
static plim_status import_fx(plim_import *import, const plim_record *record, uint32_t *ret_fx,
                             plim_error *err)
{
    static const plim_record_field fields[] = { FIELD_FX_NODE_OP, FIELD_FX_NODE_NAME,
                                                FIELD_FX_NODE_INFO, FIELD_FX_ORIGINAL_TRACE };
    char text[2048];
    size_t used = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *part = NULL;
        size_t bytes = 0;
        if (plim_value_string(record_get(record, fields[i]), &part, &bytes) && bytes > 0) {
            const int written =
                snprintf(text + used, sizeof text - used, "%s%.*s", used == 0 ? "" : "\n",
                         (int)(bytes < 1024 ? bytes : 1024), part);
            used += written < 0 ? 0 : (size_t)written;
            used = used < sizeof text ? used : sizeof text - 1;
        }
    }
    *ret_fx = PLIM_NONE;
    return used == 0 ? PLIM_OK : plim_history_add_string(import->history, text, used, ret_fx, err);
}

plim_status plim_import_frame(plim_import *import, const plim_record *record, uint64_t *ret_id,
                              plim_error *err)
{
    plim_frame frame = { 0 };
    PLIM_TRY(plim_record_string(import, record, FIELD_FILENAME, &frame.filename, err));
    PLIM_TRY(plim_record_string(import, record, FIELD_NAME, &frame.name, err));
    const uint64_t line = plim_record_u64(import, record, FIELD_LINE, 0);
    frame.line = line > UINT32_MAX ? 0 : (uint32_t)line;
    PLIM_TRY(import_fx(import, record, &frame.fx, err));
    uint32_t id = 0;
    PLIM_TRY(plim_history_add_frame(import->history, &frame, &id, err));
    *ret_id = id;
    return PLIM_OK;
}

/* A frame as it may stand in a list: a row, a dict, or a C++ function's name (2.0). */
static plim_status frame_of_item(plim_import *import, plim_value item, uint32_t *ret_frame,
                                 plim_error *err)
{
    uint8_t row_class = 0;
    uint64_t id = 0;
    if (plim_value_row_of(item, &row_class, &id) && row_class == RECORD_FRAME) {
        *ret_frame = (uint32_t)id;
        return PLIM_OK;
    }
    plim_record_shape scratch;
    plim_record frame;
    if (plim_record_of_dict(item, &scratch, &frame) && scratch.kind == RECORD_FRAME) {
        PLIM_TRY(plim_import_count_unknown(import, &scratch, 1, err));
        PLIM_TRY(plim_import_frame(import, &frame, &id, err));
        *ret_frame = (uint32_t)id;
        return PLIM_OK;
    }
    plim_frame odd = { .filename = PLIM_NONE, .name = PLIM_NONE, .fx = PLIM_NONE };
    PLIM_TRY(plim_import_string(import, item, &odd.name, err));
    if (odd.name == PLIM_NONE) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
    }
    return plim_history_add_frame(import->history, &odd, ret_frame, err);
}

static plim_status build_stack(plim_import *import, plim_value frames, uint32_t *ret_stack,
                               plim_error *err)
{
    const uint64_t count = plim_value_count(frames);
    import->stack_scratch.count = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t frame = 0;
        PLIM_TRY(frame_of_item(import, plim_value_item(frames, i), &frame, err));
        if (!PLIM_VEC_PUSH(import->mem, &import->stack_scratch, frame)) {
            return plim_fail_memory(err, "importing the snapshot");
        }
    }
    return plim_history_add_stack(import->history, import->stack_scratch.items,
                                  import->stack_scratch.count, ret_stack, err);
}

plim_status plim_import_stack(plim_import *import, plim_value frames, uint32_t *ret_stack,
                              plim_error *err)
{
    const plim_kind kind = plim_value_kind(frames);
    uint32_t *slot = NULL;
    if (kind == PLIM_KIND_LIST || kind == PLIM_KIND_TUPLE) {
        slot = plim_value_slot(frames);
    } else if (kind != PLIM_KIND_ABSENT && kind != PLIM_KIND_NONE) {
        plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
    }
    *ret_stack = PLIM_NONE;
    if (slot == NULL) {
        return PLIM_OK;
    }
    if (*slot == 0) {
        uint32_t stack = PLIM_NONE;
        PLIM_TRY(build_stack(import, frames, &stack, err));
        *slot = stack == PLIM_NONE ? SLOT_NONE : stack + SLOT_BASE;
    }
    *ret_stack = *slot == SLOT_NONE ? PLIM_NONE : *slot - SLOT_BASE;
    return PLIM_OK;
}

plim_status plim_import_record_stack(plim_import *import, const plim_record *record,
                                     uint32_t *ret_stack, plim_error *err)
{
    PLIM_TRY(plim_import_stack(import, record_get(record, FIELD_FRAMES), ret_stack, err));
    if (*ret_stack == PLIM_NONE && record->shape->position[FIELD_CPP_FRAMES] >= 0) {
        return plim_import_stack(import, record_get(record, FIELD_CPP_FRAMES), ret_stack, err);
    }
    return PLIM_OK;
}
