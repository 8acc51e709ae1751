/*
 * test_fidelity.c - recordings beside their replay: what agrees, what does not, and where.
 *
 * Each recording is a few requests of PyTorch's allocator under default settings, to which
 * something was done.
 */
#include "plimsoll/replay.h"

#include "history/script.h"

/* What stands at the end: a small segment with one block, a large one with one, cut. */
#define SMALL_END                         \
    "segment 0x10000000 2097152;"         \
    "block 0x10000000 512 100 allocated;" \
    "block 0x10000200 2096640 0 free;"
#define LARGE_END                                 \
    "segment 0x20000000 20971520 large;"          \
    "block 0x20000000 4194304 4194304 allocated;" \
    "block 0x20400000 16777216 0 free;"
#define SMALL  "segment_alloc 0x10000000 2097152; alloc 0x10000000 100;"
#define LARGE  "segment_alloc 0x20000000 20971520; alloc 0x20000000 4194304;"
#define SECOND "alloc 0x20400000 4194304; request 0x20400000 4194304; complete 0x20400000 4194304;"

static const struct {
    const char *name;
    const char *script;
    uint64_t recorded, predicted, matched;
    uint64_t placements, placed;
    uint64_t max_difference;
    uint64_t diverges_at_event;
    const char *divergence;
    int doubt; /* that has cause, or PLIM_CAVEAT_COUNT */
} cases[] = {
    { "what PyTorch does is predicted", SMALL_END LARGE_END SMALL LARGE SECOND, 2, 2, 2, 3, 3, 0,
      PLIM_NO_EVENT, "", PLIM_CAVEAT_COUNT },
    { "a start is restored, and nothing is asked of the driver", SMALL_END LARGE_END SECOND, 0, 0,
      0, 1, 1, 0, PLIM_NO_EVENT, "", PLIM_CAVEAT_NO_DRIVER_CALLS },
    { "a call the replay does without",
      SMALL_END LARGE_END
      "segment 0x30000000 20971520 large; block 0x30000000 20971520 0 free;" SMALL LARGE
      "segment_alloc 0x30000000 20971520; alloc 0x30000000 4194304;"
      "request 0x30000000 4194304; complete 0x30000000 4194304",
      3, 2, 2, 3, 2, 20971520, 4,
      "event 4: recorded segment_alloc of 20.0 MiB, predicted none: cached memory at 0x20400000 "
      "served the request of 4.00 MiB",
      PLIM_CAVEAT_PLACEMENT },
    { "what agrees behind a difference still counts",
      SMALL_END LARGE_END
      "segment 0x30000000 20971520 large; block 0x30000000 20971520 0 free;"
      "segment 0x40000000 33554432 large; block 0x40000000 33554432 33554432 allocated;" SMALL LARGE
      "segment_alloc 0x30000000 20971520; alloc 0x30000000 4194304;"
      "request 0x30000000 4194304; complete 0x30000000 4194304;"
      "segment_alloc 0x40000000 33554432; alloc 0x40000000 33554432",
      4, 3, 3, 4, 3, 20971520, 4,
      "event 4: recorded segment_alloc of 20.0 MiB, predicted none: cached memory at 0x20400000 "
      "served the request of 4.00 MiB",
      PLIM_CAVEAT_PLACEMENT },
    { "a call of another size",
      SMALL_END "segment 0x20000000 33554432 large; block 0x20000000 4194304 4194304 allocated;"
                "block 0x20400000 29360128 0 free;" SMALL
                "segment_alloc 0x20000000 33554432; alloc 0x20000000 4194304",
      2, 2, 1, 2, 1, 12582912, 2,
      "event 2: recorded segment_alloc of 32.0 MiB, predicted segment_alloc of 20.0 MiB",
      PLIM_CAVEAT_PLACEMENT },
    { "memory the program gave back goes back here",
      SMALL_END SMALL LARGE
      "request 0x20000000 4194304; complete 0x20000000 4194304; segment_free 0x20000000 20971520;"
      "alloc 0x10000200 100; request 0x10000200 100; complete 0x10000200 100",
      3, 3, 3, 3, 3, 0, PLIM_NO_EVENT, "", PLIM_CAVEAT_COUNT },
    { "a block at the end that the events free",
      SMALL_END LARGE_END SMALL LARGE SECOND "; request 0x20000000 4194304; complete 0x20000000 "
                                             "4194304",
      2, 2, 2, 3, 3, 0, PLIM_NO_EVENT, "", PLIM_CAVEAT_CONTRADICTIONS },
};

