/*
 * names.c - strings, frames and stacks, each kind in a pass of its own.
 *
 * A frame may be written again with its name, long after the stack that has it; so frames are all
 * read before the first stack, and strings before the first frame.
 */
#include "trace/read/reading.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

typedef plim_status record_reader(plim_file_reading *reading, plim_trace_bytes *bytes,
                                  plim_error *err);

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading a recording");
}

static plim_status read_string(plim_file_reading *reading, plim_trace_bytes *bytes, plim_error *err)
{
    uint32_t string = 0;
    const uint64_t id = plim_get_varint(bytes);
    const uint64_t length = plim_get_varint(bytes);
    if (bytes->at == NULL || length > plim_bytes_left(bytes)) {
        bytes->at = NULL;
        return PLIM_OK;
    }
    PLIM_TRY(plim_history_add_string(reading->history, (const char *)bytes->at, (size_t)length,
                                     &string, err));
    bytes->at += length;
    return plim_map_put(&reading->strings, id, string) ? PLIM_OK : no_memory(err);
}

static plim_status read_frame(plim_file_reading *reading, plim_trace_bytes *bytes, plim_error *err)
{
    const uint64_t id = plim_get_varint(bytes);
    plim_read_frame frame = { .frame = PLIM_NONE };
    frame.address = plim_get_varint(bytes);
    frame.filename = plim_get_varint(bytes);
    frame.name = plim_get_varint(bytes);
    const uint64_t line = plim_get_varint(bytes);
    frame.line = line > UINT32_MAX ? 0 : (uint32_t)line;
    frame.is_ours = (plim_get_varint(bytes) & PLIM_FRAME_IS_OURS) != 0;
    if (bytes->at == NULL) {
        return PLIM_OK;
    }
    const uint64_t row = plim_map_get(&reading->frames, id);
    if (row != PLIM_MAP_ABSENT) {
        reading->frame_rows.items[row] = frame;
        return PLIM_OK;
    }
    const uint64_t fresh = reading->frame_rows.count;
    return PLIM_VEC_PUSH(reading->mem, &reading->frame_rows, frame) &&
                   plim_map_put(&reading->frames, id, fresh)
               ? PLIM_OK
               : no_memory(err);
}

static plim_status read_frame_note(plim_file_reading *reading, plim_trace_bytes *bytes,
                                   plim_error *err)
{
    (void)err;
    const uint64_t row = plim_map_get(&reading->frames, plim_get_varint(bytes));
    const uint64_t string = plim_get_varint(bytes);
    if (bytes->at != NULL && row != PLIM_MAP_ABSENT) {
        reading->frame_rows.items[row].fx = string + 1;
    }
    return PLIM_OK;
}

/* The frame as the history has it; without a name it is called by its address. */
static plim_status add_frame(plim_file_reading *reading, plim_read_frame *row, plim_error *err)
{
    plim_frame frame = { .line = row->line, .fx = PLIM_NONE };
    PLIM_TRY(plim_file_reading_string(reading, row->filename, &frame.filename, err));
    if (row->name == 0 && row->address != 0) {
        char text[24];
        const int length = snprintf(text, sizeof text, "0x%" PRIx64, row->address);
        PLIM_TRY(plim_history_add_string(reading->history, text, (size_t)length, &frame.name, err));
    } else {
        PLIM_TRY(plim_file_reading_string(reading, row->name, &frame.name, err));
    }
    if (row->fx != 0) {
        PLIM_TRY(plim_file_reading_string(reading, row->fx - 1, &frame.fx, err));
    }
    return plim_history_add_frame(reading->history, &frame, &row->frame, err);
}

/* Reads the frames of a stack, without those the file lacks, and without Plimsoll's own
 * at the inner end. */
static plim_status read_frames(plim_file_reading *reading, plim_trace_bytes *bytes,
                               uint32_t *frames, size_t *count, plim_error *err)
{
    size_t known = 0;
    bool is_in_program = false; /* past what is ours */
    for (size_t i = 0; i < *count; i++) {
        const uint64_t row = plim_map_get(&reading->frames, plim_get_varint(bytes));
        if (bytes->at == NULL || row == PLIM_MAP_ABSENT) {
            continue;
        }
        plim_read_frame *const frame = &reading->frame_rows.items[row];
        if (frame->is_ours && !is_in_program) {
            continue;
        }
        is_in_program = is_in_program || frame->address != 0;
        if (frame->frame == PLIM_NONE) {
            PLIM_TRY(add_frame(reading, frame, err));
        }
        frames[known++] = frame->frame;
    }
    *count = known;
    return PLIM_OK;
}

