/*
 * test_replayed.c - replays of made-up histories, against the programs themselves.
 *
 * A program that is made up asks for the same under all settings. So what a replay of its history
 * says of other settings can be held against what the allocator does under them; and a replay
 * under the recorded ones must be what was recorded.
 */
#include "harness.h"
#include "plimsoll/replay.h"
#include "traces/trace.h"

enum { EVENTS = 15000 };

#define DEVICE_BYTES ((uint64_t)80 << 30) /* of a trace that does not say */

static const char *const confs[] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:128",
    "garbage_collection_threshold:0.5,per_process_memory_fraction:0.6",
    "roundup_power2_divisions:8",
};

static plim_history *made(const plim_trace_spec *spec, plim_trace_outcome *ret_outcome)
{
    plim_error err;
    plim_history *history = NULL;
    if (plim_trace_make(spec, &history, ret_outcome, &err) != PLIM_OK) {
        fail_msg("%s: %s", t_now.row, err.message);
    }
    return history;
}

static plim_replay *replay_of(const plim_history *history)
{
    plim_error err;
    plim_replay *replay = NULL;
    const plim_replay_options options = { .device = 0 };
    if (plim_replay_create(history, &options, &replay, &err) != PLIM_OK) {
        fail_msg("%s: %s", t_now.row, err.message);
    }
    return replay;
}

/* Nothing differs, or the sizes of the first blocks are said to be guesses: a free one that is
 * taken for larger than it was serves what the driver had to. */
static bool is_faithful(const plim_history *history)
{
    plim_error err;
    plim_fidelity is;
    plim_replay *const replay = replay_of(history);
    /* Which no file tells, and garbage collection depends on. */
    const plim_run_options options = { .capacity_bytes = DEVICE_BYTES };
    if (plim_replay_verify(replay, &options, &is, &err) != PLIM_OK) {
        fail_msg("%s: %s", t_now.row, err.message);
    }
    plim_replay_destroy(replay);
    const bool is_same = is.segment_events_matched == is.segment_events_recorded &&
                         is.segment_events_matched == is.segment_events_predicted &&
                         is.placements_matched == is.placements &&
                         is.reserved_bytes_max_difference == 0;
    if (!is_same && is.caveats[PLIM_CAVEAT_START_BLOCKS] > 0) {
        return true;
    }
    if (!is_same) {
        print_error("%s: segment events %" PRIu64 " recorded, %" PRIu64 " predicted, %" PRIu64
                    " matched; placements %" PRIu64 " of %" PRIu64 "; event %" PRIu64 ": %s\n",
                    t_now.row, is.segment_events_recorded, is.segment_events_predicted,
                    is.segment_events_matched, is.placements_matched, is.placements,
                    is.diverges_at_event, is.divergence);
        for (unsigned caveat = 0; caveat < PLIM_CAVEAT_COUNT; caveat++) {
            if (is.caveats[caveat] > 0) {
                print_error("  %s: %" PRIu64 "\n", plim_caveat_name((plim_caveat)caveat),
                            is.caveats[caveat]);
            }
        }
    }
    return is_same;
}

static void a_replay_under_the_recorded_settings_is_the_recording(void)
{
    bool are_all = true;
    for (unsigned i = 0; i < PLIM_TRACE_KIND_COUNT * T_COUNT(confs); i++) {
        const plim_trace_spec spec = { .kind = (plim_trace_kind)(i % PLIM_TRACE_KIND_COUNT),
                                       .seed = t_random() % 100000,
                                       .events = EVENTS,
                                       .conf = confs[i / PLIM_TRACE_KIND_COUNT] };
        T_CASE("%s, seed %" PRIu64 ", \"%s\"", plim_trace_kind_name(spec.kind), spec.seed,
               spec.conf);
        plim_history *const history = made(&spec, NULL);
        are_all = is_faithful(history) && are_all;
        plim_history_destroy(history);
    }
    T_TRUE(are_all);
}

static void so_is_one_of_a_torn_recording(void)
{
    bool are_all = true;
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        const plim_trace_spec spec = { .kind = (plim_trace_kind)kind,
                                       .seed = t_random() % 100000,
                                       .events = EVENTS,
                                       .keep_events = EVENTS / 4,
                                       .conf = kind % 2 == 0 ? "" : confs[1] };
        T_CASE("torn %s, seed %" PRIu64 ", \"%s\"", plim_trace_kind_name(spec.kind), spec.seed,
               spec.conf);
        plim_history *const history = made(&spec, NULL);
        are_all = is_faithful(history) && are_all;
        plim_history_destroy(history);
    }
    T_TRUE(are_all);
}

