/*
 * test_start.c - what stood before the first event, case by case.
 */
#include "history/start.h"

#include "base/memory.h"
#include "history/script.h"

#define BOTH ((plim_free_halves){ .requested = true, .completed = true })
#define LATE ((plim_free_halves){ .completed = true })

static plim_start start_of(const plim_history *history, plim_free_halves halves)
{
    plim_start start;
    T_TRUE(plim_start_init(&start, plim_history_device(history, 0), halves, &plim_mem_heap, NULL) ==
           PLIM_OK);
    return start;
}

static const struct {
    const char *name;
    const char *script;
    bool late; /* the file records completions alone */
    uint64_t requested_bytes, live_count, pending_count, reserved_bytes;
    uint64_t anomaly; /* expected once; PLIM_ANOMALY_COUNT: none */
} cases[] = {
    { "nothing is nothing", "", false, 0, 0, 0, 0, PLIM_ANOMALY_COUNT },
    { "a free without its alloc was there before", "request 0 100; complete 0 100", false, 100, 1,
      0, 0, PLIM_ANOMALY_COUNT },
    { "a block nobody mentions was there before",
      "segment 0 2048; block 0 2048 1500 allocated; request 4096 1; complete 4096 1", false, 1501,
      2, 0, 2048, PLIM_ANOMALY_COUNT },
    { "what the trace allocates was not", "segment 0 512; block 0 512 9 allocated; alloc 0 9",
      false, 0, 0, 0, 512, PLIM_ANOMALY_COUNT },
    { "a second free of an address is none of the start",
      "request 0 100; complete 0 100; request 0 100", false, 100, 1, 0, 0,
      PLIM_ANOMALY_DOUBLE_FREE },
    { "an address once allocated and freed is none of the start",
      "alloc 0 9; request 0 9; complete 0 9; request 0 9", false, 0, 0, 0, 0,
      PLIM_ANOMALY_DOUBLE_FREE },
    { "an address freed first and allocated again counts once",
      "segment 0 512; block 0 512 7 allocated; request 0 100; complete 0 100; alloc 0 7", false,
      100, 1, 0, 512, PLIM_ANOMALY_COUNT },
    { "a block still allocated that the trace frees is a contradiction",
      "segment 0 512; block 0 512 7 allocated; request 0 100; complete 0 100", false, 100, 1, 0,
      512, PLIM_ANOMALY_ACTIVE_NOT_LIVE },
    { "likewise when the trace allocated it too",
      "segment 0 512; block 0 512 7 allocated; alloc 0 7; request 0 7; complete 0 7", false, 0, 0,
      0, 512, PLIM_ANOMALY_ACTIVE_NOT_LIVE },
    { "a completion without its request was pending before", "complete 0 100; request 9 1", false,
      1, 1, 1, 0, PLIM_ANOMALY_COUNT },
    { "a block pending at the end that nobody mentions was so before",
      "segment 0 512; block 0 512 7 pending", false, 0, 0, 1, 512, PLIM_ANOMALY_COUNT },
    { "a completion of what nobody requested",
      "segment 0 512; block 0 512 7 allocated; alloc 0 7; complete 0 7", false, 0, 0, 0, 512,
      PLIM_ANOMALY_COMPLETED_UNREQUESTED },
    { "completions end allocations where nothing else does", "complete 0 100", true, 100, 1, 0, 0,
      PLIM_ANOMALY_COUNT },
    { "an allocation over a live one",
      "segment 0 512; block 0 512 7 allocated; alloc 0 9; alloc 0 7", false, 0, 0, 0, 512,
      PLIM_ANOMALY_ALLOC_OVER_LIVE },
    { "live by the trace but not by the blocks", "segment 0 512; block 0 512 0 free; alloc 0 9",
      false, 0, 0, 0, 512, PLIM_ANOMALY_LIVE_NOT_ACTIVE },
    { "without segments the trace stands alone", "alloc 0 9", false, 0, 0, 0, 0,
      PLIM_ANOMALY_COUNT },
    { "a free of another size", "alloc 0 9; request 0 8; complete 0 9", false, 0, 0, 0, 0,
      PLIM_ANOMALY_FREE_SIZE },
    { "a block smaller than the trace asked for",
      "segment 0 1024; block 0 512 9 allocated; alloc 0 513", false, 0, 0, 0, 1024,
      PLIM_ANOMALY_BLOCK_SIZE },
    { "segments are undone, and what lay in none of them is told",
      "segment 0 2048; segment 8192 1024; segment_alloc 0 2048; segment_free 4096 512; alloc 8192 "
      "1; "
      "request 8192 1; complete 8192 1; segment_alloc 8192 1024",
      false, 0, 0, 0, 512, PLIM_ANOMALY_EVENT_OUTSIDE },
    { "mapped runs are undone in parts",
      "segment 0 6144 expandable; map 4096 2048; map 2048 2048; unmap 6144 2048; map 6144 2048; "
      "unmap 6144 2048",
      false, 0, 0, 0, 4096, PLIM_ANOMALY_COUNT },
    { "a segment allocated twice", "segment 0 512; segment_alloc 0 512; segment_alloc 0 512", false,
      0, 0, 0, 0, PLIM_ANOMALY_SEGMENT_UNKNOWN },
    { "an unmap of what stands", "segment 0 512; unmap 0 512", false, 0, 0, 0, 1024,
      PLIM_ANOMALY_SEGMENT_UNKNOWN },
    { "segments that overlap", "segment 0 1024; segment 512 1024", false, 0, 0, 0, 2048,
      PLIM_ANOMALY_SEGMENT_OVERLAP },
};

