/*
 * fuzz_replay.c - any bytes as a history that may contradict itself in every way: replayed,
 * verified, predicted and searched. Nothing crashes, and what is run twice is the same.
 *
 *   byte 0       bits: a device capacity, settings to run under
 *   byte 1       segments that stand at the end; 4 bytes each: place, size, kind, blocks
 *   then         events of 4 bytes: action and stream, place, size, pool
 */
#include "base/assert.h"
#include "base/memory.h"
#include "history/builder.h"
#include "plimsoll/replay.h"

#include <string.h>

#define EVENTS_MAX   ((size_t)2000)
#define PLACE_BYTES  ((uint64_t)512 << 10)
#define PLACES_BASE  ((uint64_t)0x7f0000000000)
#define OTHER_STREAM ((plim_stream)7)
#define SEGMENTS_MAX 15u

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const confs[] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:32,garbage_collection_threshold:0.5,per_process_memory_fraction:0.9",
    "roundup_power2_divisions:4",
    "naive",
    "bfc",
    "async",
    "arena",
};

#define CONF_COUNT (sizeof confs / sizeof confs[0])

/* Half the sizes are of the small pool; a few are nonsense. */
static uint64_t size_of(uint8_t byte)
{
    if (byte >= 0xfe) {
        return byte == 0xff ? UINT64_MAX : UINT64_C(1) << 60;
    }
    return ((uint64_t)(byte & 0x0f) + 1) << (8 + (byte >> 4));
}

static plim_addr place_of(uint8_t byte)
{
    return byte == 0 ? 1 : PLACES_BASE + byte * PLACE_BYTES;
}

/* A segment whose blocks alternate as the bits say. */
static void push_segment(plim_history *history, const uint8_t *row, uint64_t *blocks)
{
    plim_segment segment = { .addr = place_of(row[0]),
                             .bytes = PLACE_BYTES * (1 + row[1] % 64),
                             .pool = { 0, row[2] & 4 ? 1 : 0 },
                             .stream = row[2] >> 3 & 1,
                             .stack = PLIM_NONE,
                             .block_first = *blocks,
                             .is_large = (row[2] & 1) != 0,
                             .is_expandable = (row[2] & 2) != 0 };
    segment.block_count = 1 + row[3] % 8;
    for (uint64_t i = 0; i < segment.block_count; i++) {
        const plim_block block = { .addr = segment.addr + i * PLACE_BYTES,
                                   .bytes = row[3] & 8 ? PLACE_BYTES : segment.bytes,
                                   .requested_bytes = PLACE_BYTES - row[3],
                                   .stack = PLIM_NONE,
                                   .state = (plim_block_state)(row[3] >> (i % 4 + 3) & 1) };
        PLIM_ASSERT(plim_history_push_block(history, &block, NULL) == PLIM_OK);
    }
    *blocks += segment.block_count;
    PLIM_ASSERT(plim_history_push_segment(history, &segment, NULL) == PLIM_OK);
}

static void push_event(plim_history *history, const uint8_t *row, uint32_t pool_note)
{
    const plim_event event = { .action = (plim_action)(row[0] % 9),
                               .stream = row[0] >> 7 == 0 ? 0 : OTHER_STREAM,
                               .addr = place_of(row[1]),
                               .bytes = size_of(row[2]),
                               .time_ns = PLIM_TIME_UNKNOWN,
                               .stack = PLIM_NONE,
                               .note = row[3] % 5 == 0 ? pool_note : 0 };
    PLIM_ASSERT(plim_history_push_event(history, &event, NULL) == PLIM_OK);
}

static plim_history *history_of(const uint8_t *data, size_t size)
{
    plim_history *history = NULL;
    PLIM_ASSERT(plim_history_create(&plim_mem_heap, &history, NULL) == PLIM_OK);
    uint32_t stream = 0;
    uint32_t note = 0;
    const plim_note pool = { .pool = { 0, 1 },
                             .has_pool = true,
                             .compile_context = PLIM_NONE,
                             .user_metadata = PLIM_NONE,
                             .forward_stack = PLIM_NONE,
                             .category = PLIM_NONE };
    PLIM_ASSERT(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_stream(history, OTHER_STREAM, &stream, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_note(history, &pool, &note, NULL) == PLIM_OK);
    plim_device_ranges ranges = { .device = 0 };
    const size_t segments = data[1] % (SEGMENTS_MAX + 1);
    size_t at = 2;
    for (size_t i = 0; i < segments && at + 4 <= size; i++, at += 4) {
        push_segment(history, &data[at], &ranges.blocks.count);
        ranges.segments.count++;
    }
    for (; at + 4 <= size && ranges.events.count < EVENTS_MAX; at += 4) {
        push_event(history, &data[at], note);
        ranges.events.count++;
    }
    PLIM_ASSERT(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

static void run_twice(const plim_replay *replay, const plim_conf *conf, uint64_t capacity_bytes)
{
    const plim_run_options options = { .capacity_bytes = capacity_bytes };
    plim_run_result first;
    plim_run_result second;
    plim_error err;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    const plim_status status = plim_replay_run(replay, conf, &options, &first, &err);
    PLIM_ASSERT(plim_replay_run(replay, conf, &options, &second, &err) == status);
    if (status != PLIM_OK) {
        return;
    }
    PLIM_ASSERT(first.peak_reserved_bytes == second.peak_reserved_bytes &&
                first.failed_event == second.failed_event && first.retries == second.retries);
    PLIM_ASSERT(first.survives == (first.failed_event == PLIM_NO_EVENT));
    PLIM_ASSERT(first.peak_reserved_bytes >= first.peak_allocated_bytes);
    plim_history *predicted = NULL;
    if (plim_replay_predict(replay, conf, &options, &predicted, &err) == PLIM_OK) {
        plim_history_destroy(predicted);
    }
}

static void replay_all(const plim_history *history, uint8_t choice)
{
    const plim_scale scale = { "all", 1.5 };
    const plim_replay_options options = { .device = PLIM_ALL_DEVICES,
                                          .from_event = choice & 0x10 ? 5 : 0,
                                          .scales = &scale,
                                          .scale_count = choice & 0x20 ? 1 : 0 };
    plim_replay *replay = NULL;
    plim_error err;
    if (plim_replay_create(history, &options, &replay, &err) != PLIM_OK) {
        return;
    }
    const uint64_t capacity_bytes = choice & 0x40 ? (uint64_t)128 << 20 : PLIM_UNLIMITED;
    plim_fidelity fidelity;
    const plim_run_options limits = { .capacity_bytes = capacity_bytes };
    if (plim_replay_verify(replay, &limits, &fidelity, &err) == PLIM_OK) {
        PLIM_ASSERT(fidelity.share >= 0 && fidelity.share <= 1);
    }
    plim_conf conf;
    PLIM_ASSERT(plim_conf_parse(confs[choice % CONF_COUNT], &conf, &err) == PLIM_OK);
    run_twice(replay, &plim_replay_device(replay, 0)->conf, capacity_bytes);
    run_twice(replay, &conf, capacity_bytes);
    plim_replay_destroy(replay);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    plim_history *history = history_of(data, size);
    replay_all(history, data[0]);
    plim_history_destroy(history);
    return 0;
}
