/*
 * test_inspect.c - the definitions of inspect.h, each by a history of a line or two.
 */
#include "plimsoll/inspect.h"

#include "history/script.h"

static plim_inspection *inspect(const plim_history *history, uint32_t bins)
{
    const plim_inspect_options options = { .timeline_bins = bins };
    plim_inspection *inspection = NULL;
    T_TRUE(plim_inspect(history, &options, &inspection, NULL) == PLIM_OK);
    return inspection;
}

/* --- the peak --- */

static const struct {
    const char *name;
    const char *script;
    int64_t event;
    uint64_t requested, allocated, active, reserved, live;
} peaks[] = {
    { "nothing", "", -1, 0, 0, 0, 0, 0 },
    { "the first event that reaches it", "alloc 0 10; request 0 10; alloc 512 10", 0, 10, 512, 512,
      0, 1 },
    { "the start, when nothing passes it", "request 0 10; complete 0 10; alloc 0 10", -1, 10, 512,
      512, 0, 1 },
    { "blocks alone: the start is the end",
      "segment 0 4096; block 0 2048 600 allocated; block 2048 1024 1 pending; block 3072 1024 0 "
      "free",
      -1, 600, 2048, 3072, 4096, 1 },
    { "a block still standing is known exactly",
      "segment 0 4096; block 0 4096 600 allocated; alloc 0 600", 0, 600, 4096, 4096, 4096, 1 },
    { "so is one that is pending at the end",
      "segment 0 4096; block 0 4096 600 pending; alloc 0 600; request 0 600", 0, 600, 4096, 4096,
      4096, 1 },
    { "but not when the address was used again",
      "segment 0 4096; block 0 4096 5 allocated; alloc 0 600; request 0 600; complete 0 600; "
      "alloc 0 5",
      0, 600, 1024, 1024, 4096, 1 },
    { "what is pending is active, not allocated",
      "alloc 0 100; request 0 100; alloc 512 200; complete 0 100", 2, 200, 512, 1024, 0, 1 },
    { "what was pending before the start is active until it completes",
      "alloc 0 100; complete 4096 600; request 0 100", 0, 100, 512, 1536, 0, 1 },
    { "live until completed where nothing is requested", "alloc 0 100; alloc 512 1; complete 0 100",
      1, 101, 1024, 1024, 0, 2 },
    { "an allocation over a live one takes its place", "alloc 0 100; alloc 0 50; alloc 512 60", 2,
      110, 1024, 1024, 0, 2 },
    { "a free gives back what was allocated", "alloc 0 100; request 0 1; alloc 512 101", 2, 101,
      512, 512, 0, 1 },
    { "reserved bytes are undone to the moment",
      "segment 0 1024; segment_alloc 0 1024; alloc 0 100; request 0 100; complete 0 100; "
      "segment_alloc 8192 2048; segment_free 4096 512; segment_free 8192 2048",
      1, 100, 512, 512, 1536, 1 },
    { "reserved bytes are never less than nothing",
      "alloc 0 100; segment_alloc 0 1024; segment_free 0 1024; segment_alloc 4096 1024", 0, 100,
      512, 512, 0, 1 },
    { "the settings round", "divisions 1 2; alloc 0 1100", 0, 1100, 1536, 1536, 0, 1 },
    { "no sum wraps",
      "alloc 0 0xffffffffffffffff; alloc 1 0xffffffffffffffff; request 0 0xffffffffffffffff", 1,
      UINT64_MAX, UINT64_MAX, UINT64_MAX, 0, 2 },
};

static void the_peak_is_what_we_wrote_down(void)
{
    for (size_t i = 0; i < T_COUNT(peaks); i++) {
        T_CASE("%s", peaks[i].name);
        plim_history *const history = script_history(peaks[i].script);
        plim_inspection *const inspection = inspect(history, 0);
        const plim_moment *const peak = &plim_inspection_device(inspection, 0)->peak;
        T_EQ_I64(peak->event, peaks[i].event);
        T_EQ_U64(peak->requested_bytes, peaks[i].requested);
        T_EQ_U64(peak->allocated_bytes, peaks[i].allocated);
        T_EQ_U64(peak->active_bytes, peaks[i].active);
        T_EQ_U64(peak->reserved_bytes, peaks[i].reserved);
        T_EQ_U64(peak->live_count, peaks[i].live);
        plim_inspection_destroy(inspection);
        plim_history_destroy(history);
    }
}

/* --- groups --- */

