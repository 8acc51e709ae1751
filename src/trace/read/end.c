/*
 * end.c - the segments and blocks at the end of a device as they were recorded.
 *
 * What is not there as a whole is not used: then the end is worked out from the events.
 */
#include "trace/read/reading.h"

#include "base/error.h"

void plim_recorded_end_deinit(plim_recorded_end *state, const plim_mem *mem)
{
    PLIM_VEC_FREE(mem, &state->segments);
    PLIM_VEC_FREE(mem, &state->blocks);
}

static uint32_t read_stack(plim_file_reading *reading, plim_trace_bytes *bytes)
{
    const uint64_t id = plim_get_varint(bytes);
    return id == 0 || bytes->at == NULL ? PLIM_NONE : plim_file_reading_stack(reading, id - 1);
}

static bool read_block(plim_file_reading *reading, plim_trace_bytes *bytes, plim_addr *behind,
                       plim_block *ret_block)
{
    plim_block block = { .addr = *behind + plim_unzigzag(plim_get_varint(bytes)) };
    block.bytes = plim_get_varint(bytes);
    block.requested_bytes = plim_get_varint(bytes);
    const uint64_t state = plim_get_varint(bytes);
    block.stack = read_stack(reading, bytes);
    if (bytes->at == NULL || state > PLIM_BLOCK_ACTIVE_PENDING_FREE) {
        return false;
    }
    block.state = (plim_block_state)state;
    *behind = block.addr + block.bytes;
    *ret_block = block;
    return true;
}

/* Reads the blocks of a segment; those of a history come in the order of addresses. */
static plim_status read_blocks(plim_file_reading *reading, plim_trace_bytes *bytes,
                               plim_recorded_end *state, const plim_segment *segment,
                               plim_error *err)
{
    plim_addr behind = segment->addr;
    plim_addr least = 0;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        plim_block block = { 0 };
        if (!read_block(reading, bytes, &behind, &block) || block.addr < least) {
            bytes->at = NULL;
            return PLIM_OK;
        }
        least = block.addr;
        if (!PLIM_VEC_PUSH(reading->mem, &state->blocks, block)) {
            return plim_fail_memory(err, "reading a recording");
        }
    }
    return PLIM_OK;
}

static plim_status read_segment(plim_file_reading *reading, plim_trace_bytes *bytes,
                                plim_recorded_end *state, plim_error *err)
{
    plim_segment segment = { .addr = plim_get_varint(bytes) };
    segment.bytes = plim_get_varint(bytes);
    segment.pool.a = plim_get_varint(bytes);
    segment.pool.b = plim_get_varint(bytes);
    const uint64_t stream = plim_get_varint(bytes);
    segment.stack = read_stack(reading, bytes);
    const uint64_t flags = plim_get_varint(bytes);
    segment.is_large = (flags & 1) != 0;
    segment.is_expandable = (flags & 2) != 0;
    segment.block_first = state->blocks.count;
    segment.block_count = plim_get_varint(bytes);
    const size_t count = state->segments.count;
    if (bytes->at == NULL || (count > 0 && segment.addr < state->segments.items[count - 1].addr)) {
        bytes->at = NULL;
        return PLIM_OK;
    }
    PLIM_TRY(plim_history_add_stream(reading->history, stream, &segment.stream, err));
    PLIM_TRY(read_blocks(reading, bytes, state, &segment, err));
    return bytes->at == NULL || PLIM_VEC_PUSH(reading->mem, &state->segments, segment)
               ? PLIM_OK
               : plim_fail_memory(err, "reading a recording");
}

/* True if the chunk is the next one of the same end. */
static bool read_head(plim_trace_bytes *bytes, plim_recorded_end *state)
{
    (void)plim_get_varint(bytes); /* the device */
    const uint64_t overflowed = plim_get_varint(bytes);
    const uint64_t capacity_events = plim_get_varint(bytes);
    const uint64_t segment_count = plim_get_varint(bytes);
    const uint64_t first = plim_get_varint(bytes);
    if (bytes->at == NULL || overflowed > PLIM_YES || first != state->segments.count ||
        (state->is_recorded && segment_count != state->segment_count)) {
        return false;
    }
    state->is_recorded = true;
    state->overflowed = (plim_known)overflowed;
    state->capacity_events = capacity_events;
    state->segment_count = segment_count;
    return true;
}

plim_status plim_file_reading_end(plim_file_reading *reading, const plim_chunk *chunk,
                                  plim_recorded_end *state, plim_error *err)
{
    plim_trace_bytes bytes = { 0 };
    if (state->is_wrong) {
        return PLIM_OK;
    }
    PLIM_TRY(plim_file_reading_open(reading, chunk, &bytes, err));
    state->is_wrong = !read_head(&bytes, state);
    while (!state->is_wrong && plim_bytes_left(&bytes) > 0) {
        PLIM_TRY(read_segment(reading, &bytes, state, err));
    }
    if (bytes.at == NULL) {
        plim_file_reading_spoiled(reading, chunk);
        state->is_wrong = true;
    }
    return PLIM_OK;
}

bool plim_recorded_end_is_whole(const plim_recorded_end *state)
{
    return state->is_recorded && !state->is_wrong && state->segments.count == state->segment_count;
}

plim_status plim_recorded_end_push(const plim_recorded_end *state, plim_history *history,
                                   plim_error *err)
{
    for (size_t i = 0; i < state->blocks.count; i++) {
        PLIM_TRY(plim_history_push_block(history, &state->blocks.items[i], err));
    }
    for (size_t i = 0; i < state->segments.count; i++) {
        PLIM_TRY(plim_history_push_segment(history, &state->segments.items[i], err));
    }
    return PLIM_OK;
}