static void the_start_is_what_we_wrote_down(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        plim_history *const history = script_history(cases[i].script);
        plim_start start = start_of(history, cases[i].late ? LATE : BOTH);
        uint64_t bytes = 0;
        for (size_t k = 0; k < start.allocations.count; k++) {
            bytes += start.allocations.items[k].requested_bytes;
        }
        T_EQ_U64(bytes, cases[i].requested_bytes);
        T_EQ_U64(start.allocations.count, cases[i].live_count);
        T_EQ_U64(start.pending.count, cases[i].pending_count);
        T_EQ_U64(plim_total_bytes(start.undone.reserved), cases[i].reserved_bytes);
        for (uint64_t a = 0; a < PLIM_ANOMALY_COUNT; a++) {
            const uint64_t expected = a == cases[i].anomaly ? 1 : 0;
            if (start.anomalies[a] != expected) {
                print_error("%s\n", plim_anomaly_name((plim_anomaly)a));
            }
            T_EQ_U64(start.anomalies[a], expected);
        }
        plim_start_deinit(&start);
        plim_history_destroy(history);
    }
}

static void a_free_lends_its_stack_unless_frees_carry_that_of_the_alloc(void)
{
    plim_history *history = script_history("request 0 1 @1; complete 0 1; alloc 0 2 @2; "
                                           "request 0 2 @3; complete 0 2");
    plim_start start = start_of(history, BOTH);
    T_TRUE(start.allocations.items[0].stack_of_free);
    T_TRUE(script_is_stack(history, start.allocations.items[0].stack, 1));
    plim_start_deinit(&start);
    plim_history_destroy(history);
    history = script_history("request 0 1 @1; complete 0 1; alloc 0 2 @2; "
                             "request 0 2 @2; complete 0 2");
    start = start_of(history, BOTH);
    T_FALSE(start.allocations.items[0].stack_of_free);
    plim_start_deinit(&start);
    plim_history_destroy(history);
}

static void the_segments_that_stood_then_can_be_asked(void)
{
    plim_history *const history = script_history(
        "segment 0 4096 expandable; segment 8192 512; map 2048 2048; segment_alloc 8192 512; "
        "segment_free 65536 1024");
    plim_start start = start_of(history, BOTH);
    T_EQ_U64(plim_spans_find(&start.undone.segments, 0)->end, 2048);
    T_NULL(plim_spans_find(&start.undone.segments, 2048));
    T_NULL(plim_spans_find(&start.undone.segments, 8192));
    T_EQ_U64(plim_spans_find(&start.undone.segments, 66000)->begin, 65536);
    plim_start_deinit(&start);
    plim_history_destroy(history);
}

static bool reconstruct(const plim_mem *mem, void *ctx)
{
    const plim_history *const history = ctx;
    plim_start start;
    if (plim_start_init(&start, plim_history_device(history, 0), BOTH, mem, NULL) != PLIM_OK) {
        return false;
    }
    plim_start_deinit(&start);
    return true;
}

static void no_memory_is_survived_anywhere(void)
{
    plim_history *const history = script_history(
        "segment 0 2048; block 0 512 1 allocated; block 512 512 2 pending; block 1024 512 3 "
        "pending; block 1536 512 4 allocated; alloc 1536 4; alloc 1536 4; request 8192 9; complete "
        "4096 9; segment_alloc 65536 9; alloc 512 2; request 512 2");
    t_fail_each_allocation(reconstruct, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(the_start_is_what_we_wrote_down),
       T_TEST(a_free_lends_its_stack_unless_frees_carry_that_of_the_alloc),
       T_TEST(the_segments_that_stood_then_can_be_asked), T_TEST(no_memory_is_survived_anywhere))
