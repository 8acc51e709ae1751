/*
 * state.c - a history's settings, stacks, segments and blocks as records of a recording.
 */
#include "trace/write/state.h"

#include "base/error.h"
#include "trace/write/inside.h"

#define WRITTEN_FROM ((size_t)1 << 20) /* bytes of records that are worth a chunk */

plim_status plim_state_writer_init(plim_state_writer *writer, plim_error *err)
{
    writer->stack_count = (size_t)plim_history_stack_count(writer->history) + 1;
    writer->has_stack = plim_mem_alloc_zeroed(writer->mem, writer->stack_count, sizeof(bool));
    if (writer->has_stack == NULL) {
        return plim_fail_memory(err, "recording what stands");
    }
    PLIM_TRY(plim_records_init(&writer->list, writer->mem, err));
    return plim_records_init(&writer->frame_notes, writer->mem, err);
}

void plim_state_writer_deinit(plim_state_writer *writer)
{
    if (writer->mem == NULL) {
        return;
    }
    plim_records_deinit(&writer->list);
    plim_records_deinit(&writer->frame_notes);
    if (writer->has_stack != NULL) {
        plim_mem_free(writer->mem, writer->has_stack, writer->stack_count, sizeof(bool));
    }
    *writer = (plim_state_writer){ 0 };
}

/* --- names --- */

plim_status plim_state_string(plim_state_writer *writer, uint32_t string, uint32_t *ret_string,
                              plim_error *err)
{
    size_t bytes = 0;
    const char *const text = plim_history_string(writer->history, string, &bytes);
    return plim_names_string(writer->names, text, bytes, ret_string, err);
}

/* The text of torch.fx about a frame. */
static plim_status put_frame_note(plim_state_writer *writer, uint32_t id, uint32_t fx,
                                  plim_error *err)
{
    uint32_t string = 0;
    PLIM_TRY(plim_state_string(writer, fx, &string, err));
    plim_records_number(&writer->frame_notes, id);
    plim_records_number(&writer->frame_notes, string);
    return plim_records_close(&writer->frame_notes, err);
}

static plim_status put_frames(plim_state_writer *writer, plim_stack stack, uint32_t *ids,
                              plim_error *err)
{
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const plim_frame *const frame = plim_history_frame(writer->history, stack.frames[i]);
        const size_t known = writer->names->frames.count;
        plim_named_frame named = { .line = frame->line };
        PLIM_TRY(plim_state_string(writer, frame->filename, &named.filename, err));
        PLIM_TRY(plim_state_string(writer, frame->name, &named.name, err));
        PLIM_TRY(plim_names_frame(writer->names, &named, &ids[i], err));
        if (frame->fx != PLIM_NONE && ids[i] >= known) {
            PLIM_TRY(put_frame_note(writer, ids[i], frame->fx, err));
        }
    }
    return PLIM_OK;
}

static plim_status write_names(plim_state_writer *writer, plim_error *err)
{
    PLIM_TRY(plim_names_write(writer->names, writer->file, err));
    return plim_records_write(&writer->frame_notes, PLIM_CHUNK_FRAME_NOTES, writer->file, err);
}

plim_status plim_state_stack(plim_state_writer *writer, uint32_t stack, plim_error *err)
{
    if (stack == PLIM_NONE || writer->has_stack[stack]) {
        return PLIM_OK;
    }
    const plim_stack frames = plim_history_stack(writer->history, stack);
    uint32_t *const ids = plim_mem_alloc(writer->mem, (size_t)frames.frame_count + 1, sizeof *ids);
    if (ids == NULL) {
        return plim_fail_memory(err, "recording a stack");
    }
    plim_status status = put_frames(writer, frames, ids, err);
    if (status == PLIM_OK) {
        status = plim_names_stack(writer->names, writer->first_stack + stack, ids,
                                  frames.frame_count, err);
    }
    plim_mem_free(writer->mem, ids, (size_t)frames.frame_count + 1, sizeof *ids);
    writer->has_stack[stack] = status == PLIM_OK;
    const size_t most = writer->names->new_strings.whole > writer->names->new_stacks.whole
                            ? writer->names->new_strings.whole
                            : writer->names->new_stacks.whole;
    if (status == PLIM_OK && most >= WRITTEN_FROM) {
        status = write_names(writer, err);
    }
    return status;
}

/* --- records --- */

bool plim_state_begins_chunk(const plim_state_writer *writer)
{
    return writer->list.whole == PLIM_CHUNK_HEADER_BYTES;
}

plim_status plim_state_write(plim_state_writer *writer, plim_chunk_kind kind, plim_error *err)
{
    PLIM_TRY(write_names(writer, err));
    return plim_records_write(&writer->list, kind, writer->file, err);
}

plim_status plim_state_close(plim_state_writer *writer, plim_chunk_kind kind, plim_error *err)
{
    PLIM_TRY(plim_records_close(&writer->list, err));
    return writer->list.whole < WRITTEN_FROM ? PLIM_OK : plim_state_write(writer, kind, err);
}

