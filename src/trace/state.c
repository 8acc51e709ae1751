/*
 * state.c - telling a recording what stands already: settings, segments, blocks and their stacks.
 */
#include "trace/inside.h"

#include "base/error.h"

#define WRITTEN_FROM ((size_t)1 << 20) /* bytes of records that are worth a chunk */

typedef struct state_writer {
    plim_recorder *recorder;
    const plim_history *history;
    plim_record_list list;
    bool *has_stack; /* by stack of the history: the file knows it */
    size_t stack_count;
} state_writer;

static plim_status keep_string(state_writer *writer, uint32_t string, uint32_t *ret_string,
                               plim_error *err)
{
    size_t bytes = 0;
    const char *const text = plim_history_string(writer->history, string, &bytes);
    return plim_names_string(&writer->recorder->names, text, bytes, ret_string, err);
}

static plim_status keep_frames(state_writer *writer, plim_stack stack, uint32_t *ids,
                               plim_error *err)
{
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const plim_frame *const frame = plim_history_frame(writer->history, stack.frames[i]);
        plim_named_frame named = { .line = frame->line };
        PLIM_TRY(keep_string(writer, frame->filename, &named.filename, err));
        PLIM_TRY(keep_string(writer, frame->name, &named.name, err));
        PLIM_TRY(plim_names_frame(&writer->recorder->names, &named, &ids[i], err));
    }
    return PLIM_OK;
}

static plim_status keep_stack(state_writer *writer, uint32_t stack, plim_error *err)
{
    if (stack == PLIM_NONE || writer->has_stack[stack]) {
        return PLIM_OK;
    }
    const plim_mem *const mem = writer->recorder->mem;
    const plim_stack frames = plim_history_stack(writer->history, stack);
    uint32_t *const ids = plim_mem_alloc(mem, (size_t)frames.frame_count + 1, sizeof *ids);
    if (ids == NULL) {
        return plim_fail_memory(err, "recording a stack");
    }
    plim_status status = keep_frames(writer, frames, ids, err);
    if (status == PLIM_OK) {
        status = plim_names_stack(&writer->recorder->names, PLIM_STATE_STACKS + stack, ids,
                                  frames.frame_count, err);
    }
    plim_mem_free(mem, ids, (size_t)frames.frame_count + 1, sizeof *ids);
    writer->has_stack[stack] = status == PLIM_OK;
    return status;
}

static void put_stack(state_writer *writer, uint32_t stack)
{
    plim_records_number(&writer->list, stack == PLIM_NONE ? 0 : PLIM_STATE_STACKS + stack + 1);
}

static plim_status write_chunk(state_writer *writer, plim_chunk_kind kind, plim_error *err)
{
    PLIM_TRY(plim_names_write(&writer->recorder->names, &writer->recorder->file, err));
    return plim_records_write(&writer->list, kind, &writer->recorder->file, err);
}

static plim_status write_settings(state_writer *writer, plim_error *err)
{
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(writer->history, &count);
    for (uint64_t i = 0; i < count; i++) {
        const plim_setting *const setting = &settings[i];
        uint64_t value = 0;
        uint32_t group = 0;
        uint32_t name = 0;
        uint32_t text = 0;
        PLIM_TRY(keep_string(writer, setting->group, &group, err));
        PLIM_TRY(keep_string(writer, setting->name, &name, err));
        switch (setting->kind) {
        case PLIM_SETTING_INTEGER:
            value = (uint64_t)setting->value.integer;
            break;
        case PLIM_SETTING_REAL:
            value = plim_bits_of_real(setting->value.real);
            break;
        case PLIM_SETTING_BOOLEAN:
            value = setting->value.boolean;
            break;
        case PLIM_SETTING_TEXT:
            PLIM_TRY(keep_string(writer, setting->value.text, &text, err));
            value = text;
            break;
        case PLIM_SETTING_NONE:
            break;
        }
        plim_records_number(&writer->list, setting->group == PLIM_NONE ? 0 : (uint64_t)group + 1);
        plim_records_number(&writer->list, name);
        plim_records_number(&writer->list, (uint64_t)setting->kind);
        plim_records_number(&writer->list, value);
        PLIM_TRY(plim_records_close(&writer->list, err));
    }
    return write_chunk(writer, PLIM_CHUNK_SETTINGS, err);
}

static plim_status put_segment(state_writer *writer, const plim_device_history *device,
                               const plim_segment *segment, plim_error *err)
{
    plim_record_list *const list = &writer->list;
    PLIM_TRY(keep_stack(writer, segment->stack, err));
    if (list->whole == PLIM_CHUNK_HEADER_BYTES) { /* the first of a chunk */
        plim_records_number(list, plim_zigzag((uint64_t)device->device));
    }
    plim_records_number(list, segment->addr);
    plim_records_number(list, segment->bytes);
    plim_records_number(list, segment->pool[0]);
    plim_records_number(list, segment->pool[1]);
    plim_records_number(list, plim_history_stream(writer->history, segment->stream));
    put_stack(writer, segment->stack);
    plim_records_number(list, (segment->is_large ? 1u : 0u) | (segment->is_expandable ? 2u : 0u));
    plim_records_number(list, segment->block_count);
    uint64_t behind = segment->addr;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *const block = &device->blocks[segment->block_first + i];
        PLIM_TRY(keep_stack(writer, block->stack, err));
        plim_records_number(list, plim_zigzag(block->addr - behind));
        plim_records_number(list, block->bytes);
        plim_records_number(list, block->requested_bytes);
        plim_records_number(list, (uint64_t)block->state);
        put_stack(writer, block->stack);
        behind = block->addr + block->bytes;
    }
    return plim_records_close(list, err);
}

static plim_status write_device(state_writer *writer, const plim_device_history *device,
                                plim_error *err)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        PLIM_TRY(put_segment(writer, device, &device->segments[i], err));
        if (writer->list.whole >= WRITTEN_FROM) {
            PLIM_TRY(write_chunk(writer, PLIM_CHUNK_STATE, err));
        }
    }
    return write_chunk(writer, PLIM_CHUNK_STATE, err);
}

static plim_status write_state(state_writer *writer, plim_error *err)
{
    PLIM_TRY(write_settings(writer, err));
    for (size_t i = 0; i < plim_history_device_count(writer->history); i++) {
        PLIM_TRY(write_device(writer, plim_history_device(writer->history, i), err));
    }
    return PLIM_OK;
}

plim_status plim_recorder_state(plim_recorder *recorder, const plim_history *history,
                                plim_error *err)
{
    if (recorder->listed.is_child) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "the recording belongs to the parent process");
    }
    state_writer writer = { .recorder = recorder,
                            .history = history,
                            .stack_count = (size_t)plim_history_stack_count(history) + 1 };
    writer.has_stack = plim_mem_alloc_zeroed(recorder->mem, writer.stack_count, sizeof(bool));
    if (writer.has_stack == NULL) {
        return plim_fail_memory(err, "recording what stands");
    }
    (void)pthread_mutex_lock(&recorder->lock);
    plim_status status = plim_records_init(&writer.list, recorder->mem, err);
    if (status == PLIM_OK) {
        status = write_state(&writer, err);
    }
    plim_records_deinit(&writer.list);
    (void)pthread_mutex_unlock(&recorder->lock);
    plim_mem_free(recorder->mem, writer.has_stack, writer.stack_count, sizeof(bool));
    return status;
}
