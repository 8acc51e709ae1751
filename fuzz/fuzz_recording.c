/*
 * fuzz_recording.c - any bytes as a recording: read as they are, and with right checksums.
 *
 * Checksums keep changed bytes from the readers after them; so each input is also read with the
 * checksums set to what they should be. Whatever is read can be worked out to its start, and saved.
 */
#include "base/assert.h"
#include "history/timeline.h"
#include "plimsoll/recorder.h"
#include "trace/format.h"

#include <stdlib.h>
#include <zlib.h>

#define INPUT_BYTES_MAX ((size_t)64 << 10)
/* A row of two bytes is an event of 37, and one that is packed 32 times as tightly. */
#define BYTES_FREE     ((size_t)4 << 20)
#define BYTES_PER_BYTE 8192

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A heap that ends the run when memory is out of proportion to the input. */
typedef struct bounded_heap {
    size_t live_bytes;
    size_t bytes_max;
} bounded_heap;

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    bounded_heap *const heap = ctx;
    PLIM_ASSERT(new_bytes <= heap->bytes_max);
    heap->live_bytes += new_bytes;
    heap->live_bytes -= old_bytes;
    PLIM_ASSERT(heap->live_bytes <= heap->bytes_max);
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

/* True if the input may tell what stood at the end: a chunk of that kind. */
static bool may_tell_end(const uint8_t *data, size_t size)
{
    static const uint8_t begin[] = { 'C', 'H', 'N', 'K', PLIM_CHUNK_END_STATE, 0 };
    return memmem(data, size, begin, sizeof begin) != NULL;
}

/* Segments and their blocks come in order, and what was worked out tiles. */
static void check_end(const plim_history *history, const plim_device_history *device,
                      bool is_recorded)
{
    uint64_t blocks = 0;
    for (uint64_t i = 0; i < device->segment_count; i++) {
        const plim_segment *const segment = &device->segments[i];
        plim_addr behind = segment->addr;
        const plim_segment *const low = &device->segments[i == 0 ? 0 : i - 1];
        PLIM_ASSERT(i == 0 || low->addr + (is_recorded ? 0 : low->bytes) <= segment->addr);
        PLIM_ASSERT(segment->block_first == blocks);
        (void)plim_history_stream(history, segment->stream);
        for (uint64_t k = 0; k < segment->block_count; k++) {
            const plim_block *const block = &device->blocks[blocks++];
            PLIM_ASSERT(is_recorded ? k == 0 || block->addr >= behind
                                    : block->addr == behind && block->bytes > 0);
            (void)plim_history_stack(history, block->stack);
            behind = block->addr + (is_recorded ? 0 : block->bytes);
        }
        PLIM_ASSERT(is_recorded || behind == segment->addr + segment->bytes);
    }
    PLIM_ASSERT(blocks == device->block_count);
}

static void check_device(const plim_history *history, const plim_device_history *device,
                         bool is_recorded, const plim_mem *mem)
{
    plim_timeline timeline;
    const plim_timeline_options options = { .mem = mem };
    check_end(history, device, is_recorded);
    for (uint64_t i = 0; i < device->events.count; i++) {
        (void)plim_history_note(history, device->events.note[i]);
        (void)plim_history_stream(history, device->events.stream[i]);
        const plim_stack stack = plim_history_stack(history, device->events.stack[i]);
        if (stack.frame_count > 0) {
            (void)plim_history_frame(history, stack.frames[stack.frame_count - 1]);
        }
    }
    if (plim_timeline_init(&timeline, history, device, &options, NULL) == PLIM_OK) {
        plim_cursor cursor;
        plim_cursor_init(&cursor, &timeline);
        while (plim_cursor_next(&cursor)) {
        }
        plim_timeline_deinit(&timeline);
    }
}

static void read_recording(const uint8_t *data, size_t size)
{
    bounded_heap heap = { .bytes_max = BYTES_FREE + size * BYTES_PER_BYTE };
    const plim_mem mem = { .resize = resize, .ctx = &heap };
    plim_error err = { .status = PLIM_OK };
    plim_history *history = NULL;
    const plim_status status = plim_recording_parse(data, size, &mem, &history, &err);
    PLIM_ASSERT(err.status == status);
    PLIM_ASSERT(status == PLIM_OK || status == PLIM_CORRUPT || status == PLIM_UNSUPPORTED ||
                status == PLIM_LIMIT);
    if (status == PLIM_OK) {
        for (size_t i = 0; i < plim_history_device_count(history); i++) {
            check_device(history, plim_history_device(history, i), may_tell_end(data, size), &mem);
        }
        const plim_recording_save_options options = { .mem = &mem };
        PLIM_ASSERT(plim_recording_save(history, "/dev/null", &options, NULL) == PLIM_OK);
        plim_history_destroy(history);
    }
    PLIM_ASSERT(heap.live_bytes == 0);
}

/* Sets all checksums, as far as the lengths of the chunks lead. */
static void reseal(uint8_t *data, size_t size)
{
    if (size < PLIM_FILE_HEADER_BYTES) {
        return;
    }
    memcpy(data, plim_file_magic, sizeof plim_file_magic);
    plim_put_u16(data + 8, PLIM_FORMAT_VERSION);
    plim_put_u32(data + 12, (uint32_t)crc32_z(0, data, 12));
    size_t at = PLIM_FILE_HEADER_BYTES;
    while (size - at >= PLIM_CHUNK_HEADER_BYTES) {
        uint8_t *const header = data + at;
        const size_t left = size - at - PLIM_CHUNK_HEADER_BYTES;
        const size_t bytes = plim_get_u32(header + 16);
        if (bytes > left) {
            return;
        }
        plim_put_u32(header, PLIM_CHUNK_MAGIC);
        if ((header[6] & PLIM_CHUNK_IS_ZSTD) == 0) {
            plim_put_u32(header + 20, (uint32_t)bytes);
        }
        plim_put_u32(header + 24, (uint32_t)crc32_z(0, header + PLIM_CHUNK_HEADER_BYTES, bytes));
        plim_put_u32(header + 28, (uint32_t)crc32_z(0, header, 28));
        at += PLIM_CHUNK_HEADER_BYTES + bytes;
    }
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_BYTES_MAX) {
        return 0;
    }
    read_recording(data, size);
    uint8_t *const copy = malloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, data, size);
        reseal(copy, size);
        read_recording(copy, size);
        free(copy);
    }
    return 0;
}
