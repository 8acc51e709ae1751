/*
 * test_gaps.c - histories of recordings in which events are missing contradict themselves nowhere.
 *
 * What the reader works out need not be what happened: nobody knows that. But every block that is
 * freed was allocated, none is allocated where another lives, and what stands at the end is what
 * the events leave.
 */
#include "trace/program.h"

#include "history/start.h"
#include "trace/write/inside.h"

#include <unistd.h>

/* A listener that loses some runs of events as a full queue does. */
typedef struct leaky {
    plim_recorder *recorder;
    plim_event_sink sink;
    uint64_t left; /* events until the mood changes */
    bool is_losing;
    uint64_t kept;
    uint64_t lost;
} leaky;

static void leak_event(void *ctx, const plim_event *event)
{
    leaky *const leak = ctx;
    if (leak->left == 0) {
        leak->is_losing = !leak->is_losing;
        leak->left = leak->is_losing ? t_random_between(1, 20) : t_random_between(1, 400);
    }
    leak->left--;
    if (!leak->is_losing) {
        leak->kept++;
        leak->sink.event(leak->sink.ctx, event);
        return;
    }
    leak->lost++;
    plim_lost *const lost = &leak->recorder->lost[event->device + 1];
    atomic_store(&lost->device, event->device);
    atomic_fetch_add(&lost->count, 1);
    atomic_fetch_add(&leak->recorder->dropped, 1);
}

static void leak_stack(void *ctx, const plim_stack_record *stack)
{
    const leaky *const leak = ctx;
    leak->sink.stack(leak->sink.ctx, stack);
}

static void expect_no_contradiction(const plim_device_history *device)
{
    plim_start start;
    const plim_free_halves halves = { true, true };
    T_EQ_U64(plim_start_init(&start, device, halves, &plim_mem_heap, NULL), PLIM_OK);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_DOUBLE_FREE], 0);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_ALLOC_OVER_LIVE], 0);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_FREE_SIZE], 0);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_COMPLETED_UNREQUESTED], 0);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_LIVE_NOT_ACTIVE], 0);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_ACTIVE_NOT_LIVE], 0);
    T_EQ_U64(start.anomalies[PLIM_ANOMALY_SEGMENT_OVERLAP], 0);
    T_EQ_U64(start.allocations.count, 0); /* nothing is taken for older than the recording */
    T_EQ_U64(start.pending.count, 0);
    plim_start_deinit(&start);
}

/* Blocks that overlap at any moment, by the events alone: there are none. */
static void expect_no_overlap(const plim_history *history, const plim_device_history *device)
{
    static t_block live[2 * T_LIVE_MAX + 4096];
    size_t count = 0;
    for (uint64_t i = 0; i < device->events.count; i++) {
        const uint8_t action = device->events.action[i];
        const plim_addr addr = device->events.addr[i];
        const uint64_t size = device->events.bytes[i];
        if (action == PLIM_ALLOC) {
            for (size_t k = 0; k < count; k++) {
                T_FALSE(addr < live[k].addr + live[k].bytes && live[k].addr < addr + size);
            }
            T_TRUE(count < T_COUNT(live));
            live[count++] = (t_block){ .addr = addr, .bytes = size };
        } else if (action == PLIM_FREE_COMPLETED) {
            size_t k = 0;
            while (k < count && live[k].addr != addr) {
                k++;
            }
            T_TRUE(k < count);
            live[k] = live[--count];
        }
    }
    uint64_t standing = 0;
    for (uint64_t i = 0; i < device->block_count; i++) {
        standing += device->blocks[i].state != PLIM_BLOCK_INACTIVE;
    }
    T_EQ_U64(standing, count);
    (void)history;
}

/* Events that nobody told say so, and only those. */
static uint64_t count_worked_out(const plim_history *history, const plim_events *events)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        const plim_note *const note = plim_history_note(history, events->note[i]);
        count += note->user_metadata != PLIM_NONE;
    }
    return count;
}

static void gaps_leave_no_contradictions(void)
{
    static t_program program;
    char path[256];
    t_path(path, sizeof path, "gaps.plim");
    for (int round = 0; round < 40; round++) {
        T_CASE("round %d", round);
        const plim_recorder_options options = { .leaves_out_frames = true };
        leaky leak = { .left = 200 };
        T_EQ_U64(plim_recorder_start(path, &options, &leak.recorder, NULL), PLIM_OK);
        leak.sink = plim_recorder_sink(leak.recorder);
        t_program_init(&program, 1);
        program.sink = (plim_event_sink){ leak_event, leak_stack, &leak };
        t_program_run(&program, 3000);
        T_EQ_U64(plim_recorder_stop(leak.recorder, NULL), PLIM_OK);
        plim_history *history = NULL;
        T_EQ_U64(plim_recording_load(path, NULL, &history, NULL), PLIM_OK);
        const plim_device_history *const device = plim_history_device(history, 0);
        T_EQ_U64(device->overflowed, PLIM_YES);
        T_TRUE(device->events.count >= leak.kept);
        T_TRUE(device->events.count <= leak.kept + 4 * leak.lost);
        T_EQ_U64(device->events.count, leak.kept + count_worked_out(history, &device->events));
        expect_no_contradiction(device);
        expect_no_overlap(history, device);
        plim_history_destroy(history);
        t_program_deinit(&program);
    }
    (void)unlink(path);
}

