/*
 * test_damage.c - recordings that are cut, flipped, spliced, or written by a newer Plimsoll.
 */
#include "trace/program.h"

#include "trace/chunk.h"

#include <unistd.h>
#include <zlib.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

static uint8_t file[FILE_BYTES_MAX];
static size_t file_bytes;
static uint64_t file_events;

/* A recording in `file`: of one device, in several chunks of events. */
static void record(uint32_t compression)
{
    static t_program program;
    char path[256];
    plim_recorder *recorder = NULL;
    const plim_recorder_options options = { .compression = compression, .leaves_out_frames = true };
    t_path(path, sizeof path, "damage.plim");
    T_EQ_U64(plim_recorder_start(path, &options, &recorder, NULL), PLIM_OK);
    t_program_init(&program, 1);
    program.sink = plim_recorder_sink(recorder);
    for (int i = 0; i < 8; i++) {
        t_program_run(&program, 150);
        T_EQ_U64(plim_recorder_annotate(recorder, 0, "step", true, NULL), PLIM_OK);
        T_EQ_U64(plim_recorder_flush(recorder, NULL), PLIM_OK);
    }
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    file_events = program.count;
    t_program_deinit(&program);
    FILE *const from = fopen(path, "rb");
    T_NOT_NULL(from);
    file_bytes = fread(file, 1, sizeof file, from);
    T_TRUE(file_bytes < sizeof file);
    (void)fclose(from);
    (void)unlink(path);
}

/* Parses a copy that is exactly as large as it says, so that reading beyond it shows. */
static plim_status parse(const uint8_t *data, size_t bytes, plim_history **ret_history)
{
    t_mem heap;
    t_mem_init(&heap);
    uint8_t *const copy = malloc(bytes + 1);
    T_NOT_NULL(copy);
    memcpy(copy + 1, data, bytes);
    plim_error err = { 0 };
    plim_history *counted = NULL;
    const plim_status status = plim_recording_parse(copy + 1, bytes, &heap.mem, &counted, &err);
    T_EQ_U64(err.status, status == PLIM_OK ? PLIM_OK : status);
    plim_history_destroy(counted);
    T_EQ_U64(heap.live_bytes, 0);
    T_TRUE(heap.peak_bytes < ((size_t)1 << 20) + 400 * bytes);
    *ret_history = NULL;
    if (status == PLIM_OK) {
        T_EQ_U64(plim_recording_parse(copy + 1, bytes, NULL, ret_history, NULL), PLIM_OK);
    }
    free(copy);
    return status;
}

static uint64_t events_of(const plim_history *history)
{
    return plim_history_device_count(history) == 0 ? 0
                                                   : plim_history_device(history, 0)->events.count;
}

static void a_cut_file_is_read_up_to_the_cut(void)
{
    for (uint32_t level = 0; level < 2; level++) {
        record(level);
        plim_history *whole = NULL;
        T_EQ_U64(parse(file, file_bytes, &whole), PLIM_OK);
        T_EQ_U64(plim_history_warning_count(whole), 0);
        T_EQ_U64(events_of(whole), file_events);
        for (size_t bytes = 0; bytes < file_bytes; bytes += (size_t)t_random_between(1, 40)) {
            T_CASE("cut at %zu of %zu", bytes, file_bytes);
            plim_history *history = NULL;
            const plim_status status = parse(file, bytes, &history);
            T_EQ_U64(status, bytes < PLIM_FILE_HEADER_BYTES ? PLIM_CORRUPT : PLIM_OK);
            if (status != PLIM_OK) {
                continue;
            }
            T_TRUE(plim_history_warning_count(history) >= 1);
            const uint64_t count = events_of(history);
            T_TRUE(count <= file_events);
            const plim_events *const events = &plim_history_device(whole, 0)->events;
            if (count > 0) {
                const plim_events *const got = &plim_history_device(history, 0)->events;
                T_EQ_MEM(got->addr, events->addr, count * sizeof *got->addr);
                T_EQ_MEM(got->bytes, events->bytes, count * sizeof *got->bytes);
                T_EQ_U64(plim_history_device(history, 0)->overflowed, PLIM_NO);
            }
            plim_history_destroy(history);
        }
        plim_history_destroy(whole);
    }
}

static void flipped_bits_are_noticed(void)
{
    for (uint32_t level = 0; level < 2; level++) {
        record(level);
        for (int i = 0; i < 1500; i++) {
            const size_t at = (size_t)t_random_between(0, file_bytes - 1);
            const uint8_t bit = (uint8_t)(1u << t_random_between(0, 7));
            T_CASE("bit %u of byte %zu", bit, at);
            plim_history *history = NULL;
            file[at] ^= bit;
            const plim_status status = parse(file, file_bytes, &history);
            file[at] ^= bit;
            if (at < PLIM_FILE_HEADER_BYTES) {
                T_EQ_U64(status, PLIM_CORRUPT);
                continue;
            }
            T_EQ_U64(status, PLIM_OK);
            T_TRUE(plim_history_warning_count(history) >= 1);
            plim_history_destroy(history);
        }
    }
}

/* --- chunks --- */