static plim_status read_stack(plim_file_reading *reading, plim_trace_bytes *bytes, plim_error *err)
{
    const uint64_t id = plim_get_varint(bytes);
    const uint64_t count = plim_get_varint(bytes);
    if (bytes->at == NULL || count > plim_bytes_left(bytes)) { /* a frame is a byte at least */
        bytes->at = NULL;
        return PLIM_OK;
    }
    uint32_t *const frames = plim_mem_alloc(reading->mem, (size_t)count + 1, sizeof *frames);
    if (frames == NULL) {
        return no_memory(err);
    }
    size_t known = (size_t)count;
    uint32_t stack = PLIM_NONE;
    plim_status status = read_frames(reading, bytes, frames, &known, err);
    if (status == PLIM_OK) {
        status = plim_history_add_stack(reading->history, frames, known, &stack, err);
    }
    plim_mem_free(reading->mem, frames, (size_t)count + 1, sizeof *frames);
    if (status == PLIM_OK && bytes->at != NULL && !plim_map_put(&reading->stacks, id, stack)) {
        return no_memory(err);
    }
    return status;
}

static plim_status read_setting(plim_file_reading *reading, plim_trace_bytes *bytes,
                                plim_error *err)
{
    plim_setting setting = { .group = PLIM_NONE };
    const uint64_t group = plim_get_varint(bytes);
    const uint64_t name = plim_get_varint(bytes);
    const uint64_t kind = plim_get_varint(bytes);
    const uint64_t value = plim_get_varint(bytes);
    if (bytes->at == NULL || kind > PLIM_SETTING_TEXT) {
        bytes->at = NULL;
        return PLIM_OK;
    }
    setting.kind = (plim_setting_kind)kind;
    PLIM_TRY(plim_file_reading_string(reading, name, &setting.name, err));
    if (group != 0) {
        PLIM_TRY(plim_file_reading_string(reading, group - 1, &setting.group, err));
    }
    switch (setting.kind) {
    case PLIM_SETTING_NONE:
        break;
    case PLIM_SETTING_INTEGER:
        setting.value.integer = (int64_t)value;
        break;
    case PLIM_SETTING_REAL:
        setting.value.real = plim_real_of_bits(value);
        break;
    case PLIM_SETTING_BOOLEAN:
        setting.value.boolean = value != 0;
        break;
    case PLIM_SETTING_TEXT:
        PLIM_TRY(plim_file_reading_string(reading, value, &setting.value.text, err));
        break;
    }
    return plim_history_push_setting(reading->history, &setting, err);
}

static plim_status read_all(plim_file_reading *reading, plim_chunk_kind kind, record_reader *read,
                            plim_error *err)
{
    for (size_t i = 0; i < reading->chunks.count; i++) {
        const plim_chunk *const chunk = &reading->chunks.items[i];
        plim_trace_bytes bytes = { 0 };
        if (chunk->kind != kind) {
            continue;
        }
        PLIM_TRY(plim_file_reading_open(reading, chunk, &bytes, err));
        while (plim_bytes_left(&bytes) > 0) {
            PLIM_TRY(read(reading, &bytes, err));
        }
        if (bytes.at == NULL) {
            plim_file_reading_spoiled(reading, chunk);
        }
    }
    return PLIM_OK;
}

plim_status plim_file_reading_names(plim_file_reading *reading, plim_error *err)
{
    PLIM_TRY(read_all(reading, PLIM_CHUNK_STRINGS, read_string, err));
    PLIM_TRY(read_all(reading, PLIM_CHUNK_FRAMES, read_frame, err));
    PLIM_TRY(read_all(reading, PLIM_CHUNK_FRAME_NOTES, read_frame_note, err));
    PLIM_TRY(read_all(reading, PLIM_CHUNK_STACKS, read_stack, err));
    return read_all(reading, PLIM_CHUNK_SETTINGS, read_setting, err);
}
