/*
 * replay_sample.h - replays and searches made by hand: what died and what survives, one device
 * and several, exact and not, hostile names. Nothing here comes from a replay: a fault there
 * cannot hide one here.
 */
#ifndef PLIMSOLL_TESTS_REPORT_REPLAY_SAMPLE_H
#define PLIMSOLL_TESTS_REPORT_REPLAY_SAMPLE_H

#include "sample.h"

#include "base/units.h"
#include "report/model/replay.h"

#define REPLAY_ROWS 6u

/* All that a page points to. It must stay where replay_sample_begin() filled it. */
typedef struct replay_sample {
    plim_history *history;
    plim_gpu gpu;
    plim_replay_facts facts[2];
    plim_fidelity fidelity[2];
    plim_replay_input input;
    plim_conf confs[REPLAY_ROWS];
    plim_run_result results[REPLAY_ROWS][2];
    plim_replay_row rows[REPLAY_ROWS];
    size_t row_count;
    plim_tune_row tried[REPLAY_ROWS];
    plim_tuning tuning;
} replay_sample;

static const plim_scale replay_scales[] = { { "activations", 2 }, { "stack:model.py", 0.5 } };

static inline plim_replay_facts replay_facts(int32_t device)
{
    return (plim_replay_facts){
        .device = device,
        .events = 2234,
        .requests = 825,
        .floor_bytes = 20 * GIB,
        .peak_event = 512,
        .recorded_peak_reserved_bytes = 23 * GIB,
        .capacity_bytes = 24 * GIB,
        .capacity_source = PLIM_CAPACITY_OOM,
        .oom_event = 900,
        .events_after_oom = 1333,
    };
}

static inline plim_fidelity replay_fidelity(int32_t device)
{
    return (plim_fidelity){
        .device = device,
        .segment_events_recorded = 38,
        .segment_events_predicted = 38,
        .segment_events_matched = 38,
        .share = 1,
        .placements = 824,
        .placements_matched = 824,
        .recorded_peak_reserved_bytes = 23 * GIB,
        .predicted_peak_reserved_bytes = 23 * GIB,
        .diverges_at_event = PLIM_NO_EVENT,
    };
}

static inline plim_run_result replay_survivor(int32_t device)
{
    plim_run_result result = {
        .device = device,
        .survives = true,
        .failed_event = PLIM_NO_EVENT,
        .events = 2234,
        .peak_reserved_bytes = 20 * GIB + 300 * MIB,
        .peak_allocated_bytes = 20 * GIB,
        .peak_requested_bytes = 20 * GIB - 4096,
        .reserved_at_peak_bytes = 20 * GIB + 300 * MIB,
        .allocated_at_peak_bytes = 20 * GIB,
        .fragmentation = 0.0144,
        .end_reserved_bytes = 4 * GIB,
        .driver_time_us = 21500.5,
        .ooms_survived = 1,
    };
    result.driver_calls[PLIM_CALL_HANDLE_CREATE] = 700;
    result.driver_calls[PLIM_CALL_MAP] = 700;
    result.driver_calls[PLIM_CALL_SET_ACCESS] = 700;
    result.driver_calls[PLIM_CALL_FENCE_QUERY] = 123456;
    return result;
}

static inline plim_run_result replay_casualty(int32_t device)
{
    plim_run_result result = {
        .device = device,
        .failed_event = 900,
        .failed_bytes = 2 * GIB,
        .failed_reserved_bytes = 23 * GIB,
        .failed_allocated_bytes = 18 * GIB,
        .failure = plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH),
        .was_oom = true,
        .events = 900,
        .peak_reserved_bytes = 23 * GIB,
        .peak_allocated_bytes = 19 * GIB,
        .peak_requested_bytes = 19 * GIB,
        .end_reserved_bytes = 23 * GIB,
        .driver_time_us = 4200,
        .retries = 3,
    };
    result.driver_calls[PLIM_CALL_MEMORY_ALLOC] = 33;
    result.driver_calls[PLIM_CALL_MEMORY_FREE] = 5;
    result.failure.figures[PLIM_FIGURE_REQUESTED].bytes = 2 * GIB;
    result.failure.figures[PLIM_FIGURE_TOTAL].bytes = 24 * GIB;
    result.failure.figures[PLIM_FIGURE_FREE].bytes = GIB;
    result.failure.figures[PLIM_FIGURE_ALLOCATED].bytes = 18 * GIB;
    result.failure.figures[PLIM_FIGURE_RESERVED].bytes = 23 * GIB;
    return result;
}

static inline void replay_set_conf(replay_sample *sample, size_t row, const char *text)
{
    snprintf(sample->confs[row].text, sizeof sample->confs[row].text, "%s", text);
}

/* The recorded settings, which die, and two others, one of which survives. */
static inline void replay_sample_rows(replay_sample *sample)
{
    replay_set_conf(sample, 0, "");
    replay_set_conf(sample, 1, "expandable_segments:True");
    replay_set_conf(sample, 2,
                    "garbage_collection_threshold:0.8,max_split_size_mb:128,"
                    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
    for (int32_t device = 0; device < 2; device++) {
        sample->results[0][device] = replay_casualty(device);
        sample->results[1][device] = replay_survivor(device);
        sample->results[2][device] = replay_casualty(device);
        sample->results[2][device].failed_event = 450;
        sample->results[2][device].was_oom = false;
    }
    for (size_t i = 0; i < 3; i++) {
        sample->rows[i] = (plim_replay_row){
            .conf = &sample->confs[i],
            .is_recorded = i == 0,
            .result = &sample->results[i][0],
            .results = sample->results[i],
            .min_capacity_bytes = i == 1 ? 20 * GIB + 302 * MIB : 26 * GIB,
            .is_min_capacity_bound = i == 2,
        };
    }
    sample->row_count = 3;
}

/* The same as a search found them, best first. */
static inline void replay_sample_tuning(replay_sample *sample)
{
    static const size_t order[] = { 1, 0, 2 };
    for (size_t i = 0; i < 3; i++) {
        const plim_replay_row *row = &sample->rows[order[i]];
        sample->tried[i] = (plim_tune_row){
            .conf = *row->conf,
            .is_recorded = row->is_recorded,
            .is_given = order[i] == 2,
            .result = *row->result,
            .min_capacity_bytes = row->min_capacity_bytes,
            .is_min_capacity_bound = row->is_min_capacity_bound,
        };
    }
    sample->tuning = (plim_tuning){
        .rows = sample->tried,
        .row_count = 3,
        .recorded = 1,
        .baseline = 1,
        .reference = 1,
        .hardly_better = SIZE_MAX,
        .is_saved = true,
        .floor_bytes = 20 * GIB,
        .runs = 41,
    };
}

static inline void replay_sample_begin(replay_sample *sample)
{
    *sample = (replay_sample){ .history = sample_history(SAMPLE_EVENTS) };
    sample->gpu = (plim_gpu){ .key = "rtx4090", .name = "NVIDIA GeForce RTX 4090" };
    for (int32_t device = 0; device < 2; device++) {
        sample->facts[device] = replay_facts(device);
        sample->fidelity[device] = replay_fidelity(device);
    }
    sample->input = (plim_replay_input){
        .path = "runs/snapshot.pickle",
        .history = sample->history,
        .facts = sample->facts,
        .fidelity = sample->fidelity,
        .device_count = 1,
        .capacity_bytes = 24 * GIB,
        .gpu = &sample->gpu,
    };
    replay_sample_rows(sample);
    replay_sample_tuning(sample);
}

static inline void replay_sample_end(replay_sample *sample)
{
    plim_history_destroy(sample->history);
}

#endif