/* Where the nth chunk of a kind begins and ends. */
static bool find_chunk(plim_chunk_kind kind, size_t n, size_t *ret_begin, size_t *ret_end)
{
    size_t at = PLIM_FILE_HEADER_BYTES;
    plim_chunk chunk;
    while (plim_chunk_read(file + at, file + file_bytes, &chunk) == PLIM_CHUNK_FIND_WHOLE) {
        const size_t end = at + PLIM_CHUNK_HEADER_BYTES + chunk.stored_bytes;
        if (chunk.kind == kind && n-- == 0) {
            *ret_begin = at;
            *ret_end = end;
            return true;
        }
        at = end;
    }
    return false;
}

static void a_missing_chunk_is_a_gap(void)
{
    size_t begin = 0;
    size_t end = 0;
    record(0);
    T_TRUE(find_chunk(PLIM_CHUNK_EVENTS, 3, &begin, &end));
    const uint32_t missing = plim_get_u32(file + begin + PLIM_CHUNK_HEADER_BYTES + 4);
    T_TRUE(missing > 0);
    memmove(file + begin, file + end, file_bytes - end);
    file_bytes -= end - begin;
    plim_history *history = NULL;
    T_EQ_U64(parse(file, file_bytes, &history), PLIM_OK);
    T_EQ_U64(plim_history_device(history, 0)->overflowed, PLIM_YES);
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "device 0: %" PRIu32 " events are missing", missing);
    T_NOT_NULL(strstr(plim_history_warning(history, 0), wanted));
    T_TRUE(events_of(history) >= file_events - missing);
    plim_history_destroy(history);
}

/* Strings, frames and stacks may be missing: events stay. */
static void missing_names_cost_names(void)
{
    static const plim_chunk_kind kinds[] = { PLIM_CHUNK_STRINGS, PLIM_CHUNK_FRAMES,
                                             PLIM_CHUNK_STACKS, PLIM_CHUNK_PROCESS };
    for (size_t i = 0; i < T_COUNT(kinds); i++) {
        size_t begin = 0;
        size_t end = 0;
        record(0);
        T_TRUE(find_chunk(kinds[i], 0, &begin, &end));
        memmove(file + begin, file + end, file_bytes - end);
        file_bytes -= end - begin;
        plim_history *history = NULL;
        T_EQ_U64(parse(file, file_bytes, &history), PLIM_OK);
        T_EQ_U64(events_of(history), file_events);
        plim_history_destroy(history);
    }
}

static void reseal(size_t begin)
{
    uint8_t *const header = file + begin;
    const uint32_t bytes = plim_get_u32(header + 16);
    plim_put_u32(header + 24, (uint32_t)crc32_z(0, header + PLIM_CHUNK_HEADER_BYTES, bytes));
    plim_put_u32(header + 28, (uint32_t)crc32_z(0, header, 28));
}

static void chunks_of_unknown_kinds_are_skipped(void)
{
    size_t begin = 0;
    size_t end = 0;
    record(0);
    T_TRUE(find_chunk(PLIM_CHUNK_PROCESS, 0, &begin, &end));
    plim_put_u16(file + begin + 4, 999);
    reseal(begin);
    plim_history *history = NULL;
    T_EQ_U64(parse(file, file_bytes, &history), PLIM_OK);
    T_EQ_U64(plim_history_warning_count(history), 0);
    T_EQ_U64(events_of(history), file_events);
    plim_history_destroy(history);
}

/* Contents that are no rows after a checksum that is right: what comes before is kept. */
static void contents_without_meaning_are_a_gap(void)
{
    size_t begin = 0;
    size_t end = 0;
    record(0);
    T_TRUE(find_chunk(PLIM_CHUNK_EVENTS, 2, &begin, &end));
    memset(file + (begin + end) / 2, 0xff, (end - begin) / 2 - 1);
    reseal(begin);
    plim_history *history = NULL;
    T_EQ_U64(parse(file, file_bytes, &history), PLIM_OK);
    T_TRUE(plim_history_warning_count(history) >= 1);
    T_TRUE(events_of(history) > file_events / 2);
    T_EQ_U64(plim_history_device(history, 0)->overflowed, PLIM_YES);
    plim_history_destroy(history);
}

static void other_files_are_refused(void)
{
    plim_history *history = NULL;
    record(0);
    plim_put_u16(file + 8, PLIM_FORMAT_VERSION + 1);
    plim_put_u32(file + 12, (uint32_t)crc32_z(0, file, 12));
    T_EQ_U64(parse(file, file_bytes, &history), PLIM_UNSUPPORTED);
    T_EQ_U64(parse((const uint8_t *)"\x80\x04]\x94.", 5, &history), PLIM_CORRUPT);
    T_EQ_U64(parse(file, 0, &history), PLIM_CORRUPT);
    T_EQ_U64(plim_recording_load("/nowhere/at/all", NULL, &history, NULL), PLIM_IO);
}

T_MAIN(T_TEST(a_cut_file_is_read_up_to_the_cut), T_TEST(flipped_bits_are_noticed),
       T_TEST(a_missing_chunk_is_a_gap), T_TEST(missing_names_cost_names),
       T_TEST(chunks_of_unknown_kinds_are_skipped), T_TEST(contents_without_meaning_are_a_gap),
       T_TEST(other_files_are_refused))
