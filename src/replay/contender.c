/*
 * contender.c - see contender.h.
 */
#include "replay/contender.h"

#include <string.h>

static bool is_sure(const plim_conf *conf)
{
    const plim_settings *const settings = &conf->settings;
    return conf->policy == PLIM_POLICY_TORCH && !settings->expandable_segments &&
           settings->per_process_memory_fraction >= 1 &&
           settings->garbage_collection_threshold <= 0 && !settings->throw_on_cudamalloc_oom;
}

plim_contender plim_contender_start(const plim_candidates *candidates, size_t row, uint64_t floor)
{
    const plim_tune_row *const it = &candidates->rows.items[row];
    plim_contender contender = { .bisect = plim_bisect_start(floor),
                                 .is_sure = is_sure(&it->conf),
                                 .limit = PLIM_STEPS_UNKNOWN };
    if (it->conf.policy != PLIM_POLICY_TORCH || it->is_too_new ||
        (row == candidates->recorded && row != candidates->baseline)) {
        contender.class = PLIM_ROW_SHOWN;
    } else if (it->empty_cache != PLIM_EMPTY_NEVER) {
        contender.class = PLIM_ROW_PROGRAM;
    }
    const bool is_default =
        contender.class == PLIM_ROW_SETTINGS && plim_candidates_changes(candidates, it) == 0;
    contender.wants_exact =
        it->is_recorded || it->is_given || is_default || it->conf.policy != PLIM_POLICY_TORCH;
    return contender;
}

uint64_t plim_contender_promise(const plim_contender *contender)
{
    const plim_bisect *const bisect = &contender->bisect;
    if (bisect->high != PLIM_STEPS_UNKNOWN) {
        return bisect->high;
    }
    return bisect->hint > bisect->low ? bisect->hint : bisect->low + 1;
}

/* --- ties --- */

static unsigned count_given(const plim_tune_row *row)
{
    unsigned count = 0;
    for (uint32_t given = row->conf.settings.given; given != 0; given &= given - 1) {
        count++;
    }
    return count;
}

bool plim_field_is_before(const plim_field *field, size_t a, size_t b)
{
    const plim_tune_row *const first = &field->rows[a];
    const plim_tune_row *const second = &field->rows[b];
    if (first->result.survives != second->result.survives) {
        return first->result.survives;
    }
    if ((a == field->baseline) != (b == field->baseline)) {
        return a == field->baseline;
    }
    /* What ends early calls the driver less. */
    const double first_us = first->result.survives ? first->result.driver_time_us : 0;
    const double second_us = second->result.survives ? second->result.driver_time_us : 0;
    if (first_us < second_us || first_us > second_us) {
        return first_us < second_us;
    }
    const unsigned first_given = count_given(first);
    const unsigned second_given = count_given(second);
    if (first_given != second_given) {
        return first_given < second_given;
    }
    const int order = strcmp(first->conf.text, second->conf.text);
    return order != 0 ? order < 0 : a < b;
}

/* --- who is ahead --- */

static bool is_known(const plim_field *field, const plim_contender *contender)
{
    return contender->is_done ? !contender->is_bound
                              : field->takes_open && contender->bisect.high != PLIM_STEPS_UNKNOWN;
}

static size_t best_of(const plim_field *field, plim_row_class class)
{
    uint64_t least = PLIM_STEPS_UNKNOWN;
    for (size_t i = 0; i < field->count; i++) {
        const plim_contender *const it = &field->contenders[i];
        if (it->class == class && is_known(field, it) && it->bisect.high < least) {
            least = it->bisect.high;
        }
    }
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < field->count && least != PLIM_STEPS_UNKNOWN; i++) {
        const plim_contender *const it = &field->contenders[i];
        if (it->class == class && is_known(field, it) &&
            it->bisect.high <= least + least / PLIM_TIE &&
            (best == SIZE_MAX || plim_field_is_before(field, i, best))) {
            best = i;
        }
    }
    return best;
}

size_t plim_field_leader(const plim_field *field)
{
    return best_of(field, PLIM_ROW_SETTINGS);
}

static uint64_t less_margin(uint64_t steps)
{
    return steps - steps / PLIM_PROGRAM_MARGIN;
}

size_t plim_field_winner(const plim_field *field)
{
    const size_t settings = best_of(field, PLIM_ROW_SETTINGS);
    const size_t program = best_of(field, PLIM_ROW_PROGRAM);
    if (program != SIZE_MAX && settings != SIZE_MAX) {
        const bool saves =
            field->rows[program].result.survives && !field->rows[settings].result.survives;
        const bool is_less = field->contenders[program].bisect.high <
                             less_margin(field->contenders[settings].bisect.high);
        return saves || is_less ? program : settings;
    }
    if (settings != SIZE_MAX) {
        return settings;
    }
    return field->baseline;
}

uint64_t plim_field_limit(const plim_field *field, size_t row, uint64_t capacity)
{
    const plim_contender *const it = &field->contenders[row];
    const size_t leader = plim_field_leader(field);
    if (it->wants_exact || leader == SIZE_MAX) {
        return PLIM_STEPS_UNKNOWN;
    }
    uint64_t least = field->contenders[leader].bisect.high;
    for (size_t i = 0; i < field->count; i++) {
        const plim_contender *const other = &field->contenders[i];
        if (other->class == PLIM_ROW_SETTINGS && is_known(field, other) &&
            other->bisect.high < least) {
            least = other->bisect.high;
        }
    }
    if (it->class == PLIM_ROW_PROGRAM) {
        const bool can_save = capacity != PLIM_STEPS_UNKNOWN && least > capacity;
        const uint64_t below = less_margin(least) - 1;
        return can_save && capacity > below ? capacity : below;
    }
    return plim_field_is_before(field, row, leader) ? least + least / PLIM_TIE : least - 1;
}
