/*
 * recording.c - reading a recording back: the chunks of the file, then names, then each device.
 *
 * Whole chunks are used, whatever lies between them: damage costs the chunk it is in. What is
 * after the last whole chunk is the usual end of a program that was killed.
 */
#include "trace/read/recording.h"

#include "base/crc32.h"
#include "base/error.h"
#include "trace/read/reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES ((size_t)8 << 20) /* between two looks at the progress */

static plim_status no_memory(plim_error *err)
{
    return plim_fail_memory(err, "reading a recording");
}

/* --- the file --- */

/* The file besides its whole chunks. */
typedef struct file_facts {
    uint64_t damaged_places;
    uint64_t damaged_bytes;
    uint64_t behind_bytes; /* after the last whole chunk */
} file_facts;

static plim_status check_header(const uint8_t *data, size_t bytes, plim_error *err)
{
    if (bytes < PLIM_FILE_HEADER_BYTES ||
        memcmp(data, plim_file_magic, sizeof plim_file_magic) != 0) {
        return plim_fail_at(err, PLIM_CORRUPT, 0, "not a recording of Plimsoll");
    }
    if (plim_get_u32(data + 12) != plim_crc32(data, 12)) {
        return plim_fail_at(err, PLIM_CORRUPT, 8, "the header of the recording is damaged");
    }
    const unsigned version = plim_get_u16(data + 8);
    if (version > PLIM_FORMAT_VERSION) {
        return plim_fail_at(
            err, PLIM_UNSUPPORTED, 8,
            "a recording of format %u; this reads up to %d: a newer Plimsoll wrote it", version,
            PLIM_FORMAT_VERSION);
    }
    return PLIM_OK;
}

static plim_status find_chunks(plim_file_reading *reading, const uint8_t *data, size_t bytes,
                               file_facts *facts, plim_error *err)
{
    const uint8_t *at = data + PLIM_FILE_HEADER_BYTES;
    const uint8_t *const end = data + bytes;
    const uint8_t *whole = at; /* after the last whole chunk */
    bool is_damaged = false;   /* there is something since */
    while (at < end) {
        plim_chunk chunk;
        const plim_chunk_find found = plim_chunk_read(at, end, &chunk);
        if (found == PLIM_CHUNK_FIND_NONE) {
            at = plim_chunk_seek(at + 1, end);
            is_damaged = true;
            continue;
        }
        if (found == PLIM_CHUNK_FIND_WHOLE) {
            facts->damaged_places += is_damaged;
            facts->damaged_bytes += (uint64_t)(at - whole);
            if (!PLIM_VEC_PUSH(reading->mem, &reading->chunks, chunk)) {
                return no_memory(err);
            }
        }
        is_damaged = found == PLIM_CHUNK_FIND_DAMAGED;
        at = chunk.stored + chunk.stored_bytes;
        whole = found == PLIM_CHUNK_FIND_WHOLE ? at : whole;
    }
    facts->behind_bytes = (uint64_t)(end - whole);
    return PLIM_OK;
}

static void read_end(plim_file_reading *reading, const plim_chunk *chunk)
{
    plim_trace_bytes bytes = { chunk->stored, chunk->stored + chunk->stored_bytes };
    (void)plim_get_varint(&bytes); /* events: those that are there are counted */
    (void)plim_get_varint(&bytes); /* dropped: likewise */
    reading->stacks_lost = plim_get_varint(&bytes);
    reading->has_end = true;
}

static plim_status add_device_chunk(plim_file_reading *reading, size_t index, plim_error *err)
{
    const plim_chunk *const chunk = &reading->chunks.items[index];
    plim_device_chunk row = { .chunk = index, .kind = (plim_chunk_kind)chunk->kind };
    if (chunk->kind == PLIM_CHUNK_EVENTS) {
        if (chunk->stored_bytes < PLIM_EVENTS_HEAD_BYTES ||
            (chunk->is_zstd && chunk->plain != PLIM_EVENTS_HEAD_BYTES)) {
            plim_file_reading_spoiled(reading, chunk);
            return PLIM_OK;
        }
        row.device = (int32_t)plim_get_u32(chunk->stored);
    } else {
        plim_trace_bytes bytes = { 0 };
        PLIM_TRY(plim_file_reading_open(reading, chunk, &bytes, err));
        const uint64_t device = plim_unzigzag(plim_get_varint(&bytes));
        if (bytes.at == NULL || (uint64_t)(int64_t)(int32_t)device != device) {
            plim_file_reading_spoiled(reading, chunk);
            return PLIM_OK;
        }
        row.device = (int32_t)device;
    }
    return PLIM_VEC_PUSH(reading->mem, &reading->device_chunks, row) ? PLIM_OK : no_memory(err);
}