static void groups_are_by_stack_largest_first(void)
{
    plim_history *const history = script_history(
        "segment 0 4096; block 0 1024 700 allocated @1; block 1024 512 5 allocated; "
        "block 1536 512 60 allocated; block 2048 512 40 allocated; block 2560 512 100 allocated; "
        "block 3072 512 100 allocated; block 3584 512 0 free; "
        "alloc 1536 60 @2; alloc 2048 40 @2; alloc 2560 100 @1; alloc 3072 100 @3; alloc 3584 7 "
        "@4; "
        "request 3584 7 @5; complete 3584 7; request 8192 30 @6; complete 8192 30");
    plim_inspection *const inspection = inspect(history, 0);
    const plim_moment *const peak = &plim_inspection_device(inspection, 0)->peak;
    const struct {
        uint64_t bytes, count, stack, before_bytes, before_count, of_free_count;
    } expected[] = {
        { 800, 2, 1, 700, 1, 0 }, { 100, 2, 2, 0, 0, 0 }, { 100, 1, 3, 0, 0, 0 },
        { 30, 1, 6, 30, 1, 1 },   { 7, 1, 4, 0, 0, 0 },   { 5, 1, 0, 5, 1, 0 },
    };
    T_EQ_I64(peak->event, 4);
    T_EQ_U64(peak->group_count, T_COUNT(expected));
    for (size_t i = 0; i < T_COUNT(expected); i++) {
        T_CASE("group %zu", i);
        const uint32_t stack = peak->groups[i].stack;
        T_TRUE(expected[i].stack == 0 ? stack == PLIM_NONE
                                      : script_is_stack(history, stack, expected[i].stack));
        T_EQ_U64(peak->groups[i].bytes, expected[i].bytes);
        T_EQ_U64(peak->groups[i].count, expected[i].count);
        T_EQ_U64(peak->groups[i].before_recording_bytes, expected[i].before_bytes);
        T_EQ_U64(peak->groups[i].before_recording_count, expected[i].before_count);
        T_EQ_U64(peak->groups[i].stack_of_free_count, expected[i].of_free_count);
        T_EQ_U64(peak->groups[i].user_frame, stack == PLIM_NONE ? PLIM_NONE : 0);
    }
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

static void ooms_tell_what_stood(void)
{
    plim_history *const history = script_history(
        "segment 0 512; block 0 512 100 allocated; alloc 0 100 @1; time 70; oom 4096 1000; "
        "oom 8192 0xffffffffffffffff; alloc 512 1; request 512 1; complete 512 1");
    plim_inspection *const inspection = inspect(history, 0);
    const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
    T_EQ_U64(facts->oom_count, 2);
    T_EQ_U64(facts->ooms[0].event, 1);
    T_EQ_U64(facts->ooms[0].requested_bytes, 4096);
    T_TRUE(facts->ooms[0].has_device_free);
    T_EQ_U64(facts->ooms[0].device_free_bytes, 1000);
    T_EQ_I64(facts->ooms[0].moment.time_us, 70);
    T_EQ_U64(facts->ooms[0].moment.requested_bytes, 100);
    T_EQ_U64(facts->ooms[0].moment.group_count, 1);
    T_FALSE(facts->ooms[1].has_device_free);
    T_EQ_U64(facts->ooms[1].moment.reserved_bytes, 512);
    T_EQ_U64(plim_inspection_anomaly_count(inspection, PLIM_ANOMALY_AFTER_OOM), 3);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

/* --- the end and the pools --- */

static void the_end_is_what_blocks_say(void)
{
    plim_history *const history = script_history(
        "segment 0 4096; block 0 1024 700 allocated; block 1024 1024 9 pending; block 2048 2048 9 "
        "free; segment 8192 2048 large stream 7; block 8192 2048 1 free; "
        "segment 16384 4096 expandable large pool 0 3; block 16384 1024 1024 allocated; "
        "block 17408 3072 5 free; segment 32768 512 stream 7 large; block 32768 512 512 allocated");
    plim_inspection *const inspection = inspect(history, 0);
    const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
    const plim_end_state *const end = &facts->end;
    T_EQ_U64(end->requested_bytes, 700 + 1024 + 512);
    T_EQ_U64(end->allocated_bytes, 1024 + 1024 + 512);
    T_EQ_U64(end->active_bytes, 1024 + 1024 + 1024 + 512);
    T_EQ_U64(end->pending_free_bytes, 1024);
    T_EQ_U64(end->reserved_bytes, 4096 + 2048 + 4096 + 512);
    T_EQ_U64(end->inactive_split_bytes, 2048 + 3072);
    T_EQ_U64(end->releasable_bytes, 2048);
    T_EQ_U64(end->largest_free_block_bytes, 3072);
    T_EQ_U64(end->segments, 4);
    T_EQ_U64(end->blocks, 7);
    T_TRUE(end->fragmentation == 1.0 - 2560.0 / 10752.0);
    T_EQ_U64(facts->pool_count, 3);
    T_EQ_U64(facts->pools[0].state.reserved_bytes, 4096);
    T_EQ_U64(facts->pools[1].pool.b, 3);
    T_TRUE(facts->pools[1].is_expandable);
    T_EQ_U64(facts->pools[1].state.largest_free_block_bytes, 3072);
    T_EQ_U64(facts->pools[2].stream, 7);
    T_EQ_U64(facts->pools[2].state.segments, 2);
    T_EQ_U64(facts->pools[2].state.releasable_bytes, 2048);
    T_EQ_U64(facts->pools[2].state.inactive_split_bytes, 0);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

/* --- whether all of it is there --- */

static const struct {
    const char *name;
    const char *script;
    const char *because; /* NULL: not truncated */
    bool late_start;
} cuts[] = {
    { "nothing", "", NULL, false },
    { "blocks without a trace", "segment 0 512; block 0 512 1 allocated", NULL, false },
    { "the file says so", "overflowed yes; alloc 0 1", "the file says that its ring buffer wrapped",
      false },
    { "the snapshot says so", "format pickle; overflowed yes; alloc 0 1",
      "the file says that its ring buffer wrapped", false },
    { "a recording with a gap", "format plim; overflowed yes; alloc 0 1",
      "events came faster than they could be written, or the file is damaged", false },
    { "a whole recording", "format plim; overflowed no; alloc 0 1", NULL, false },
    { "the file denies it", "overflowed no; capacity 1; complete 0 1; request 512 1", NULL, true },
    { "a full ring", "capacity 2; alloc 0 1; alloc 512 1",
      "it holds as many events as its ring buffer has room for", false },
    { "a ring with room left", "capacity 3; complete 0 1; request 512 1", NULL, true },
    { "the end of a free", "segment_alloc 0 9; complete 0 1; alloc 512 1; request 512 1",
      "it begins with the end of a free that nothing requested", false },
    { "recorded late", "request 0 1; complete 0 1", NULL, true },
    { "recorded from the beginning", "alloc 0 1; request 0 1; complete 0 1", NULL, false },
    { "state alone", "segment 0 512; block 0 512 1 allocated; alloc 512 1",
      "it holds one event, as recordings of state alone do", false },
    { "one event, and nothing before it", "segment 0 512; block 0 512 1 allocated; alloc 0 1", NULL,
      false },
};

static void truncation_is_judged_by_evidence(void)
{
    for (size_t i = 0; i < T_COUNT(cuts); i++) {
        T_CASE("%s", cuts[i].name);
        plim_history *const history = script_history(cuts[i].script);
        plim_inspection *const inspection = inspect(history, 0);
        const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
        T_EQ_U64(facts->truncated, cuts[i].because != NULL);
        T_EQ_U64(facts->late_start, cuts[i].late_start);
        if (cuts[i].because != NULL) {
            T_EQ_STR(facts->truncated_because, cuts[i].because);
        } else {
            T_NULL(facts->truncated_because);
        }
        plim_inspection_destroy(inspection);
        plim_history_destroy(history);
    }
}

static const struct {
    uint64_t events;
    const char *because;
} rings[] = {
    { 999, NULL },
    { 1000, "its event count, 1,000, is a ring size" },
    { 1024, "its event count, 1,024, is a ring size" },
    { 2000, NULL },
    { 10000, "its event count, 10,000, is a ring size" },
    { 30000, "its event count, 30,000, is a ring size" },
    { 65536, "its event count, 65,536, is a ring size" },
    { 65537, NULL },
};

static void an_event_count_that_people_set_is_evidence(void)
{
    for (size_t i = 0; i < T_COUNT(rings); i++) {
        for (int begins = 0; begins < 2; begins++) {
            T_CASE("%" PRIu64 " events", rings[i].events);
            plim_history *history = NULL;
            T_TRUE(plim_history_create(NULL, &history, NULL) == PLIM_OK);
            for (uint64_t k = 0; k < rings[i].events; k++) {
                const plim_event event = { .action = (k + (uint64_t)begins) % 2 == 0
                                                         ? PLIM_FREE_REQUESTED
                                                         : PLIM_ALLOC,
                                           .stack = PLIM_NONE };
                T_TRUE(plim_history_push_event(history, &event, NULL) == PLIM_OK);
            }
            const plim_device_ranges ranges = { .events = { 0, rings[i].events } };
            T_TRUE(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
            plim_history_seal(history);
            plim_inspection *const inspection = inspect(history, 0);
            const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
            /* Begun by an alloc, the start is empty and nothing is missing. */
            const bool truncated = begins == 0 && rings[i].because != NULL;
            T_EQ_U64(facts->truncated, truncated);
            if (truncated) {
                T_EQ_STR(facts->truncated_because, rings[i].because);
            }
            plim_inspection_destroy(inspection);
            plim_history_destroy(history);
        }
    }
}

/* --- what blocks and clocks contradict --- */

static const struct {
    const char *script;
    plim_anomaly anomaly;
    uint64_t count;
} contradictions[] = {
    { "segment 0 1024; block 0 512 513 allocated; block 512 512 900 free", PLIM_ANOMALY_BLOCK_SIZE,
      1 },
    { "segment 0 1024; block 0 1024 1 free; block 512 512 1 free", PLIM_ANOMALY_BLOCK_OVERLAP, 1 },
    { "segment 0 1024; block 0 512 1 free", PLIM_ANOMALY_BLOCK_OUTSIDE, 1 },
    { "segment 0 1024; block 0 512 1 free; block 1024 512 1 free", PLIM_ANOMALY_BLOCK_OUTSIDE, 1 },
    { "segment 0 1024; block 512 1024 1 free", PLIM_ANOMALY_BLOCK_OUTSIDE, 1 },
    { "segment 0 1024; block 0 0xffffffffffffffff 1 free", PLIM_ANOMALY_BLOCK_OUTSIDE, 1 },
    { "segment 0 1024; segment 4096 1024; block 4096 1024 1 free", PLIM_ANOMALY_BLOCK_OUTSIDE, 1 },
    { "time 5; snapshot 0; time 4; snapshot 0; time 5; snapshot 0; time 3; snapshot 0",
      PLIM_ANOMALY_TIME_BACKWARDS, 2 },
    { "segment 0 1024; block 0 1024 9 allocated; snapshot 0; alloc 0 9; snapshot 1024; snapshot "
      "512",
      PLIM_ANOMALY_SNAPSHOT_CHECK, 1 },
    { "segment 0 1024; block 0 1024 9 free; alloc 0 9; snapshot 1024; request 0 9; complete 0 9; "
      "snapshot 0",
      PLIM_ANOMALY_SNAPSHOT_CHECK, 1 }, /* small blocks are always cut to the rounded request */
    { "alloc 0 2097153; snapshot 3145728", PLIM_ANOMALY_SNAPSHOT_CHECK, 0 }, /* an estimate */
};

static void contradictions_are_counted(void)
{
    for (size_t i = 0; i < T_COUNT(contradictions); i++) {
        T_CASE("%s", contradictions[i].script);
        plim_history *const history = script_history(contradictions[i].script);
        plim_inspection *const inspection = inspect(history, 0);
        for (uint64_t a = 0; a < PLIM_ANOMALY_COUNT; a++) {
            T_EQ_U64(plim_inspection_anomaly_count(inspection, (plim_anomaly)a),
                     a == contradictions[i].anomaly ? contradictions[i].count : 0);
        }
        plim_inspection_destroy(inspection);
        plim_history_destroy(history);
    }
}

static void anomalies_of_the_import_are_added(void)
{
    plim_history *const history = script_history("alloc 0 1; request 0 2; complete 0 1");
    plim_history_count_anomaly(history, PLIM_ANOMALY_FREE_SIZE, 4);
    plim_inspection *const inspection = inspect(history, 0);
    T_EQ_U64(plim_inspection_anomaly_count(inspection, PLIM_ANOMALY_FREE_SIZE), 5);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

/* --- the trace, the timeline, devices --- */

static void facts_of_the_trace(void)
{
    plim_history *const history = script_history("segment_alloc 0 512; time 100; alloc 0 1 @1; "
                                                 "time 150; snapshot 512; request 0 1; complete "
                                                 "0 1 @2; time 130; alloc 0 1 @1");
    plim_inspection *const inspection = inspect(history, 4);
    const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
    const char *const names[] = { "segment_alloc", "alloc", "snapshot", "free_requested",
                                  "free_completed" };
    T_EQ_U64(facts->events, 6);
    T_EQ_U64(facts->action_count, T_COUNT(names));
    for (size_t i = 0; i < T_COUNT(names); i++) {
        T_EQ_STR(facts->actions[i].action, names[i]);
        T_EQ_U64(facts->actions[i].count, i == 1 ? 2 : 1);
    }
    T_TRUE(facts->has_times);
    T_EQ_U64(facts->duration_us, 30);
    T_EQ_U64(facts->events_without_stack, 1);
    T_EQ_U64(facts->timeline_count, 3); /* of two events each: 4 bins would need another run */
    T_EQ_U64(facts->timeline[1].event_first, 2);
    T_EQ_U64(facts->timeline[1].allocated_bytes_max, 512);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

static void every_device_is_inspected_on_its_own(void)
{
    /* Device 1 requests frees, so the file does: on device 0 a completion ends nothing. */
    plim_history *const history =
        script_history("alloc 0 100; complete 0 100; alloc 0 50; device 1; "
                       "request 0 7; device 3; segment 0 512; "
                       "block 0 512 3 allocated; device -1; alloc 0 5; "
                       "complete 0 5; alloc 0 6");
    plim_inspection *const inspection = inspect(history, 0);
    T_EQ_U64(plim_inspection_device_count(inspection), 4);
    T_EQ_U64(plim_inspection_device(inspection, 0)->peak.requested_bytes, 100);
    T_EQ_U64(plim_inspection_anomaly_count(inspection, PLIM_ANOMALY_ALLOC_OVER_LIVE), 1);
    T_EQ_U64(plim_inspection_anomaly_count(inspection, PLIM_ANOMALY_COMPLETED_UNREQUESTED), 1);
    T_EQ_I64(plim_inspection_device(inspection, 1)->device, 1);
    T_EQ_U64(plim_inspection_device(inspection, 1)->start_requested_bytes, 7);
    T_EQ_U64(plim_inspection_device(inspection, 2)->start_requested_bytes, 3);
    T_EQ_U64(plim_inspection_device(inspection, 2)->timeline_count, 1);
    /* Pinned host memory is recorded apart. */
    T_EQ_I64(plim_inspection_device(inspection, 3)->device, PLIM_HOST_DEVICE);
    T_EQ_U64(plim_inspection_device(inspection, 3)->peak.requested_bytes, 6);
    T_EQ_U64(plim_inspection_device(inspection, 3)->peak.live_count, 1);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
}

static void an_empty_device_has_nothing(void)
{
    plim_history *const history = script_history("");
    plim_inspection *const inspection = inspect(history, 0);
    const plim_device_inspection *const facts = plim_inspection_device(inspection, 0);
    T_EQ_U64(facts->events + facts->timeline_count + facts->pool_count + facts->oom_count, 0);
    T_EQ_I64(facts->peak.event, -1);
    T_EQ_U64(facts->peak.group_count, 0);
    T_FALSE(facts->has_times);
    plim_inspection_destroy(inspection);
    plim_history_destroy(history);
    plim_inspection_destroy(NULL);
}

/* --- memory --- */

static bool inspect_with(const plim_mem *mem, void *ctx)
{
    const plim_inspect_options options = { .mem = mem };
    plim_inspection *inspection = NULL;
    if (plim_inspect(ctx, &options, &inspection, NULL) != PLIM_OK) {
        T_NULL(inspection);
        return false;
    }
    plim_inspection_destroy(inspection);
    return true;
}

static void no_memory_is_survived_anywhere(void)
{
    plim_history *const history = script_history(
        "segment 0 2048; block 0 512 1 allocated @1; block 512 1536 2 pending; alloc 0 1; oom 1 2; "
        "request 4096 1 @3; oom 1 2; complete 8192 1; segment_alloc 65536 9; alloc 0 1; alloc 512 "
        "2; "
        "request 512 2; device 1; segment 0 9 expandable; map 0 4");
    t_fail_each_allocation(inspect_with, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(the_peak_is_what_we_wrote_down), T_TEST(groups_are_by_stack_largest_first),
       T_TEST(ooms_tell_what_stood), T_TEST(the_end_is_what_blocks_say),
       T_TEST(truncation_is_judged_by_evidence), T_TEST(an_event_count_that_people_set_is_evidence),
       T_TEST(contradictions_are_counted), T_TEST(anomalies_of_the_import_are_added),
       T_TEST(facts_of_the_trace), T_TEST(every_device_is_inspected_on_its_own),
       T_TEST(an_empty_device_has_nothing), T_TEST(no_memory_is_survived_anywhere))
