/*
 * tuning.h - what tests of searches share: making one, holding it against the slow way.
 */
#ifndef PLIMSOLL_TESTS_REPLAY_TUNING_H
#define PLIMSOLL_TESTS_REPLAY_TUNING_H

#include "harness.h"
#include "plimsoll/replay.h"
#include "replay/search/trial.h"
#include "replay/search/tune.h"

static inline plim_replay *tuning_replay(const plim_history *history)
{
    const plim_replay_options options = { .device = PLIM_ALL_DEVICES };
    plim_replay *replay = NULL;
    plim_error err = { .message = "" };
    if (plim_replay_create(history, &options, &replay, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return replay;
}

static inline plim_tuning *tuning_of(const plim_replay *replay, const plim_tune_options *options)
{
    plim_tuning *tuning = NULL;
    plim_error err = { .message = "" };
    if (plim_replay_tune(replay, options, &tuning, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return tuning;
}

/* True if a row survives, tried. */
static inline bool tuning_survives(const plim_replay *replay, const plim_tune_row *row,
                                   uint64_t capacity_bytes)
{
    plim_watch watch;
    const plim_watch_options watching = { .budget_s = 0 };
    T_TRUE(plim_watch_init(&watch, &watching, NULL) == PLIM_OK);
    plim_steps *const steps = calloc(replay->devices.count, sizeof *steps);
    T_NOT_NULL(steps);
    for (size_t i = 0; i < replay->devices.count; i++) {
        const plim_device_history *const device = replay->devices.items[i].recorded.device;
        T_TRUE(plim_steps_init(&steps[i], replay->history, device, NULL, NULL) == PLIM_OK);
    }
    const plim_trial_context context = { .replay = replay, .watch = &watch, .steps = steps };
    const plim_trial_setup setup = { .row = row,
                                     .capacity_bytes = capacity_bytes,
                                     .stops_at_failure = true };
    plim_trial trial;
    T_TRUE(plim_trial_run(&context, &setup, &trial, NULL) == PLIM_OK);
    for (size_t i = 0; i < replay->devices.count; i++) {
        plim_steps_deinit(&steps[i]);
    }
    free(steps);
    plim_watch_deinit(&watch);
    return trial.survives;
}

/* The smallest capacity a row survives with, and with all that is more, up to `most`: every one is
 * tried. UINT64_MAX: not even `most` is enough. */
static inline uint64_t tuning_smallest(const plim_replay *replay, const plim_tune_row *row,
                                       uint64_t most)
{
    uint64_t bytes = most;
    while (bytes > 0 && tuning_survives(replay, row, bytes)) {
        bytes -= PLIM_CAPACITY_STEP_BYTES;
    }
    return bytes == most ? UINT64_MAX : bytes + PLIM_CAPACITY_STEP_BYTES;
}

static inline bool tuning_is_settings(const plim_tuning *tuning, size_t row)
{
    const plim_tune_row *const it = &tuning->rows[row];
    return it->conf.policy == PLIM_POLICY_TORCH && it->empty_cache == PLIM_EMPTY_NEVER &&
           (row != tuning->recorded || row == tuning->baseline);
}

/* What rows are ranked by: what one needs, and what it reserves at the capacity asked about. */
static inline uint64_t tuning_cost(const plim_tune_row *row, uint64_t needed_bytes)
{
    const uint64_t reserved = plim_capacity_steps(row->result.peak_reserved_bytes);
    const uint64_t needed = plim_capacity_steps(needed_bytes);
    return needed + (row->result.survives ? reserved : needed);
}

/* True if a row costs no more than `percent` of what another does, a step aside. */
static inline bool tuning_is_within(const plim_tune_row *row, const plim_tune_row *other,
                                    uint64_t percent)
{
    const uint64_t cost = tuning_cost(row, row->min_capacity_bytes);
    return cost * 100 <= tuning_cost(other, other->min_capacity_bytes) * percent + 100;
}

/* Nothing costs 1 % less than the winner, and no plainer row as little within 1 %. */
static inline void tuning_check_winner(const plim_tuning *tuning)
{
    const plim_tune_row *const best = &tuning->rows[tuning->best];
    const plim_tune_row *const reference = &tuning->rows[tuning->reference];
    T_TRUE(tuning->reference == tuning->recorded || tuning->reference == tuning->baseline);
    T_FALSE(best->is_too_new);
    T_TRUE(best->conf.policy == PLIM_POLICY_TORCH);
    for (size_t i = 0; i < tuning->row_count; i++) {
        const plim_tune_row *const row = &tuning->rows[i];
        T_CASE("row %zu, %.99s", i, row->conf.text);
        if (row->conf.policy != PLIM_POLICY_TORCH || row->is_too_new ||
            row->is_min_capacity_bound || best->is_min_capacity_bound) {
            continue;
        }
        T_TRUE(best->result.survives >= row->result.survives);
        if (best->result.survives == row->result.survives) {
            T_TRUE(tuning_is_within(best, row, 101));
        }
        if (row->is_recorded && !best->is_recorded &&
            row->result.survives == best->result.survives) {
            T_FALSE(tuning_cost(row, row->min_capacity_bytes) <=
                    tuning_cost(best, best->min_capacity_bytes));
            T_TRUE(reference->is_min_capacity_bound || /* then what is gained is not known */
                   tuning->gain > (tuning->hardly_better == tuning->best ? 0 : 0.0098));
        }
        if (row->is_recorded && !row->is_min_capacity_bound) { /* the smaller of the two */
            T_TRUE(reference->result.survives > row->result.survives ||
                   tuning_is_within(reference, row, 100));
        }
    }
    if (tuning->hardly_better != SIZE_MAX) {
        T_TRUE(best->is_recorded || tuning->hardly_better == tuning->best);
        T_TRUE(tuning->gain > 0);
        T_TRUE(tuning->gain < 0.0102);
    }
}

/* What the table promises, whatever the history: order, indices, capacities that were tried. */
static inline void tuning_check(const plim_replay *replay, const plim_tuning *tuning)
{
    T_TRUE(tuning->row_count > 0);
    T_TRUE(tuning->recorded < tuning->row_count);
    T_TRUE(tuning->baseline < tuning->row_count);
    T_EQ_U64(tuning->best, 0);
    T_TRUE(tuning->rows[tuning->recorded].is_recorded);
    T_TRUE(tuning->rows[tuning->baseline].is_recorded);
    for (size_t i = 0; i < tuning->row_count; i++) {
        const plim_tune_row *const row = &tuning->rows[i];
        T_CASE("row %zu, %.99s", i, row->conf.text);
        if (!row->is_min_capacity_bound) {
            T_TRUE(tuning_survives(replay, row, row->min_capacity_bytes));
        }
        if (row->min_capacity_bytes != PLIM_UNLIMITED && !tuning->is_incomplete) {
            const uint64_t less = row->min_capacity_bytes - PLIM_CAPACITY_STEP_BYTES;
            T_FALSE(tuning_survives(replay, row, less));
        }
        if (i > 1) {
            const plim_tune_row *const before = row - 1;
            T_TRUE(before->result.survives >= row->result.survives);
            T_TRUE(before->result.survives > row->result.survives ||
                   tuning_cost(before, before->min_capacity_bytes) <=
                       tuning_cost(row, row->min_capacity_bytes));
        }
    }
    tuning_check_winner(tuning);
}

static inline void tuning_expect_same(const plim_tuning *a, const plim_tuning *b)
{
    T_EQ_U64(a->row_count, b->row_count);
    T_EQ_U64(a->recorded, b->recorded);
    T_EQ_U64(a->baseline, b->baseline);
    T_EQ_U64(a->best, b->best);
    T_EQ_U64(a->is_saved, b->is_saved);
    T_EQ_U64(a->runs, b->runs);
    for (size_t i = 0; i < a->row_count; i++) {
        const plim_tune_row *const x = &a->rows[i];
        const plim_tune_row *const y = &b->rows[i];
        T_EQ_STR(x->conf.text, y->conf.text);
        T_EQ_U64(x->empty_cache, y->empty_cache);
        T_EQ_U64(x->empty_cache_event, y->empty_cache_event);
        T_EQ_U64(x->min_capacity_bytes, y->min_capacity_bytes);
        T_EQ_U64(x->is_min_capacity_bound, y->is_min_capacity_bound);
        T_EQ_U64(x->is_start_requested, y->is_start_requested);
        T_EQ_U64(x->result.survives, y->result.survives);
        T_EQ_U64(x->result.failed_event, y->result.failed_event);
        T_EQ_U64(x->result.peak_reserved_bytes, y->result.peak_reserved_bytes);
        T_EQ_U64(x->result.retries, y->result.retries);
        T_EQ_MEM(x->result.driver_calls, y->result.driver_calls, sizeof x->result.driver_calls);
        T_EQ_MEM(&x->result.driver_time_us, &y->result.driver_time_us, sizeof(double));
    }
}

#endif
