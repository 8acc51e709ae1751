/*
 * save_records.c - events, segments, blocks and annotations, with the keys and in the order of
 * PyTorch's own files (docs/formats/snapshot-out.md).
 */
#include "torch/save.h"

#include "base/error.h"

/* More in a file is no snapshot to the reader of them either (assemble.c). */

static void put_key_uint(plim_save *save, save_text key, uint64_t integer)
{
    plim_save_text(save, key);
    plim_emit_uint(&save->out, integer);
}

static void put_key_int(plim_save *save, save_text key, int64_t integer)
{
    plim_save_text(save, key);
    plim_emit_int(&save->out, integer);
}

static void put_key_text(plim_save *save, save_text key, save_text text)
{
    plim_save_text(save, key);
    plim_save_text(save, text);
}

static void put_key_pool(plim_save *save, save_text key, plim_pool_id pool)
{
    plim_save_text(save, key);
    plim_emit_uint(&save->out, pool.a);
    plim_emit_uint(&save->out, pool.b);
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_TUPLE2);
}

static void put_key_stack(plim_save *save, save_text key, uint32_t stack)
{
    plim_save_text(save, key);
    plim_save_stack(save, stack);
}

/* PyTorch writes a stream's handle as a signed number. */
static void put_key_stream(plim_save *save, uint32_t stream)
{
    put_key_int(save, TEXT_STREAM, (int64_t)plim_history_stream(save->history, stream));
}

/* --- events --- */

static void put_note(plim_save *save, const plim_note *note)
{
    if (save->torch >= PLIM_TORCH(2, 8)) {
        plim_save_text(save, TEXT_COMPILE_CONTEXT);
        if (note->compile_context == PLIM_NONE) {
            plim_save_text(save, TEXT_NO_CONTEXT);
        } else {
            plim_save_string(save, note->compile_context);
        }
    }
    if (save->torch >= PLIM_TORCH(2, 10)) {
        plim_save_text(save, TEXT_USER_METADATA);
        plim_save_string(save, note->user_metadata);
    }
    if (save->torch >= PLIM_TORCH(2, 12) && note->has_pool) {
        put_key_pool(save, TEXT_POOL_ID, note->pool);
    }
}

/* The number to write where the history has none: readers count on it. */
static uint64_t known_or_zero(uint64_t bytes)
{
    return bytes == PLIM_SIZE_UNKNOWN ? 0 : bytes;
}

static void put_event(plim_save *save, const plim_events *events, uint64_t row)
{
    const plim_note *note = plim_history_note(save->history, events->note[row]);
    plim_save_begin_record(save);
    plim_save_text(save, TEXT_ACTION);
    plim_save_action(save, events->action[row]);
    if (events->action[row] == PLIM_OOM) {
        put_key_uint(save, TEXT_DEVICE_FREE, known_or_zero(events->addr[row]));
    } else {
        put_key_uint(save, TEXT_ADDR, events->addr[row]);
    }
    put_key_uint(save, TEXT_SIZE, known_or_zero(events->bytes[row]));
    put_key_stream(save, events->stream[row]);
    if (save->torch >= PLIM_TORCH(2, 2) && events->time_us[row] != PLIM_TIME_UNKNOWN) {
        put_key_int(save, TEXT_TIME_US, events->time_us[row]);
    }
    put_note(save, note);
    if (events->stack[row] != PLIM_NONE) {
        put_key_stack(save, TEXT_FRAMES, events->stack[row]);
    }
    if (save->torch >= PLIM_TORCH(2, 11) && note->forward_stack != PLIM_NONE) {
        plim_save_text(save, TEXT_FORWARD_FRAMES);
        plim_save_lines(save, note->forward_stack);
    }
    if (note->category != PLIM_NONE) { /* no release has it, but the viewer knows it */
        plim_save_text(save, TEXT_CATEGORY);
        plim_save_string(save, note->category);
    }
    plim_save_end_record(save);
}

plim_status plim_save_events(plim_save *save, const plim_events *events)
{
    plim_save_open(save, &plim_emit_list);
    for (uint64_t i = 0; i < events->count; i++) {
        PLIM_TRY(plim_save_between(save, i, events->count));
        put_event(save, events, i);
    }
    return plim_save_between(save, events->count, events->count);
}

