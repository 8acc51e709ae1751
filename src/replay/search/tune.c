/*
 * tune.c - the search for settings, in rounds: what a round does is settled before it begins, so
 * that it matters neither how many threads there are nor which is done first.
 *
 *   first     every row once, at the capacity asked about
 *   then      its smallest capacity: of the recorded settings and the most promising rows; with
 *             what these need as a limit, of more; of all the rest. A row that fails at the limit
 *             cannot win and is left at that
 *   again     for the best of each kind together, and for moments to empty the cache
 *
 * docs/design/replay.md argues for it.
 */
#include "replay/search/tune.h"

#include "base/error.h"
#include "base/sweep.h"
#include "replay/search/ranking.h"
#include "replay/search/trial.h"

#include <string.h>

#define OPEN_FIRST  2 /* rows of the first round, besides those that must be known exactly */
#define OPEN_SECOND 4

typedef struct search {
    const plim_mem *mem;
    const plim_replay *replay;
    const plim_tune_options *options;
    plim_candidates candidates;
    PLIM_VEC(plim_candidate) states;
    PLIM_VEC(size_t) batch; /* rows of a round */
    plim_watch watch;
    plim_trial_context trials;
    uint32_t threads;
    uint64_t floor_bytes;
    plim_run_result *results; /* by row, then device; NULL: those of each device are not wanted */
    bool is_quick;            /* smallest capacities are not searched */
} search;

static plim_tune_field field_of(const search *s)
{
    return (plim_tune_field){ .rows = s->candidates.rows.items,
                              .states = s->states.items,
                              .count = s->states.count };
}

/* --- trials --- */

static void note_trial(plim_candidate *state, uint64_t steps, const plim_trial *trial)
{
    if (trial->survives) {
        plim_bisect_survived(&state->bisect, steps, plim_capacity_steps(trial->peak_bytes),
                             state->is_sure);
    } else {
        plim_bisect_failed(&state->bisect, steps, plim_capacity_steps(trial->needed_bytes),
                           trial->reach);
    }
}

/* A trial that ended early for want of time does not count, and is no error. */
static plim_status forgive_lateness(search *s, plim_status status)
{
    const bool is_late = status == PLIM_CANCELLED && !s->watch.is_cancelled;
    return is_late ? PLIM_OK : status;
}

/*
 * The steps a first trial stands for. Where memory comes in whole ones, what fails with part of a
 * step fails without it, and what survives used no part of one. Elsewhere a capacity that is no
 * whole number of steps says nothing of those beside it.
 */
static uint64_t steps_of_first(const plim_candidate *state, uint64_t capacity_bytes, bool survives)
{
    const bool is_whole =
        capacity_bytes != PLIM_UNLIMITED && capacity_bytes % PLIM_CAPACITY_STEP_BYTES == 0;
    if (survives) {
        return is_whole ? capacity_bytes / PLIM_CAPACITY_STEP_BYTES : PLIM_STEPS_MAX;
    }
    return is_whole || state->is_sure ? capacity_bytes / PLIM_CAPACITY_STEP_BYTES
                                      : state->bisect.low;
}

static plim_run_result *results_of(const search *s, size_t row)
{
    return s->results == NULL ? NULL : &s->results[row * s->replay->devices.count];
}

/* A job: a row at the capacity asked about, to its end. */
static plim_status run_first(void *ctx, size_t index, plim_error *err)
{
    search *const s = ctx;
    const size_t at = s->batch.items[index];
    plim_tune_row *const row = &s->candidates.rows.items[at];
    plim_candidate *const state = &s->states.items[at];
    const uint64_t capacity = s->options->capacity_bytes;
    const plim_trial_setup setup = { .row = row,
                                     .capacity_bytes = capacity,
                                     .has_budget = !row->is_recorded,
                                     .ret_results = results_of(s, at) };
    plim_trial trial;
    const plim_status status = plim_trial_run(&s->trials, &setup, &trial, err);
    if (status != PLIM_OK) {
        return forgive_lateness(s, status);
    }
    row->result = trial.result;
    state->is_tried = true;
    state->is_starting = trial.starts;
    note_trial(state, steps_of_first(state, capacity, trial.survives), &trial);
    state->start_error = trial.start_error;
    return PLIM_OK;
}