/* --- what exactly is worked out --- */

typedef struct told {
    plim_action action; /* PLIM_ACTION_OTHER: a lost event */
    plim_addr addr;
    uint64_t bytes;
} told;

#define LOST PLIM_ACTION_OTHER

static void expect_history(const told *events, size_t count, const told *wanted,
                           size_t wanted_count)
{
    char path[256];
    plim_recorder *recorder = NULL;
    plim_history *history = NULL;
    t_path(path, sizeof path, "worked-out.plim");
    T_EQ_U64(plim_recorder_start(path, NULL, &recorder, NULL), PLIM_OK);
    const plim_event_sink sink = plim_recorder_sink(recorder);
    for (size_t i = 0; i < count; i++) {
        if (events[i].action == LOST) {
            atomic_fetch_add(&recorder->lost[1].count, 1);
            continue;
        }
        const plim_event event = { .action = events[i].action,
                                   .addr = events[i].addr,
                                   .bytes = events[i].bytes,
                                   .block_bytes = events[i].bytes,
                                   .stack = PLIM_NONE };
        sink.event(sink.ctx, &event);
    }
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    T_EQ_U64(plim_recording_load(path, NULL, &history, NULL), PLIM_OK);
    const plim_events *const got = &plim_history_device(history, 0)->events;
    T_EQ_U64(got->count, wanted_count);
    for (size_t i = 0; i < wanted_count; i++) {
        T_EQ_U64(got->action[i], wanted[i].action);
        T_EQ_U64(got->addr[i], wanted[i].addr);
        T_EQ_U64(got->bytes[i], wanted[i].bytes);
    }
    plim_history_destroy(history);
    (void)unlink(path);
}

static void a_lost_free_is_put_into_the_gap(void)
{
    static const told events[] = {
        { PLIM_SEGMENT_ALLOC, 0x10000, 0x8000 },
        { PLIM_ALLOC, 0x10000, 1024 },
        { PLIM_ALLOC, 0x10400, 512 },
        { LOST, 0, 0 },
        { LOST, 0, 0 },
        { PLIM_FREE_REQUESTED, 0x10400, 512 },
        { PLIM_ALLOC, 0x10200, 512 },
    };
    static const told wanted[] = {
        { PLIM_SEGMENT_ALLOC, 0x10000, 0x8000 },
        { PLIM_ALLOC, 0x10000, 1024 },
        { PLIM_ALLOC, 0x10400, 512 },
        { PLIM_FREE_REQUESTED, 0x10000, 1024 },
        { PLIM_FREE_COMPLETED, 0x10000, 1024 },
        { PLIM_FREE_REQUESTED, 0x10400, 512 },
        { PLIM_ALLOC, 0x10200, 512 },
    };
    expect_history(events, T_COUNT(events), wanted, T_COUNT(wanted));
}

static void a_lost_alloc_is_put_into_the_gap(void)
{
    static const told events[] = {
        { PLIM_SEGMENT_ALLOC, 0x10000, 0x8000 },
        { LOST, 0, 0 },
        { PLIM_OOM, 5, 6 },
        { PLIM_FREE_REQUESTED, 0x10400, 512 },
        { PLIM_FREE_COMPLETED, 0x10400, 512 },
        { PLIM_FREE_COMPLETED, 0x10800, 512 },
        { PLIM_SEGMENT_FREE, 0x20000, 0x8000 },
    };
    static const told wanted[] = {
        { PLIM_SEGMENT_ALLOC, 0x10000, 0x8000 },
        { PLIM_SEGMENT_ALLOC, 0x20000, 0x8000 },
        { PLIM_ALLOC, 0x10400, 512 },
        { PLIM_ALLOC, 0x10800, 512 },
        { PLIM_FREE_REQUESTED, 0x10800, 512 },
        { PLIM_OOM, 5, 6 },
        { PLIM_FREE_REQUESTED, 0x10400, 512 },
        { PLIM_FREE_COMPLETED, 0x10400, 512 },
        { PLIM_FREE_COMPLETED, 0x10800, 512 },
        { PLIM_SEGMENT_FREE, 0x20000, 0x8000 },
    };
    expect_history(events, T_COUNT(events), wanted, T_COUNT(wanted));
}

/* Without a gap, what is freed and was never allocated is older than the recording. */
static void nothing_is_worked_out_where_nothing_is_missing(void)
{
    static const told events[] = {
        { PLIM_FREE_REQUESTED, 0x10400, 512 },  { PLIM_FREE_COMPLETED, 0x10400, 512 },
        { PLIM_ALLOC, 0x10000, 2048 },          { PLIM_ALLOC, 0x10400, 512 },
        { PLIM_SEGMENT_FREE, 0x20000, 0x8000 },
    };
    expect_history(events, T_COUNT(events), events, T_COUNT(events));
}

T_MAIN(T_TEST(gaps_leave_no_contradictions), T_TEST(a_lost_free_is_put_into_the_gap),
       T_TEST(a_lost_alloc_is_put_into_the_gap),
       T_TEST(nothing_is_worked_out_where_nothing_is_missing))