/* Devices by number, pinned host memory last; the chunks of one in the order of the file. */
static int compare_device_chunks(const void *a, const void *b)
{
    const plim_device_chunk *const left = a;
    const plim_device_chunk *const right = b;
    if (left->device != right->device) {
        return (uint32_t)left->device < (uint32_t)right->device ? -1 : 1;
    }
    return (left->chunk > right->chunk) - (left->chunk < right->chunk);
}

static bool belongs_to_device(const plim_chunk *chunk)
{
    return chunk->kind == PLIM_CHUNK_EVENTS || chunk->kind == PLIM_CHUNK_STATE ||
           chunk->kind == PLIM_CHUNK_END_STATE || chunk->kind == PLIM_CHUNK_NOTES;
}

static plim_status sort_chunks(plim_file_reading *reading, plim_error *err)
{
    for (size_t i = 0; i < reading->chunks.count; i++) {
        const plim_chunk *const chunk = &reading->chunks.items[i];
        if (chunk->kind == PLIM_CHUNK_END && !chunk->is_zstd) {
            read_end(reading, chunk);
        } else if (belongs_to_device(chunk)) {
            PLIM_TRY(add_device_chunk(reading, i, err));
        }
    }
    if (reading->device_chunks.count > 0) {
        qsort(reading->device_chunks.items, reading->device_chunks.count,
              sizeof *reading->device_chunks.items, compare_device_chunks);
    }
    return PLIM_OK;
}

/* --- the history --- */

static plim_status read_devices(plim_file_reading *reading, plim_error *err)
{
    const plim_device_chunk *const rows = reading->device_chunks.items;
    size_t first = 0;
    for (size_t i = 1; i <= reading->device_chunks.count; i++) {
        if (i == reading->device_chunks.count || rows[i].device != rows[first].device) {
            PLIM_TRY(plim_file_reading_device(reading, rows + first, i - first, err));
            first = i;
        }
    }
    return PLIM_OK;
}

static plim_status warn(plim_file_reading *reading, const file_facts *facts, plim_error *err)
{
    plim_history *const history = reading->history;
    if (facts->damaged_places > 0) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "the recording is damaged in %" PRIu64 " places: %" PRIu64
                                   " bytes are left out",
                                   facts->damaged_places, facts->damaged_bytes));
    }
    if (reading->unreadable_bytes > 0) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "%" PRIu64 " bytes of the recording could not be understood",
                                   reading->unreadable_bytes));
    }
    if (!reading->has_end) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "the recording has no end: the program was killed or still "
                                   "runs; %" PRIu64 " bytes of an unfinished piece are left out",
                                   facts->behind_bytes));
    } else if (facts->behind_bytes > 0) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "%" PRIu64 " bytes after the end of the recording are left out",
                                   facts->behind_bytes));
    }
    if (reading->stacks_lost > 0 || reading->unknown_stacks > 0) {
        PLIM_TRY(plim_history_warn(history, err,
                                   "the recording does not have the stacks of some of its events"));
    }
    return PLIM_OK;
}