/* Tries one capacity; false in *ret_goes_on when there is no time for it. */
static plim_status probe(search *s, size_t at, uint64_t steps, bool *ret_goes_on, plim_error *err)
{
    const plim_trial_setup setup = { .row = &s->candidates.rows.items[at],
                                     .capacity_bytes = steps * PLIM_CAPACITY_STEP_BYTES,
                                     .stops_at_failure = true,
                                     .has_budget = true };
    plim_trial trial;
    const plim_status status = plim_trial_run(&s->trials, &setup, &trial, err);
    if (status != PLIM_OK) {
        *ret_goes_on = false;
        return forgive_lateness(s, status);
    }
    note_trial(&s->states.items[at], steps, &trial);
    return PLIM_OK;
}

/* A job: the smallest capacity of a row, or that it is beyond the limit. */
static plim_status run_solving(void *ctx, size_t index, plim_error *err)
{
    search *const s = ctx;
    const size_t at = s->batch.items[index];
    plim_candidate *const state = &s->states.items[at];
    const uint64_t limit = state->limit;
    bool goes_on = true;
    if (limit != PLIM_STEPS_UNKNOWN && limit > state->bisect.low && limit < state->bisect.high) {
        PLIM_TRY(probe(s, at, limit, &goes_on, err));
    }
    while (goes_on) {
        const uint64_t next = plim_bisect_next(&state->bisect);
        const bool is_beyond = limit != PLIM_STEPS_UNKNOWN && state->bisect.low >= limit;
        if (is_beyond || next == 0) {
            state->is_done = true;
            state->is_bound = is_beyond || state->bisect.high == PLIM_STEPS_UNKNOWN;
            return PLIM_OK;
        }
        PLIM_TRY(probe(s, at, next, &goes_on, err));
    }
    return PLIM_OK;
}

/* --- rounds --- */

static plim_status run_batch(search *s, plim_sweep_job *job, plim_error *err)
{
    const plim_sweep_jobs jobs = { .run = job, .ctx = s, .count = s->batch.count };
    plim_watch_expect(&s->watch, s->batch.count);
    return plim_sweep(&jobs, s->threads, err);
}

static plim_status add_states(search *s, plim_error *err)
{
    const uint64_t floor = plim_capacity_steps(s->floor_bytes > 0 ? s->floor_bytes : 1);
    while (s->states.count < s->candidates.rows.count) {
        const plim_candidate state = plim_candidate_begin(&s->candidates, s->states.count, floor);
        if (!PLIM_VEC_PUSH(s->mem, &s->states, state)) {
            return plim_fail_memory(err, "listing settings to try");
        }
    }
    return PLIM_OK;
}

static plim_status push_batch(search *s, size_t row, plim_error *err)
{
    return PLIM_VEC_PUSH(s->mem, &s->batch, row) ? PLIM_OK
                                                 : plim_fail_memory(err, "searching settings");
}

/* Rows that are new, at the capacity asked about. */
static plim_status try_new_rows(search *s, plim_error *err)
{
    const size_t first = s->states.count;
    PLIM_TRY(add_states(s, err));
    s->batch.count = 0;
    for (size_t i = first; i < s->states.count; i++) {
        PLIM_TRY(push_batch(s, i, err));
    }
    return run_batch(s, run_first, err);
}

static bool is_in_batch(const search *s, size_t row)
{
    for (size_t i = 0; i < s->batch.count; i++) {
        if (s->batch.items[i] == row) {
            return true;
        }
    }
    return false;
}

/* True if row `a` is to be searched before row `b`. */
static bool is_ahead(const search *s, size_t a, size_t b)
{
    const plim_candidate *const first = &s->states.items[a];
    const plim_candidate *const second = &s->states.items[b];
    if (first->class != second->class) {
        return first->class < second->class;
    }
    const plim_tune_field field = field_of(s);
    const uint64_t first_cost = plim_field_estimate(&field, a);
    const uint64_t second_cost = plim_field_estimate(&field, b);
    return first_cost != second_cost ? first_cost < second_cost : a < b;
}

/* The most promising row that is open and not in the batch; SIZE_MAX: none. */
static size_t best_open(const search *s)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->states.count; i++) {
        const plim_candidate *const it = &s->states.items[i];
        if (it->is_tried && !it->is_done && !is_in_batch(s, i) &&
            (best == SIZE_MAX || is_ahead(s, i, best))) {
            best = i;
        }
    }
    return best;
}

