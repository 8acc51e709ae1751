/*
 * bench_query_speed.c - what statements over a long history cost: seconds, and memory beyond the
 * history, ours and SQLite's.
 *
 *   bench_query_speed [--quick] [--events N]
 *
 * The history is made up: allocations of 400 stacks, of which some hundred are live at a time, each
 * with its alloc, free_requested and free_completed.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "base/memory.h"
#include "history/builder.h"

#include "plimsoll/query.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS       ((uint64_t)10000000)
#define EVENTS_QUICK ((uint64_t)60000)
#define STACKS       400u
#define LIVE         600u

typedef struct counting {
    size_t bytes;
    size_t most;
} counting;

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    counting *const count = ctx;
    void *const fresh = plim_mem_heap.resize(plim_mem_heap.ctx, ptr, old_bytes, new_bytes);
    if (new_bytes == 0 || fresh != NULL) {
        count->bytes += new_bytes;
        count->bytes -= old_bytes;
        count->most = count->bytes > count->most ? count->bytes : count->most;
    }
    return fresh;
}

/* --- a history --- */

static void add_stacks(plim_history *history)
{
    for (uint32_t i = 0; i < STACKS; i++) {
        char name[32];
        const int bytes = snprintf(name, sizeof name, "layer_%" PRIu32, i);
        plim_frame frame = { .line = i + 1, .fx = PLIM_NONE };
        uint32_t frame_id = 0;
        uint32_t stack = 0;
        PLIM_ASSERT(plim_history_add_string(history, "/home/u/train.py", 16, &frame.filename,
                                            NULL) == PLIM_OK);
        PLIM_ASSERT(plim_history_add_string(history, name, (size_t)bytes, &frame.name, NULL) ==
                    PLIM_OK);
        PLIM_ASSERT(plim_history_add_frame(history, &frame, &frame_id, NULL) == PLIM_OK);
        PLIM_ASSERT(plim_history_add_stack(history, &frame_id, 1, &stack, NULL) == PLIM_OK);
    }
}

static void push(plim_history *history, plim_action action, uint64_t slot, uint64_t number)
{
    const plim_event event = { .action = action,
                               .addr = UINT64_C(0x7f0000000000) + slot * 0x100000,
                               .bytes = 512 * (1 + number % 97),
                               .time_ns = (int64_t)number * 3000,
                               .stack = (uint32_t)(number * 7919 % STACKS) };
    PLIM_ASSERT(plim_history_push_event(history, &event, NULL) == PLIM_OK);
}

static plim_history *make_history(uint64_t events)
{
    plim_history *history = NULL;
    plim_device_ranges ranges = { .device = 0 };
    uint32_t stream = 0;
    PLIM_ASSERT(plim_history_create(&plim_mem_heap, &history, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    add_stacks(history);
    for (uint64_t i = 0; ranges.events.count + 3 <= events; i++) {
        const uint64_t slot = i % LIVE;
        if (i >= LIVE) {
            push(history, PLIM_FREE_REQUESTED, slot, i - LIVE);
            push(history, PLIM_FREE_COMPLETED, slot, i - LIVE);
        }
        push(history, PLIM_ALLOC, slot, i);
        ranges.events.count += i >= LIVE ? 3 : 1;
    }
    PLIM_ASSERT(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

/* --- statements --- */

static bool count_row(void *ctx, const plim_query_value *values, size_t count)
{
    (void)values;
    (void)count;
    ++*(uint64_t *)ctx;
    return true;
}

static void measure(const plim_history *history, const char *name, const char *sql, bool is_last)
{
    counting count = { 0 };
    const plim_mem mem = { .resize = resize, .ctx = &count };
    const plim_query_options options = { .mem = &mem };
    plim_query *query = NULL;
    uint64_t rows = 0;
    const plim_query_reader reader = { .row = count_row, .ctx = &rows };
    (void)sqlite3_memory_highwater(1);
    const uint64_t begun = plim_clock_now_ns(&plim_clock_system);
    PLIM_ASSERT(plim_query_open(history, &options, &query, NULL) == PLIM_OK);
    PLIM_ASSERT(plim_query_run(query, sql, strlen(sql), &reader, NULL) == PLIM_OK);
    const uint64_t took = plim_clock_now_ns(&plim_clock_system) - begun;
    printf("    { \"name\": \"%s\", \"seconds\": %.3f, \"rows\": %" PRIu64
           ", \"our_bytes\": %zu, \"sqlite_bytes\": %lld }%s\n",
           name, (double)took / 1e9, rows, count.most, (long long)sqlite3_memory_highwater(0),
           is_last ? "" : ",");
    plim_query_close(query);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const char *sql;
    } statements[] = {
        { "count", "SELECT COUNT(*) FROM events" },
        { "sum by stack", "SELECT stack, SUM(requested_bytes) FROM allocations GROUP BY stack" },
        { "sum by category",
          "SELECT category, SUM(requested_bytes) FROM allocations GROUP BY category" },
        { "a range of events", "SELECT SUM(bytes) FROM events WHERE event BETWEEN 5000 AND 6000" },
        { "one stack", "SELECT COUNT(*), MAX(lifetime_events) FROM allocations WHERE stack = 7" },
        { "live at the peak",
          "SELECT stack, SUM(requested_bytes) FROM live('peak') GROUP BY stack" },
        { "the course", "SELECT MAX(allocated_bytes) FROM moments" },
    };
    uint64_t events = EVENTS;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            events = EVENTS_QUICK;
        } else if (strcmp(argv[i], "--events") == 0 && i + 1 < argc) {
            events = strtoull(argv[++i], NULL, 10);
        }
    }
    plim_history *const history = make_history(events);
    const size_t count = sizeof statements / sizeof statements[0];
    printf("{ \"benchmark\": \"query_speed\", \"events\": %" PRIu64 ", \"statements\": [\n",
           plim_history_device(history, 0)->events.count);
    for (size_t i = 0; i < count; i++) {
        measure(history, statements[i].name, statements[i].sql, i + 1 == count);
    }
    printf("] }\n");
    plim_history_destroy(history);
    return 0;
}