plim_status plim_save_traces(plim_save *save)
{
    static const plim_events none = { 0 };
    const plim_history *history = save->history;
    const size_t device_count = plim_history_device_count(history);
    int64_t trace_count = 0;
    for (size_t i = 0; i < device_count; i++) {
        const plim_device_history *device = plim_history_device(history, i);
        if (device->device >= PLIM_SNAPSHOT_DEVICES_MAX && device->events.count > 0) {
            return plim_fail(save->err, PLIM_LIMIT,
                             "a snapshot has a trace for each device; this has a device %d",
                             device->device);
        }
        /* The viewer offers devices that have a trace, if an empty one. */
        if (device->device < PLIM_SNAPSHOT_DEVICES_MAX && device->device >= trace_count) {
            trace_count = device->device + 1;
        }
    }
    plim_save_open(save, &plim_emit_list);
    size_t next = 0;
    for (int64_t i = 0; i < trace_count; i++) {
        const plim_device_history *device = plim_history_device(history, next);
        plim_emit_between(&save->out, &plim_emit_list, (uint64_t)i, (uint64_t)trace_count);
        PLIM_TRY(plim_save_events(save, device->device == i ? &device->events : &none));
        next += device->device == i;
    }
    return plim_save_between(save, (uint64_t)trace_count, (uint64_t)trace_count);
}

/* --- segments --- */

/* The requested bytes, which before 2.1 stood in a list of a block's uses. */
static void put_block_history(plim_save *save, const plim_block *block)
{
    plim_save_text(save, TEXT_HISTORY);
    plim_save_open(save, &plim_emit_list);
    plim_save_begin_record(save);
    put_key_uint(save, TEXT_ADDR, block->addr);
    put_key_uint(save, TEXT_REAL_SIZE, block->requested_bytes);
    if (block->stack != PLIM_NONE) {
        put_key_stack(save, TEXT_FRAMES, block->stack);
    }
    plim_save_end_record(save);
    plim_emit_opcode(&save->out, PLIM_PICKLE_OP_APPEND);
}

static void put_block(plim_save *save, const plim_block *block)
{
    static const save_text states[] = {
        [PLIM_BLOCK_INACTIVE] = TEXT_INACTIVE,
        [PLIM_BLOCK_ACTIVE_ALLOCATED] = TEXT_ACTIVE_ALLOCATED,
        [PLIM_BLOCK_ACTIVE_PENDING_FREE] = TEXT_ACTIVE_PENDING_FREE,
    };
    const bool has_own_frames = save->torch >= PLIM_TORCH(2, 1);
    plim_save_begin_record(save);
    if (has_own_frames) {
        put_key_uint(save, TEXT_ADDRESS, block->addr);
    }
    put_key_uint(save, TEXT_SIZE, block->bytes);
    if (has_own_frames) {
        put_key_uint(save, TEXT_REQUESTED_SIZE, block->requested_bytes);
    }
    put_key_text(save, TEXT_STATE, states[block->state]);
    if (has_own_frames) {
        put_key_stack(save, TEXT_FRAMES, block->stack);
    } else if (save->torch >= PLIM_TORCH(2, 0)) {
        put_block_history(save, block);
    }
    plim_save_end_record(save);
}

static void put_sums(plim_save *save, const plim_block *blocks, uint64_t count)
{
    uint64_t allocated = 0;
    uint64_t active = 0;
    uint64_t requested = 0;
    for (uint64_t i = 0; i < count; i++) {
        const bool is_active = blocks[i].state != PLIM_BLOCK_INACTIVE;
        allocated += blocks[i].state == PLIM_BLOCK_ACTIVE_ALLOCATED ? blocks[i].bytes : 0;
        active += is_active ? blocks[i].bytes : 0;
        requested += is_active ? blocks[i].requested_bytes : 0;
    }
    put_key_uint(save, TEXT_ALLOCATED_SIZE, allocated);
    put_key_uint(save, TEXT_ACTIVE_SIZE, active);
    if (save->torch >= PLIM_TORCH(2, 1)) {
        put_key_uint(save, TEXT_REQUESTED_SIZE, requested);
    }
}

