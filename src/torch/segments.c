/*
 * segments.c - segments and their blocks (docs/formats/pytorch-snapshot.md).
 */
#include "torch/import.h"

#include "base/error.h"

static plim_block_state state_of(plim_import *import, plim_value value)
{
    if (plim_value_is_string(value, "inactive")) {
        return PLIM_BLOCK_INACTIVE;
    }
    /* 1.x says "active" and knows no third state; the typed dict says "active_awaiting_free"
     * though no release writes it. */
    if (plim_value_is_string(value, "active_allocated") || plim_value_is_string(value, "active")) {
        return PLIM_BLOCK_ACTIVE_ALLOCATED;
    }
    if (plim_value_is_string(value, "active_pending_free") ||
        plim_value_is_string(value, "active_awaiting_free")) {
        return PLIM_BLOCK_ACTIVE_PENDING_FREE;
    }
    plim_history_count_anomaly(import->history, PLIM_ANOMALY_BAD_FIELD, 1);
    return PLIM_BLOCK_INACTIVE;
}

/* PyTorch 2.0 keeps what a block was last used for in a list; entry 0 is the latest use. */
static plim_status import_block_history(plim_import *import, plim_value history, plim_block *block,
                                        bool has_requested, plim_error *err)
{
    import->facts.has_history = true;
    if (plim_value_count(history) == 0) {
        return PLIM_OK;
    }
    const plim_value entry = plim_value_item(history, 0);
    uint64_t real_size = 0;
    if (!has_requested && plim_value_u64(plim_value_get(entry, "real_size"), &real_size)) {
        block->requested_bytes = real_size;
    }
    PLIM_TRY(plim_import_stack(import, plim_value_get(entry, "frames"), &block->stack, err));
    if (block->stack == PLIM_NONE) {
        PLIM_TRY(
            plim_import_stack(import, plim_value_get(entry, "cpp_frames"), &block->stack, err));
    }
    return PLIM_OK;
}

plim_status plim_import_block(plim_import *import, const plim_record *record, uint64_t *ret_id,
                              plim_error *err)
{
    raw_block raw = { 0 };
    plim_block *block = &raw.block;
    raw.has_addr = record->shape->position[FIELD_ADDRESS] >= 0;
    block->addr = plim_record_u64(import, record, FIELD_ADDRESS, 0);
    block->bytes = plim_record_u64(import, record, FIELD_SIZE, 0);
    block->state = state_of(import, record_get(record, FIELD_STATE));
    /* In releases without requested sizes the block's size stands in. */
    block->requested_bytes = plim_record_u64(import, record, FIELD_REQUESTED_SIZE, block->bytes);
    PLIM_TRY(plim_import_record_stack(import, record, &block->stack, err));
    const plim_value history = record_get(record, FIELD_HISTORY);
    if (history.bits != 0) {
        PLIM_TRY(import_block_history(import, history, block,
                                      record->shape->position[FIELD_REQUESTED_SIZE] >= 0, err));
    }
    import->facts.has_block_addr |= raw.has_addr;
    *ret_id = import->blocks.count;
    return PLIM_VEC_PUSH(import->mem, &import->blocks, raw)
               ? PLIM_OK
               : plim_fail_memory(err, "importing the snapshot");
}

plim_status plim_import_segment(plim_import *import, const plim_record *record, uint64_t *ret_id,
                                plim_error *err)
{
    raw_segment raw = { 0 };
    plim_segment *segment = &raw.segment;
    raw.device = plim_record_device(import, record);
    raw.blocks = record_get(record, FIELD_BLOCKS);
    segment->addr = plim_record_u64(import, record, FIELD_ADDRESS, 0);
    segment->bytes = plim_record_u64(import, record, FIELD_TOTAL_SIZE, 0);
    segment->is_large = !plim_value_is_string(record_get(record, FIELD_SEGMENT_TYPE), "small");
    segment->is_expandable = plim_record_bool(import, record, FIELD_IS_EXPANDABLE, false);
    plim_record_pool(import, record, FIELD_SEGMENT_POOL_ID, &segment->pool);
    PLIM_TRY(plim_import_stream(import, plim_record_handle(import, record, FIELD_STREAM),
                                &segment->stream, err));
    PLIM_TRY(plim_import_record_stack(import, record, &segment->stack, err));
    *ret_id = import->segments.count;
    return PLIM_VEC_PUSH(import->mem, &import->segments, raw)
               ? PLIM_OK
               : plim_fail_memory(err, "importing the snapshot");
}
