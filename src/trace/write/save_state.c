/*
 * save_state.c - the segments and blocks of a device before its first event, reconstructed, and
 * after its last.
 */
#include "trace/write/save.h"

#include "base/block_bytes.h"
#include "base/error.h"

#include <stdlib.h>

/* A block of the start; its stream for those that stand in no segment. */
typedef struct start_block {
    plim_block block;
    uint32_t stream;
} start_block;

typedef struct start_writer {
    plim_saving *saving;
    const plim_saved_device *saved;
    PLIM_VEC(start_block) blocks; /* by address */
    size_t next;
} start_writer;

static bool collect_blocks(start_writer *writer)
{
    plim_live live = plim_timeline_live(&writer->saved->timeline, PLIM_AT_START, true);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        const bool is_pending = one.freed == PLIM_AT_START;
        const start_block row = { .block = { .addr = one.addr,
                                             .bytes = one.block_bytes,
                                             .requested_bytes = one.requested_bytes,
                                             .stack = one.is_stack_of_free ? PLIM_NONE : one.stack,
                                             .state = is_pending ? PLIM_BLOCK_ACTIVE_PENDING_FREE
                                                                 : PLIM_BLOCK_ACTIVE_ALLOCATED },
                                  .stream = one.stream };
        if (!PLIM_VEC_PUSH(writer->saving->mem, &writer->blocks, row)) {
            return false;
        }
    }
    return true;
}

static int compare_blocks(const void *a, const void *b)
{
    const plim_block *const left = &((const start_block *)a)->block;
    const plim_block *const right = &((const start_block *)b)->block;
    if (left->addr != right->addr) {
        return left->addr < right->addr ? -1 : 1;
    }
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static plim_status put_segment(start_writer *writer, plim_segment segment, uint64_t blocks,
                               plim_error *err)
{
    plim_state_writer *const state = &writer->saving->state;
    plim_addr behind = 0;
    segment.block_count = blocks;
    if (plim_state_begins_chunk(state)) {
        plim_records_number(&state->list, plim_zigzag((uint64_t)writer->saved->device->device));
    }
    PLIM_TRY(plim_state_put_segment(state, &segment, &behind, err));
    for (uint64_t i = 0; i < blocks; i++) {
        PLIM_TRY(
            plim_state_put_block(state, &writer->blocks.items[writer->next++].block, &behind, err));
    }
    return plim_state_close(state, PLIM_CHUNK_STATE, err);
}

/* Blocks before `limit`, where no segment is known: each in one of 0 bytes, which is not there. */
static plim_status put_outside(start_writer *writer, plim_addr limit, plim_error *err)
{
    while (writer->next < writer->blocks.count &&
           writer->blocks.items[writer->next].block.addr < limit) {
        const start_block *const row = &writer->blocks.items[writer->next];
        const plim_segment nowhere = {
            .addr = row->block.addr, .stream = row->stream, .stack = PLIM_NONE, .is_large = true
        };
        PLIM_TRY(put_segment(writer, nowhere, 1, err));
    }
    return PLIM_OK;
}

static plim_status put_inside(start_writer *writer, const plim_span *span, plim_error *err)
{
    const plim_origin *const origin = &writer->saved->origins.rows.items[span->tag];
    const plim_segment segment = { .addr = span->begin,
                                   .bytes = span->end - span->begin,
                                   .pool = origin->pool,
                                   .stream = origin->stream,
                                   .stack = origin->stack,
                                   .is_large = !origin->is_small,
                                   .is_expandable = origin->is_expandable };
    uint64_t blocks = 0;
    while (writer->next + blocks < writer->blocks.count &&
           writer->blocks.items[writer->next + blocks].block.addr < span->end) {
        blocks++;
    }
    return put_segment(writer, segment, blocks, err);
}

static plim_status put_start(start_writer *writer, plim_error *err)
{
    const plim_spans *const spans = &writer->saved->origins.at_start;
    if (!collect_blocks(writer)) {
        return plim_fail_memory(err, "saving the start");
    }
    if (writer->blocks.count > 0) {
        qsort(writer->blocks.items, writer->blocks.count, sizeof *writer->blocks.items,
              compare_blocks);
    }
    for (const plim_span *span = plim_spans_first(spans); span != NULL;
         span = plim_spans_next(spans, span)) {
        PLIM_TRY(put_outside(writer, span->begin, err));
        PLIM_TRY(put_inside(writer, span, err));
    }
    PLIM_TRY(put_outside(writer, UINT64_MAX, err));
    return plim_state_write(&writer->saving->state, PLIM_CHUNK_STATE, err);
}

plim_status plim_saving_start(plim_saving *saving, const plim_saved_device *saved, plim_error *err)
{
    start_writer writer = { .saving = saving, .saved = saved };
    const plim_status status = put_start(&writer, err);
    PLIM_VEC_FREE(saving->mem, &writer.blocks);
    return status;
}

/* --- the end --- */

static void put_end_head(plim_state_writer *state, const plim_device_history *device,
                         uint64_t segment)
{
    plim_records_number(&state->list, plim_zigzag((uint64_t)device->device));
    plim_records_number(&state->list, (uint64_t)device->overflowed);
    plim_records_number(&state->list, device->capacity_events);
    plim_records_number(&state->list, device->segment_count);
    plim_records_number(&state->list, segment);
}

plim_status plim_saving_end(plim_saving *saving, const plim_device_history *device, plim_error *err)
{
    plim_state_writer *const state = &saving->state;
    if (device->segment_count == 0) { /* the head says that */
        put_end_head(state, device, 0);
        PLIM_TRY(plim_state_close(state, PLIM_CHUNK_END_STATE, err));
    }
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = &device->segments[i];
        plim_addr behind = 0;
        if (plim_state_begins_chunk(state)) {
            put_end_head(state, device, i);
        }
        PLIM_TRY(plim_state_put_segment(state, segment, &behind, err));
        for (uint64_t k = 0; k < segment->block_count; k++) {
            PLIM_TRY(plim_state_put_block(state, &device->blocks[segment->block_first + k], &behind,
                                          err));
        }
        PLIM_TRY(plim_state_close(state, PLIM_CHUNK_END_STATE, err));
    }
    return plim_state_write(state, PLIM_CHUNK_END_STATE, err);
}
