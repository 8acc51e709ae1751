/*
 * fuzz_query.c - any bytes as SQL over a small history with two devices: a statement either has an
 * answer or a reason, in bounded time, and changes nothing.
 */
#include "base/assert.h"
#include "base/memory.h"
#include "history/builder.h"

#include "plimsoll/query.h"

#include <string.h>

#define ROWS_MAX ((uint64_t)10000)

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_stack(plim_history *history, const char *name)
{
    plim_frame frame = { .line = 7, .fx = PLIM_NONE };
    uint32_t id = 0;
    uint32_t stack = 0;
    PLIM_ASSERT(plim_history_add_string(history, "/home/u/train.py", 16, &frame.filename, NULL) ==
                PLIM_OK);
    PLIM_ASSERT(plim_history_add_string(history, name, strlen(name), &frame.name, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_frame(history, &frame, &id, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_stack(history, &id, 1, &stack, NULL) == PLIM_OK);
}

static void add_device(plim_history *history, int32_t device, uint64_t first)
{
    static const plim_event events[] = {
        { .action = PLIM_ALLOC, .addr = 0x1000, .bytes = 700, .stack = 0 },
        { .action = PLIM_FREE_REQUESTED, .addr = 0x9000, .bytes = 10, .stack = 1 },
        { .action = PLIM_ALLOC, .addr = 0x2000, .bytes = UINT64_MAX, .stack = PLIM_NONE },
        { .action = PLIM_FREE_REQUESTED, .addr = 0x1000, .bytes = 700, .stack = 1 },
        { .action = PLIM_FREE_COMPLETED, .addr = 0x1000, .bytes = 700, .stack = PLIM_NONE },
        { .action = PLIM_OOM, .addr = 4096, .bytes = 100000, .stack = 0 },
    };
    plim_device_ranges ranges = {
        .device = device, .events = { .first = first, .count = sizeof events / sizeof events[0] }
    };
    for (size_t i = 0; i < ranges.events.count; i++) {
        PLIM_ASSERT(plim_history_push_event(history, &events[i], NULL) == PLIM_OK);
    }
    PLIM_ASSERT(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
}

static plim_history *make_history(void)
{
    plim_history *history = NULL;
    uint32_t stream = 0;
    PLIM_ASSERT(plim_history_create(&plim_mem_heap, &history, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    add_stack(history, "forward");
    add_stack(history, "a;b\n\x1b[31m'\"");
    add_device(history, 0, 0);
    add_device(history, 1, 6);
    plim_history_seal(history);
    return history;
}

static bool take_row(void *ctx, const plim_query_value *values, size_t count)
{
    uint64_t *const rows = ctx;
    for (size_t i = 0; i < count; i++) {
        PLIM_ASSERT(values[i].type < PLIM_QUERY_TYPE_COUNT);
        PLIM_ASSERT(values[i].bytes == 0 || values[i].data != NULL);
    }
    return ++*rows < ROWS_MAX;
}

static plim_status run(plim_query *query, const char *sql, size_t bytes, uint64_t *ret_rows)
{
    const plim_query_reader reader = { .row = take_row, .ctx = ret_rows };
    plim_error err = { 0 };
    const plim_status status = plim_query_run(query, sql, bytes, &reader, &err);
    PLIM_ASSERT(status == PLIM_OK || (err.status == status && err.message[0] != '\0'));
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sum[] = "SELECT id FROM allocations";
    const plim_query_options options = { .time_limit_seconds = 0.2,
                                         .memory_limit_bytes = (uint64_t)64 << 20 };
    plim_history *const history = make_history();
    plim_query *query = NULL;
    uint64_t rows = 0;
    PLIM_ASSERT(plim_query_open(history, &options, &query, NULL) == PLIM_OK);
    (void)run(query, (const char *)data, size, &rows);
    rows = 0;
    PLIM_ASSERT(run(query, sum, sizeof sum - 1, &rows) == PLIM_OK);
    PLIM_ASSERT(rows == 6); /* whatever the statement was, the tables are what they were */
    plim_query_close(query);
    plim_history_destroy(history);
    return 0;
}