/* The smallest capacities of those that must be known exactly, and of some more. */
static plim_status solve_some(search *s, size_t more, plim_error *err)
{
    s->batch.count = 0;
    for (size_t i = 0; i < s->states.count; i++) {
        const plim_candidate *const it = &s->states.items[i];
        if (it->is_tried && !it->is_done && it->wants_exact) {
            PLIM_TRY(push_batch(s, i, err));
        }
    }
    for (size_t i = 0; i < more; i++) {
        const size_t row = best_open(s);
        if (row == SIZE_MAX) {
            break;
        }
        PLIM_TRY(push_batch(s, row, err));
    }
    const plim_tune_field field = field_of(s);
    for (size_t i = 0; i < s->batch.count; i++) {
        const size_t row = s->batch.items[i];
        s->states.items[row].limit = plim_field_limit(&field, row);
    }
    return run_batch(s, run_solving, err);
}

/* Rows given up beside a incumbent that has lost since may win now; false: none. */
static bool reopen(search *s)
{
    const plim_tune_field field = field_of(s);
    bool has_opened = false;
    for (size_t i = 0; i < s->states.count; i++) {
        plim_candidate *const it = &s->states.items[i];
        const bool was_given_up =
            it->is_done && it->is_bound && it->limit != PLIM_STEPS_UNKNOWN && !it->wants_exact;
        if (was_given_up && plim_field_limit(&field, i) > it->bisect.low) {
            it->is_done = false;
            it->is_bound = false;
            has_opened = true;
        }
    }
    return has_opened;
}

static plim_status solve_all(search *s, plim_error *err)
{
    PLIM_TRY(solve_some(s, OPEN_FIRST, err));
    PLIM_TRY(solve_some(s, OPEN_SECOND, err));
    do {
        PLIM_TRY(solve_some(s, s->states.count, err));
    } while (!s->watch.is_late && reopen(s));
    return PLIM_OK;
}

/* --- what the first rounds suggest --- */