static plim_fidelity verified(const plim_history *history)
{
    const plim_replay_options options = { .device = 0 };
    plim_replay *replay = NULL;
    plim_fidelity fidelity = { 0 };
    plim_error err = { 0 };
    if (plim_replay_create(history, &options, &replay, &err) != PLIM_OK ||
        plim_replay_verify(replay, NULL, &fidelity, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_replay_destroy(replay);
    return fidelity;
}

static void recordings_are_compared_gap_by_gap(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        plim_history *history = script_history(cases[i].script);
        const plim_fidelity f = verified(history);
        T_EQ_STR(f.divergence, cases[i].divergence);
        T_EQ_U64(f.segment_events_recorded, cases[i].recorded);
        T_EQ_U64(f.segment_events_predicted, cases[i].predicted);
        T_EQ_U64(f.segment_events_matched, cases[i].matched);
        T_EQ_U64(f.placements, cases[i].placements);
        T_EQ_U64(f.placements_matched, cases[i].placed);
        T_EQ_U64(f.reserved_bytes_max_difference, cases[i].max_difference);
        T_EQ_U64(f.diverges_at_event, cases[i].diverges_at_event);
        for (int j = 0; j < PLIM_CAVEAT_COUNT; j++) {
            if (j != PLIM_CAVEAT_NO_SETTINGS) { /* scripts say nothing of settings */
                T_EQ_U64(f.caveats[j] > 0, j == cases[i].doubt);
            }
        }
        plim_history_destroy(history);
    }
}

static void figures_follow_from_the_counts(void)
{
    plim_history *history = script_history(cases[2].script);
    const plim_fidelity f = verified(history);
    T_TRUE(f.share > 0.66 && f.share < 0.67);
    /* Of 8 events that are no driver calls the last 3 lie after the difference. */
    T_TRUE(f.reserved_bytes_mean_difference == 20971520.0 * 3 / 5);
    T_EQ_U64(f.recorded_peak_reserved_bytes, 2097152 + 2 * 20971520);
    T_EQ_U64(f.predicted_peak_reserved_bytes, 2097152 + 20971520);
    plim_history_destroy(history);
}

static plim_status verify_with(const plim_mem *mem, const plim_history *history,
                               plim_fidelity *ret_fidelity)
{
    const plim_replay_options options = { .mem = mem, .device = 0 };
    plim_replay *replay = NULL;
    plim_status status = plim_replay_create(history, &options, &replay, NULL);
    if (status == PLIM_OK) {
        status = plim_replay_verify(replay, NULL, ret_fidelity, NULL);
    }
    plim_replay_destroy(replay);
    return status;
}

/* Allocators do without some of what they ask for: then the figures are the same. */
static void no_memory_is_said_or_does_no_harm(void)
{
    plim_history *history = script_history(cases[4].script);
    t_mem heap = { .failed = true };
    for (uint64_t n = 1; heap.failed; n++) {
        t_mem_init(&heap);
        heap.fail_at = n;
        plim_fidelity f = { 0 };
        const plim_status status = verify_with(&heap.mem, history, &f);
        T_EQ_U64(heap.live_bytes, 0);
        if (status == PLIM_OK) {
            T_EQ_U64(f.segment_events_matched, cases[4].matched);
            T_EQ_STR(f.divergence, cases[4].divergence);
        } else {
            T_TRUE(heap.failed && status == PLIM_OUT_OF_HOST_MEMORY);
        }
    }
    plim_history_destroy(history);
}

T_MAIN(T_TEST(recordings_are_compared_gap_by_gap), T_TEST(figures_follow_from_the_counts),
       T_TEST(no_memory_is_said_or_does_no_harm))
