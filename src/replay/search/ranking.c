/*
 * ranking.c - see ranking.h.
 */
#include "replay/search/ranking.h"

#include <string.h>

/* Plainness. Counts of settings go between the last two. */
enum {
    AS_RECORDED,
    DEFAULT,
    EXPANDABLE,
    SETTINGS,
    EMPTIED_EACH_STEP = 1000,
    EMPTIED_ONCE = 2000,
};

static bool is_sure(const plim_conf *conf)
{
    const plim_settings *const settings = &conf->settings;
    return conf->policy == PLIM_POLICY_TORCH && !settings->expandable_segments &&
           settings->per_process_memory_fraction >= 1 &&
           settings->garbage_collection_threshold <= 0 && !settings->throw_on_cudamalloc_oom;
}

static uint32_t plainness_of(const plim_tune_row *row)
{
    static const uint32_t emptied[] = { [PLIM_EMPTY_AFTER_STEPS] = EMPTIED_EACH_STEP,
                                        [PLIM_EMPTY_AT_EVENT] = EMPTIED_ONCE,
                                        [PLIM_EMPTY_NEVER] = 0 };
    const uint32_t program = emptied[row->empty_cache];
    uint32_t given = row->conf.settings.given;
    if (row->is_recorded || given == 0) {
        return program + (row->is_recorded ? AS_RECORDED : DEFAULT);
    }
    if (given == (uint32_t)1 << PLIM_KEY_EXPANDABLE_SEGMENTS) {
        return program + EXPANDABLE;
    }
    uint32_t count = 0;
    for (; given != 0; given &= given - 1) {
        count++;
    }
    return program + SETTINGS + count;
}

plim_candidate plim_candidate_begin(const plim_candidates *candidates, size_t row, uint64_t floor)
{
    const plim_tune_row *const it = &candidates->rows.items[row];
    plim_candidate state = { .bisect = plim_bisect_start(floor),
                             .plainness = plainness_of(it),
                             .is_sure = is_sure(&it->conf),
                             .limit = PLIM_STEPS_UNKNOWN };
    if (it->conf.policy != PLIM_POLICY_TORCH || it->is_too_new) {
        state.class = PLIM_ROW_SHOWN;
    } else if (it->empty_cache != PLIM_EMPTY_NEVER) {
        state.class = PLIM_ROW_PROGRAM;
    }
    const bool is_default =
        state.class == PLIM_ROW_SETTINGS && plim_candidates_changes(candidates, it) == 0;
    state.wants_exact =
        it->is_recorded || it->is_given || is_default || it->conf.policy != PLIM_POLICY_TORCH;
    return state;
}

/* --- what rows cost --- */

uint64_t plim_field_cost(const plim_tune_field *field, size_t row, uint64_t needed_steps)
{
    const plim_run_result *const result = &field->rows[row].result;
    /* What a run reserved that failed is no more than what it would need. */
    return needed_steps +
           (result->survives ? plim_capacity_steps(result->peak_reserved_bytes) : needed_steps);
}

uint64_t plim_field_estimate(const plim_tune_field *field, size_t row)
{
    const plim_bisect *const bisect = &field->states[row].bisect;
    uint64_t steps = bisect->high;
    if (steps == PLIM_STEPS_UNKNOWN) {
        steps = bisect->hint > bisect->low ? bisect->hint : bisect->low + 1;
    }
    return plim_field_cost(field, row, steps < PLIM_STEPS_MAX ? steps : PLIM_STEPS_MAX);
}

static uint64_t with_tie(uint64_t cost)
{
    return cost + cost * PLIM_TIE_PERCENT / 100;
}

/* True if a row may win, as far as is known. */
static bool is_known(const plim_tune_field *field, size_t row)
{
    const plim_candidate *const it = &field->states[row];
    return it->is_tried && it->bisect.high != PLIM_STEPS_UNKNOWN &&
           (it->is_done ? !it->is_bound : field->takes_open);
}