static plim_status combine(search *s, plim_error *err)
{
    const plim_tune_field field = field_of(s);
    size_t best[PLIM_CHANGE_COUNT];
    bool is_better[PLIM_CHANGE_COUNT] = { false };
    uint64_t usual = PLIM_STEPS_UNKNOWN; /* what the default settings cost */
    for (size_t i = 0; i < PLIM_CHANGE_COUNT; i++) {
        best[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < field.count; i++) {
        const plim_candidate *const it = &field.states[i];
        const uint32_t changes = plim_candidates_changes(&s->candidates, &field.rows[i]);
        if (it->class != PLIM_ROW_SETTINGS || !it->is_tried) {
            continue;
        }
        if (changes == 0 && plim_field_estimate(&field, i) < usual) {
            usual = plim_field_estimate(&field, i);
        }
        for (size_t c = 0; c < PLIM_CHANGE_COUNT; c++) {
            if (changes == (uint32_t)1 << c && (best[c] == SIZE_MAX || is_ahead(s, i, best[c]))) {
                best[c] = i;
            }
        }
    }
    for (size_t c = 0; c < PLIM_CHANGE_COUNT; c++) {
        is_better[c] = best[c] != SIZE_MAX && plim_field_estimate(&field, best[c]) < usual;
    }
    return plim_candidates_add_combinations(&s->candidates, best, is_better, err);
}

static plim_status add_points(search *s, size_t row, plim_error *err)
{
    const uint64_t failed = s->candidates.rows.items[s->candidates.baseline].result.failed_event;
    return plim_candidates_add_points(&s->candidates, row, failed, err);
}

static plim_status search_rounds(search *s, plim_error *err)
{
    PLIM_TRY(try_new_rows(s, err));
    if (s->is_quick) {
        return PLIM_OK;
    }
    if (s->options->only_given || s->results != NULL) {
        return solve_all(s, err);
    }
    PLIM_TRY(solve_all(s, err));
    PLIM_TRY(combine(s, err));
    PLIM_TRY(add_points(s, s->candidates.baseline, err));
    PLIM_TRY(try_new_rows(s, err));
    PLIM_TRY(solve_all(s, err));
    const plim_tune_field field = field_of(s);
    const size_t incumbent = plim_field_best(&field, PLIM_ROW_SETTINGS, 0);
    if (incumbent == SIZE_MAX || field.rows[incumbent].is_recorded) {
        return PLIM_OK;
    }
    PLIM_TRY(add_points(s, incumbent, err));
    PLIM_TRY(try_new_rows(s, err));
    return solve_all(s, err);
}

/* --- what comes out --- */

/* A tuning and what it takes to free it. */
typedef struct kept_tuning {
    plim_tuning tuning; /* first: who has the one has the other */
    const plim_mem *mem;
    plim_tune_row *rows;
    plim_error *errors; /* by row */
    plim_run_result *results;
    size_t row_capacity;
    size_t result_capacity;
} kept_tuning;

static void set_capacity(const plim_candidate *state, plim_tune_row *row)
{
    const plim_bisect *const bisect = &state->bisect;
    const bool is_exact = state->is_done && !state->is_bound;
    const uint64_t steps = is_exact ? bisect->high : bisect->low + 1;
    row->is_min_capacity_bound = !is_exact;
    row->min_capacity_bytes =
        steps <= PLIM_STEPS_MAX ? steps * PLIM_CAPACITY_STEP_BYTES : PLIM_UNLIMITED;
}

/* What a row costs, or at least, in steps. */
static uint64_t cost_of(const plim_tune_field *field, size_t row)
{
    return plim_field_cost(field, row, plim_capacity_steps(field->rows[row].min_capacity_bytes));
}

/* The order of the table, but for the winner. */
static bool is_above(const plim_tune_field *field, size_t a, size_t b)
{
    const plim_tune_row *const first = &field->rows[a];
    const plim_tune_row *const second = &field->rows[b];
    if (first->result.survives != second->result.survives) {
        return first->result.survives;
    }
    const uint64_t first_cost = cost_of(field, a);
    const uint64_t second_cost = cost_of(field, b);
    if (first_cost != second_cost) {
        return first_cost < second_cost;
    }
    if (first->is_min_capacity_bound != second->is_min_capacity_bound) {
        return second->is_min_capacity_bound;
    }
    const uint32_t first_plainness = field->states[a].plainness;
    const uint32_t second_plainness = field->states[b].plainness;
    return first_plainness != second_plainness ? first_plainness < second_plainness : a < b;
}

/* Into the batch: rows that were tried, in the order of the table. */
static plim_status sort_rows(search *s, const plim_tune_field *field, size_t winner,
                             plim_error *err)
{
    s->batch.count = 0;
    for (size_t i = 0; i < field->count; i++) {
        if (!field->states[i].is_tried) {
            continue;
        }
        PLIM_TRY(push_batch(s, i, err));
        size_t at = s->batch.count - 1;
        for (; at > 0; at--) {
            const size_t other = s->batch.items[at - 1];
            if (other == winner || (i != winner && !is_above(field, i, other))) {
                break;
            }
            s->batch.items[at] = other;
        }
        s->batch.items[at] = i;
    }
    return PLIM_OK;
}

static size_t place_of(const search *s, size_t row)
{
    size_t place = 0;
    while (place + 1 < s->batch.count && s->batch.items[place] != row) {
        place++;
    }
    return place;
}

static bool is_same_row(const plim_tune_row *a, const plim_tune_row *b)
{
    return a->min_capacity_bytes == b->min_capacity_bytes &&
           a->is_min_capacity_bound == b->is_min_capacity_bound &&
           a->result.failed_event == b->result.failed_event &&
           a->result.peak_reserved_bytes == b->result.peak_reserved_bytes &&
           a->result.retries == b->result.retries &&
           memcmp(a->result.driver_calls, b->result.driver_calls, sizeof a->result.driver_calls) ==
               0;
}

/*
 * Where nothing stood before the first event, the two rows of the recorded settings differ by the
 * driver's addresses alone. That rarely shows, and then one of them says it all.
 */
static void unite_recorded(search *s)
{
    const plim_tune_row *const rows = s->candidates.rows.items;
    const size_t recorded = s->candidates.recorded;
    const size_t baseline = s->candidates.baseline;
    if (recorded != baseline && !s->candidates.has_start &&
        is_same_row(&rows[recorded], &rows[baseline])) {
        s->states.items[recorded].is_tried = false;
        s->candidates.recorded = baseline;
    }
}

/* Of the two rows of the recorded settings the one that fares better. */
static size_t reference_of(const search *s, const plim_tune_field *field)
{
    const size_t recorded = s->candidates.recorded;
    const size_t baseline = s->candidates.baseline;
    return recorded == baseline || !is_above(field, recorded, baseline) ? baseline : recorded;
}

/* What is gained over the recorded settings, where that is known: a share of what they cost. */
static void set_gain(const search *s, const plim_tune_field *field, size_t winner,
                     plim_tuning *tuning)
{
    const size_t reference = reference_of(s, field);
    const plim_tune_row *const before = &field->rows[reference];
    size_t better = winner;
    tuning->reference = place_of(s, reference);
    tuning->hardly_better = SIZE_MAX;
    if (field->rows[winner].is_recorded) {
        better = plim_field_best(field, PLIM_ROW_PROGRAM, 1);
    }
    if (better == SIZE_MAX || before->result.survives != field->rows[better].result.survives ||
        before->is_min_capacity_bound || field->rows[better].is_min_capacity_bound ||
        cost_of(field, better) >= cost_of(field, reference)) {
        return;
    }
    tuning->gain = 1 - (double)cost_of(field, better) / (double)cost_of(field, reference);
    if (tuning->gain * 100 < PLIM_TIE_PERCENT) {
        tuning->hardly_better = place_of(s, better);
    }
}

/* The rows of the batch, in its order. NULL: no host memory, and `err` says so. */
static kept_tuning *keep_rows(search *s, plim_error *err)
{
    const size_t count = s->batch.count;
    kept_tuning *kept = plim_mem_alloc_zeroed(s->mem, 1, sizeof *kept);
    plim_tune_row *rows = plim_mem_alloc(s->mem, count, sizeof *rows);
    plim_error *errors = plim_mem_alloc(s->mem, count, sizeof *errors);
    if (kept == NULL || rows == NULL || errors == NULL) {
        plim_mem_free(s->mem, errors, count, sizeof *errors);
        plim_mem_free(s->mem, rows, count, sizeof *rows);
        plim_mem_free(s->mem, kept, 1, sizeof *kept);
        (void)plim_fail_memory(err, "keeping what a search found");
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t row = s->batch.items[i];
        const plim_candidate *const state = &s->states.items[row];
        rows[i] = s->candidates.rows.items[row];
        errors[i] = state->start_error;
        rows[i].failure = state->is_starting ? NULL : errors[i].message;
        rows[i].results = state->is_starting ? results_of(s, row) : NULL;
    }
    *kept = (kept_tuning){ .mem = s->mem,
                           .rows = rows,
                           .errors = errors,
                           .results = s->results,
                           .row_capacity = count,
                           .result_capacity = s->states.count * s->replay->devices.count };
    s->results = NULL; /* the tuning's now */
    return kept;
}

static plim_status keep(search *s, plim_tuning **ret_tuning, plim_error *err)
{
    for (size_t i = 0; i < s->states.count; i++) {
        set_capacity(&s->states.items[i], &s->candidates.rows.items[i]);
    }
    unite_recorded(s);
    plim_tune_field field = field_of(s);
    field.takes_open = s->watch.is_late;
    size_t winner = plim_field_best(&field, PLIM_ROW_PROGRAM, 0);
    winner = winner == SIZE_MAX ? reference_of(s, &field) : winner;
    PLIM_TRY(sort_rows(s, &field, winner, err));

    kept_tuning *kept = keep_rows(s, err);
    if (kept == NULL) {
        return PLIM_OUT_OF_HOST_MEMORY;
    }
    kept->tuning = (plim_tuning){
        .rows = kept->rows,
        .row_count = s->batch.count,
        .recorded = place_of(s, s->candidates.recorded),
        .baseline = place_of(s, s->candidates.baseline),
        .best = place_of(s, winner),
        .is_saved = !s->options->is_capacity_bound && field.rows[winner].result.survives &&
                    !field.rows[reference_of(s, &field)].result.survives,
        .is_hopeless =
            !s->options->is_capacity_bound && s->floor_bytes > s->options->capacity_bytes,
        .is_incomplete = s->watch.is_late,
        .floor_bytes = s->floor_bytes,
        .runs = s->watch.done,
    };
    set_gain(s, &field, winner, &kept->tuning);
    *ret_tuning = &kept->tuning;
    return PLIM_OK;
}

void plim_tuning_destroy(plim_tuning *tuning)
{
    if (tuning == NULL) {
        return;
    }
    kept_tuning *const kept = (kept_tuning *)(void *)tuning;
    const plim_mem *const mem = kept->mem;
    plim_mem_free(mem, kept->rows, kept->row_capacity, sizeof *kept->rows);
    plim_mem_free(mem, kept->errors, kept->row_capacity, sizeof *kept->errors);
    plim_mem_free(mem, kept->results, kept->result_capacity, sizeof *kept->results);
    plim_mem_free(mem, kept, 1, sizeof *kept);
}

/* --- the whole --- */

static plim_status check_start(const search *s, plim_error *err)
{
    for (size_t i = 0; i < s->states.count; i++) {
        if (s->states.items[i].is_starting) {
            return PLIM_OK;
        }
    }
    if (err != NULL) {
        *err = s->states.items[s->candidates.recorded].start_error;
    }
    return PLIM_OUT_OF_DEVICE_MEMORY;
}

static plim_status run_search(search *s, plim_error *err)
{
    for (size_t i = 0; i < s->replay->devices.count; i++) {
        const uint64_t bytes = s->replay->devices.items[i].asked->facts.floor_bytes;
        s->floor_bytes = bytes > s->floor_bytes ? bytes : s->floor_bytes;
    }
    s->trials.steps = s->candidates.steps;
    PLIM_TRY(search_rounds(s, err));
    PLIM_TRY(check_start(s, err));
    plim_watch_settle(&s->watch);
    return s->watch.is_cancelled ? plim_fail(err, PLIM_CANCELLED, "the search was ended") : PLIM_OK;
}

static plim_status tune(search *s, plim_tuning **ret_tuning, plim_error *err)
{
    PLIM_TRY(plim_candidates_init(&s->candidates, s->replay, s->options, false, err));
    PLIM_TRY(run_search(s, err));
    return keep(s, ret_tuning, err);
}

static plim_status compare(search *s, plim_tuning **ret_tuning, plim_error *err)
{
    PLIM_TRY(plim_candidates_init(&s->candidates, s->replay, s->options, true, err));
    const size_t count = s->candidates.rows.count * s->replay->devices.count;
    s->results = plim_mem_alloc_zeroed(s->mem, count, sizeof *s->results);
    if (s->results == NULL) {
        return plim_fail_memory(err, "comparing settings");
    }
    PLIM_TRY(run_search(s, err));
    s->batch.count = 0;
    for (size_t i = 0; i < s->states.count; i++) {
        PLIM_TRY(push_batch(s, i, err));
        if (!s->is_quick) {
            set_capacity(&s->states.items[i], &s->candidates.rows.items[i]);
        }
    }
    kept_tuning *kept = keep_rows(s, err);
    if (kept == NULL) {
        return PLIM_OUT_OF_HOST_MEMORY;
    }
    kept->tuning = (plim_tuning){ .rows = kept->rows,
                                  .row_count = s->batch.count,
                                  .hardly_better = SIZE_MAX,
                                  .is_hopeless = s->floor_bytes > s->options->capacity_bytes,
                                  .floor_bytes = s->floor_bytes,
                                  .runs = s->watch.done };
    *ret_tuning = &kept->tuning;
    return PLIM_OK;
}

typedef plim_status finish(search *s, plim_tuning **ret_tuning, plim_error *err);

static plim_status search_and(search *s, finish *work, plim_tuning **ret_tuning, plim_error *err)
{
    const plim_tune_options *const options = s->options;
    s->mem = plim_mem_or_heap(options->mem);
    s->threads = options->threads > 0 ? options->threads : plim_sweep_default_threads();
    const plim_run_options device = { .capacity_bytes = options->capacity_bytes,
                                      .total_bytes = options->total_bytes };
    s->trials = (plim_trial_context){ .replay = s->replay,
                                      .costs = options->costs,
                                      .others_bytes = plim_others_bytes(&device),
                                      .watch = &s->watch };
    const plim_watch_options watching = { .progress = options->progress,
                                          .progress_ctx = options->progress_ctx,
                                          .budget_s = options->budget_s };
    PLIM_TRY(plim_watch_init(&s->watch, &watching, err));
    const plim_status status = work(s, ret_tuning, err);
    plim_mem_free(s->mem, s->results, s->candidates.rows.count * s->replay->devices.count,
                  sizeof *s->results);
    PLIM_VEC_FREE(s->mem, &s->batch);
    PLIM_VEC_FREE(s->mem, &s->states);
    plim_candidates_deinit(&s->candidates);
    plim_watch_deinit(&s->watch);
    return status;
}

plim_status plim_replay_tune(const plim_replay *replay, const plim_tune_options *options,
                             plim_tuning **ret_tuning, plim_error *err)
{
    search s = { .replay = replay, .options = options };
    return search_and(&s, tune, ret_tuning, err);
}

plim_status plim_replay_compare(const plim_replay *replay, const plim_tune_options *options,
                                bool is_quick, plim_tuning **ret_tuning, plim_error *err)
{
    search s = { .replay = replay, .options = options, .is_quick = is_quick };
    return search_and(&s, compare, ret_tuning, err);
}