static void put_stack(plim_state_writer *writer, uint32_t stack)
{
    plim_records_number(&writer->list, stack == PLIM_NONE ? 0 : writer->first_stack + stack + 1);
}

plim_status plim_state_put_segment(plim_state_writer *writer, const plim_segment *segment,
                                   plim_addr *ret_behind, plim_error *err)
{
    plim_record_list *const list = &writer->list;
    PLIM_TRY(plim_state_stack(writer, segment->stack, err));
    plim_records_number(list, segment->addr);
    plim_records_number(list, segment->bytes);
    plim_records_number(list, segment->pool.a);
    plim_records_number(list, segment->pool.b);
    plim_records_number(list, segment->stream == PLIM_NONE
                                  ? 0
                                  : plim_history_stream(writer->history, segment->stream));
    put_stack(writer, segment->stack);
    plim_records_number(list, (segment->is_large ? 1u : 0u) | (segment->is_expandable ? 2u : 0u));
    plim_records_number(list, segment->block_count);
    *ret_behind = segment->addr;
    return PLIM_OK;
}

plim_status plim_state_put_block(plim_state_writer *writer, const plim_block *block,
                                 plim_addr *behind, plim_error *err)
{
    plim_record_list *const list = &writer->list;
    PLIM_TRY(plim_state_stack(writer, block->stack, err));
    plim_records_number(list, plim_zigzag(block->addr - *behind));
    plim_records_number(list, block->bytes);
    plim_records_number(list, block->requested_bytes);
    plim_records_number(list, (uint64_t)block->state);
    put_stack(writer, block->stack);
    *behind = block->addr + block->bytes;
    return PLIM_OK;
}

/* The 64 bits of a value, with its text where it is one. */
static plim_status setting_bits(plim_state_writer *writer, const plim_setting *setting,
                                uint64_t *ret_bits, plim_error *err)
{
    uint32_t text = 0;
    switch (setting->kind) {
    case PLIM_SETTING_INTEGER:
        *ret_bits = (uint64_t)setting->value.integer;
        return PLIM_OK;
    case PLIM_SETTING_REAL:
        *ret_bits = plim_bits_of_real(setting->value.real);
        return PLIM_OK;
    case PLIM_SETTING_BOOLEAN:
        *ret_bits = setting->value.boolean;
        return PLIM_OK;
    case PLIM_SETTING_TEXT:
        PLIM_TRY(plim_state_string(writer, setting->value.text, &text, err));
        *ret_bits = text;
        return PLIM_OK;
    case PLIM_SETTING_NONE:
        break;
    }
    *ret_bits = 0;
    return PLIM_OK;
}

plim_status plim_state_write_settings(plim_state_writer *writer, plim_error *err)
{
    uint64_t count = 0;
    const plim_setting *const settings = plim_history_settings(writer->history, &count);
    for (uint64_t i = 0; i < count; i++) {
        const plim_setting *const setting = &settings[i];
        uint64_t bits = 0;
        uint32_t group = 0;
        uint32_t name = 0;
        PLIM_TRY(plim_state_string(writer, setting->group, &group, err));
        PLIM_TRY(plim_state_string(writer, setting->name, &name, err));
        PLIM_TRY(setting_bits(writer, setting, &bits, err));
        plim_records_number(&writer->list, setting->group == PLIM_NONE ? 0 : (uint64_t)group + 1);
        plim_records_number(&writer->list, name);
        plim_records_number(&writer->list, (uint64_t)setting->kind);
        plim_records_number(&writer->list, bits);
        PLIM_TRY(plim_records_close(&writer->list, err));
    }
    return plim_state_write(writer, PLIM_CHUNK_SETTINGS, err);
}

/* --- what stands when a recorder starts --- */

static plim_status write_device(plim_state_writer *writer, const plim_device_history *device,
                                plim_error *err)
{
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = &device->segments[i];
        plim_addr behind = 0;
        if (plim_state_begins_chunk(writer)) {
            plim_records_number(&writer->list, plim_zigzag((uint64_t)device->device));
        }
        PLIM_TRY(plim_state_put_segment(writer, segment, &behind, err));
        for (uint64_t k = 0; k < segment->block_count; k++) {
            PLIM_TRY(plim_state_put_block(writer, &device->blocks[segment->block_first + k],
                                          &behind, err));
        }
        PLIM_TRY(plim_state_close(writer, PLIM_CHUNK_STATE, err));
    }
    return plim_state_write(writer, PLIM_CHUNK_STATE, err);
}

static plim_status write_state(plim_state_writer *writer, plim_error *err)
{
    PLIM_TRY(plim_state_writer_init(writer, err));
    PLIM_TRY(plim_state_write_settings(writer, err));
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
    plim_state_writer writer = { .mem = recorder->mem,
                                 .history = history,
                                 .names = &recorder->names,
                                 .file = &recorder->file,
                                 .first_stack = PLIM_STATE_STACKS };
    (void)pthread_mutex_lock(&recorder->lock);
    const plim_status status = write_state(&writer, err);
    (void)pthread_mutex_unlock(&recorder->lock);
    plim_state_writer_deinit(&writer);
    return status;
}
