/*
 * test_tune_truth.c - what a search claims of a program, against the program itself: it is run
 * again under the settings that won, on a device as small as they are said to need.
 */
#include "plimsoll/replay.h"

#include "traces/trace.h"
#include "tuning.h"

#define EVENTS 8000

/* The number of requests of the program that fail under these settings, on a device so large. */
static uint64_t fails(plim_trace_kind kind, const char *conf, uint64_t capacity_bytes)
{
    const plim_trace_spec spec = { .kind = kind,
                                   .events = EVENTS,
                                   .conf = conf,
                                   .capacity_bytes = capacity_bytes,
                                   .leaves_out_stacks = true };
    plim_history *history = NULL;
    plim_trace_outcome outcome;
    T_TRUE(plim_trace_make(&spec, &history, &outcome, NULL) == PLIM_OK);
    plim_history_destroy(history);
    return outcome.ooms;
}

static void check(plim_trace_kind kind)
{
    const plim_trace_spec spec = { .kind = kind, .events = EVENTS };
    plim_history *history = NULL;
    T_TRUE(plim_trace_make(&spec, &history, NULL, NULL) == PLIM_OK);
    plim_replay *const replay = tuning_replay(history);
    const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED };
    plim_tuning *const tuning = tuning_of(replay, &options);
    for (size_t i = 0; i < tuning->row_count; i++) {
        const plim_tune_row *const row = &tuning->rows[i];
        if (row->empty_cache != PLIM_EMPTY_NEVER || row->is_min_capacity_bound ||
            !row->is_start_requested) {
            continue; /* it takes the addresses of the recording, which had more room */
        }
        T_CASE("%s, %.99s", plim_trace_kind_name(kind), row->conf.text);
        T_EQ_U64(fails(kind, row->conf.text, row->min_capacity_bytes), 0);
        T_TRUE(fails(kind, row->conf.text, row->min_capacity_bytes - PLIM_CAPACITY_STEP_BYTES) > 0);
    }
    plim_tuning_destroy(tuning);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

static void programs_need_what_is_said(void)
{
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        check((plim_trace_kind)kind);
    }
}

T_MAIN(T_TEST(programs_need_what_is_said))