static plim_status put_blocks(plim_save *save, const plim_block *blocks, uint64_t count)
{
    plim_save_text(save, TEXT_BLOCKS);
    plim_save_open(save, &plim_emit_list);
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(plim_save_between(save, i, count));
        put_block(save, &blocks[i]);
    }
    return plim_save_between(save, count, count);
}

/* PyTorch adds frames, where it has them, after all other fields. */
static plim_status put_segment(plim_save *save, const plim_device_history *device,
                               const plim_segment *segment)
{
    const plim_block *blocks =
        segment->block_count == 0 ? NULL : &device->blocks[segment->block_first];
    plim_save_begin_record(save);
    put_key_int(save, TEXT_DEVICE, device->device);
    put_key_uint(save, TEXT_ADDRESS, segment->addr);
    put_key_uint(save, TEXT_TOTAL_SIZE, segment->bytes);
    put_sums(save, blocks, segment->block_count);
    if (save->torch >= PLIM_TORCH(2, 0)) {
        put_key_stream(save, segment->stream);
    }
    put_key_text(save, TEXT_SEGMENT_TYPE, segment->is_large ? TEXT_LARGE : TEXT_SMALL);
    const bool has_frames = save->torch >= PLIM_TORCH(2, 1);
    if (has_frames) {
        put_key_pool(save, TEXT_SEGMENT_POOL_ID, segment->pool);
        plim_save_text(save, TEXT_IS_EXPANDABLE);
        plim_emit_opcode(&save->out,
                         segment->is_expandable ? PLIM_PICKLE_OP_NEWTRUE : PLIM_PICKLE_OP_NEWFALSE);
        if (segment->stack == PLIM_NONE) {
            put_key_stack(save, TEXT_FRAMES, PLIM_NONE);
        }
    }
    PLIM_TRY(put_blocks(save, blocks, segment->block_count));
    if (has_frames && segment->stack != PLIM_NONE) {
        put_key_stack(save, TEXT_FRAMES, segment->stack);
    }
    plim_save_end_record(save);
    return PLIM_OK;
}

static bool is_of_host(const plim_device_history *device)
{
    return device->device == PLIM_HOST_DEVICE;
}

plim_status plim_save_segments(plim_save *save, bool of_host)
{
    const size_t device_count = plim_history_device_count(save->history);
    uint64_t count = 0;
    uint64_t next = 0;
    for (size_t i = 0; i < device_count; i++) {
        const plim_device_history *device = plim_history_device(save->history, i);
        count += is_of_host(device) == of_host ? device->segment_count : 0;
    }
    plim_save_open(save, &plim_emit_list);
    for (size_t i = 0; i < device_count; i++) {
        const plim_device_history *device = plim_history_device(save->history, i);
        for (uint64_t k = 0; k < device->segment_count && is_of_host(device) == of_host; k++) {
            PLIM_TRY(plim_save_between(save, next++, count));
            PLIM_TRY(put_segment(save, device, &device->segments[k]));
        }
    }
    return plim_save_between(save, count, count);
}

/* --- annotations --- */

plim_status plim_save_annotations(plim_save *save)
{
    uint64_t count = 0;
    const plim_annotation *annotations = plim_history_annotations(save->history, &count);
    plim_save_open(save, &plim_emit_list);
    for (uint64_t i = 0; i < count; i++) {
        PLIM_TRY(plim_save_between(save, i, count));
        plim_save_begin_record(save);
        put_key_text(save, TEXT_STAGE, annotations[i].is_start ? TEXT_START : TEXT_END);
        plim_save_text(save, TEXT_NAME);
        plim_save_string(save, annotations[i].name);
        put_key_int(save, TEXT_DEVICE, annotations[i].device);
        if (annotations[i].time_us != PLIM_TIME_UNKNOWN) {
            put_key_int(save, TEXT_TIME_US, annotations[i].time_us);
        }
        plim_save_end_record(save);
    }
    return plim_save_between(save, count, count);
}