/* Drivers' calls decide only where they take another time, not a little more or less of it. */
static bool is_quicker(const plim_tune_row *a, const plim_tune_row *b)
{
    return a->result.driver_time_us * (100 + PLIM_TIE_PERCENT) < b->result.driver_time_us * 100;
}

/* True if row `a` of a tie goes before row `b`. */
static bool is_before(const plim_tune_field *field, size_t a, size_t b)
{
    const plim_candidate *const first = &field->states[a];
    const plim_candidate *const second = &field->states[b];
    if (first->plainness != second->plainness) {
        return first->plainness < second->plainness;
    }
    const uint64_t first_cost = plim_field_estimate(field, a);
    const uint64_t second_cost = plim_field_estimate(field, b);
    if (first_cost != second_cost) {
        return first_cost < second_cost;
    }
    const plim_tune_row *const rows = field->rows;
    if (is_quicker(&rows[a], &rows[b]) != is_quicker(&rows[b], &rows[a])) {
        return is_quicker(&rows[a], &rows[b]);
    }
    const int order = strcmp(rows[a].conf.text, rows[b].conf.text);
    return order != 0 ? order < 0 : a < b;
}

/* The row that costs least of those that count; survivors go first. SIZE_MAX: no row. */
static size_t cheapest_of(const plim_tune_field *field, plim_tune_row_class last, uint32_t least)
{
    size_t cheapest = SIZE_MAX;
    for (size_t i = 0; i < field->count; i++) {
        const plim_candidate *const it = &field->states[i];
        if (it->class > last || it->plainness < least || !is_known(field, i)) {
            continue;
        }
        const bool survives = field->rows[i].result.survives;
        const bool is_first = cheapest == SIZE_MAX;
        const bool is_like = !is_first && survives == field->rows[cheapest].result.survives;
        const bool is_less =
            is_like ? plim_field_estimate(field, i) < plim_field_estimate(field, cheapest)
                    : survives;
        cheapest = is_first || is_less ? i : cheapest;
    }
    return cheapest;
}

size_t plim_field_best(const plim_tune_field *field, plim_tune_row_class last, uint32_t least)
{
    const size_t cheapest = cheapest_of(field, last, least);
    size_t best = cheapest;
    for (size_t i = 0; i < field->count && best != SIZE_MAX; i++) {
        const plim_candidate *const it = &field->states[i];
        if (it->class <= last && it->plainness >= least && is_known(field, i) &&
            field->rows[i].result.survives == field->rows[cheapest].result.survives &&
            plim_field_estimate(field, i) <= with_tie(plim_field_estimate(field, cheapest)) &&
            is_before(field, i, best)) {
            best = i;
        }
    }
    return best;
}

uint64_t plim_field_limit(const plim_tune_field *field, size_t row)
{
    const plim_candidate *const it = &field->states[row];
    const size_t incumbent = plim_field_best(field, PLIM_ROW_PROGRAM, 0);
    if (it->wants_exact || incumbent == SIZE_MAX) {
        return PLIM_STEPS_UNKNOWN;
    }
    const bool survives = field->rows[row].result.survives;
    if (survives != field->rows[incumbent].result.survives) {
        return survives ? PLIM_STEPS_UNKNOWN : it->bisect.low;
    }
    uint64_t most = plim_field_estimate(field, incumbent);
    if (it->plainness < field->states[incumbent].plainness) {
        const size_t cheapest = cheapest_of(field, PLIM_ROW_PROGRAM, 0);
        most = with_tie(plim_field_estimate(field, cheapest));
    } else if (it->plainness > field->states[incumbent].plainness) {
        most = most * 100 / (100 + PLIM_TIE_PERCENT); /* more, and the incumbent is in its tie */
    }
    const uint64_t reserved = plim_field_cost(field, row, 0);
    const uint64_t limit = survives ? most - (reserved < most ? reserved : most) : most / 2;
    return limit > it->bisect.low ? limit : it->bisect.low;
}