/* True if a replay of a history says of a conf what the program itself does under it. */
static bool predicts(const plim_replay *replay, plim_trace_spec spec, const char *text)
{
    plim_error err;
    plim_conf conf;
    plim_run_result result;
    plim_trace_outcome truth;
    spec.conf = text;
    plim_history_destroy(made(&spec, &truth));
    const plim_run_options options = { .capacity_bytes = spec.capacity_bytes };
    T_EQ_U64(plim_conf_parse(text, &conf, &err), PLIM_OK);
    if (plim_replay_run(replay, &conf, &options, &result, &err) != PLIM_OK) {
        fail_msg("%s: %s", t_now.row, err.message);
    }
    const bool is_right = result.survives == (truth.ooms == 0) &&
                          result.peak_reserved_bytes == truth.peak_reserved_bytes &&
                          result.peak_allocated_bytes == truth.peak_allocated_bytes &&
                          result.retries == truth.retries;
    if (!is_right) {
        print_error("%s -> \"%s\": peak reserved %" PRIu64 ", in truth %" PRIu64
                    "; allocated %" PRIu64 ", %" PRIu64 "; retries %" PRIu64 ", %" PRIu64
                    "; survives %d, %d\n",
                    t_now.row, text, result.peak_reserved_bytes, truth.peak_reserved_bytes,
                    result.peak_allocated_bytes, truth.peak_allocated_bytes, result.retries,
                    truth.retries, result.survives, truth.ooms == 0);
    }
    return is_right;
}

static void a_prediction_is_what_the_program_does_under_other_settings(void)
{
    bool are_all = true;
    for (unsigned i = 0; i < PLIM_TRACE_KIND_COUNT * 2; i++) {
        const plim_trace_spec spec = { .kind = (plim_trace_kind)(i % PLIM_TRACE_KIND_COUNT),
                                       .seed = t_random() % 100000,
                                       .events = EVENTS,
                                       .conf = confs[i / PLIM_TRACE_KIND_COUNT],
                                       .capacity_bytes = DEVICE_BYTES };
        T_CASE("%s, seed %" PRIu64 ", \"%s\"", plim_trace_kind_name(spec.kind), spec.seed,
               spec.conf);
        plim_history *const history = made(&spec, NULL);
        plim_replay *const replay = replay_of(history);
        for (size_t other = 0; other < T_COUNT(confs); other++) {
            are_all = predicts(replay, spec, confs[other]) && are_all;
        }
        plim_replay_destroy(replay);
        plim_history_destroy(history);
    }
    T_TRUE(are_all);
}

/* Recorded where there was room, requested where there is less: does it survive? */
static void survival_on_a_smaller_device_is_told_right(void)
{
    bool are_all = true;
    for (unsigned kind = 0; kind < PLIM_TRACE_KIND_COUNT; kind++) {
        plim_trace_outcome outcome;
        plim_trace_spec spec = { .kind = (plim_trace_kind)kind,
                                 .seed = t_random() % 100000,
                                 .events = EVENTS };
        T_CASE("%s, seed %" PRIu64 ", smaller device", plim_trace_kind_name(spec.kind), spec.seed);
        plim_history *const history = made(&spec, &outcome);
        plim_replay *const replay = replay_of(history);
        for (uint64_t tenths = 7; tenths <= 10; tenths++) {
            spec.capacity_bytes = outcome.peak_reserved_bytes / 10 * tenths >> 21 << 21;
            are_all = predicts(replay, spec, confs[0]) && are_all;
            are_all = predicts(replay, spec, confs[1]) && are_all;
        }
        plim_replay_destroy(replay);
        plim_history_destroy(history);
    }
    T_TRUE(are_all);
}

T_MAIN(T_TEST(a_replay_under_the_recorded_settings_is_the_recording),
       T_TEST(so_is_one_of_a_torn_recording),
       T_TEST(a_prediction_is_what_the_program_does_under_other_settings),
       T_TEST(survival_on_a_smaller_device_is_told_right))