/* The writer: its version follows the process's number and the time. */
static plim_status name_source(plim_file_reading *reading, size_t file_bytes, plim_error *err)
{
    plim_source source = { .format = "plim",
                           .compression = reading->compression,
                           .generation = "",
                           .pickle_protocol = -1,
                           .bytes = file_bytes };
    for (size_t i = 0; i < reading->chunks.count; i++) {
        const plim_chunk *const chunk = &reading->chunks.items[i];
        if (chunk->kind != PLIM_CHUNK_PROCESS) {
            continue;
        }
        plim_trace_bytes bytes = { 0 };
        PLIM_TRY(plim_file_reading_open(reading, chunk, &bytes, err));
        (void)plim_get_varint(&bytes);
        (void)plim_get_varint(&bytes);
        const uint64_t length = plim_get_varint(&bytes);
        if (bytes.at != NULL && length <= plim_bytes_left(&bytes) && length < 64) {
            char text[80] = "Plimsoll ";
            uint32_t string = 0;
            const size_t before = strlen(text);
            memcpy(text + before, bytes.at, (size_t)length);
            PLIM_TRY(plim_history_add_string(reading->history, text, before + (size_t)length,
                                             &string, err));
            source.generation = plim_history_string(reading->history, string, NULL);
        }
        break;
    }
    plim_history_set_source(reading->history, &source);
    return PLIM_OK;
}

static plim_status read_recording(plim_file_reading *reading, const uint8_t *data, size_t bytes,
                                  plim_error *err)
{
    file_facts facts = { 0 };
    PLIM_TRY(check_header(data, bytes, err));
    PLIM_TRY(find_chunks(reading, data, bytes, &facts, err));
    PLIM_TRY(plim_history_create(reading->mem, &reading->history, err));
    PLIM_TRY(name_source(reading, bytes, err));
    PLIM_TRY(plim_file_reading_names(reading, err));
    PLIM_TRY(sort_chunks(reading, err));
    PLIM_TRY(read_devices(reading, err));
    return warn(reading, &facts, err);
}

/* --- the ways in --- */

static plim_status parse(const plim_window *window, const char *compression, const plim_mem *mem,
                         plim_history **ret_history, plim_error *err)
{
    plim_file_reading reading = { .mem = plim_mem_or_heap(mem), .compression = compression };
    plim_map_init(&reading.strings, reading.mem);
    plim_map_init(&reading.frames, reading.mem);
    plim_map_init(&reading.stacks, reading.mem);
    const plim_status status = read_recording(&reading, window->data, window->length, err);
    plim_map_deinit(&reading.strings);
    plim_map_deinit(&reading.frames);
    plim_map_deinit(&reading.stacks);
    PLIM_VEC_FREE(reading.mem, &reading.chunks);
    PLIM_VEC_FREE(reading.mem, &reading.device_chunks);
    PLIM_VEC_FREE(reading.mem, &reading.frame_rows);
    plim_mem_free(reading.mem, reading.room.data, reading.room.capacity, 1);
    if (status != PLIM_OK) {
        plim_history_destroy(reading.history);
        return status;
    }
    plim_history_seal(reading.history);
    *ret_history = reading.history;
    return PLIM_OK;
}

plim_status plim_recording_parse(const void *data, size_t bytes, const plim_mem *mem,
                                 plim_history **ret_history, plim_error *err)
{
    const plim_window window = { data, bytes };
    return parse(&window, NULL, mem, ret_history, err);
}

plim_status plim_recording_read(plim_input *input, const plim_load_options *options,
                                plim_history **ret_history, plim_error *err)
{
    plim_window window = { 0 };
    size_t wanted = 0;
    do {
        wanted += READ_BYTES;
        PLIM_TRY(plim_input_refill(input, 0, wanted, &window, err));
        if (options != NULL && options->progress != NULL &&
            !options->progress(options->progress_ctx, plim_input_done_bytes(input),
                               plim_input_total_bytes(input))) {
            return plim_fail(err, PLIM_CANCELLED, "reading was stopped");
        }
    } while (window.length >= wanted);
    return parse(&window, plim_input_compression(input), options == NULL ? NULL : options->mem,
                 ret_history, err);
}

plim_status plim_recording_load(const char *path, const plim_mem *mem, plim_history **ret_history,
                                plim_error *err)
{
    plim_input *input = NULL;
    const plim_load_options options = { .mem = mem };
    PLIM_TRY(plim_input_open(path, &(plim_input_options){ .mem = mem }, &input, err));
    const plim_status status = plim_recording_read(input, &options, ret_history, err);
    plim_input_close(input);
    return status;
}
