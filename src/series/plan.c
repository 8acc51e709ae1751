/*
 * plan.c - making plans and doing them.
 */
#include "series/plan.h"

#include <math.h>

plim_series_plan plim_series_plan_none(void)
{
    return (plim_series_plan){ .step = PLIM_SERIES_NO_NUMBER,
                               .step_total = PLIM_SERIES_NO_NUMBER,
                               .epoch = PLIM_SERIES_NO_NUMBER,
                               .is_repeatable = true };
}

void plim_series_plan_pin(plim_series_plan *plan, size_t number)
{
    if (plan->pin_count == PLIM_SERIES_PINS_MAX) {
        plan->is_repeatable = false;
        return;
    }
    plan->pins[plan->pin_count++] = (uint16_t)number;
}

void plim_series_plan_add(plim_series_plan *plan, const plim_series_figure *figure)
{
    if (plan->figure_count == PLIM_SERIES_FIGURES_MAX) {
        return;
    }
    for (uint32_t i = 0; i < plan->figure_count; i++) {
        if (plan->figures[i].track == figure->track) {
            return;
        }
    }
    plan->figures[plan->figure_count++] = *figure;
}

static bool read_step(const plim_series_plan *plan, const char *line,
                      const plim_series_span *numbers, double *ret)
{
    if (!plim_series_number_read(line, numbers[plan->step], ret)) {
        return false;
    }
    double epoch = 0;
    double total = 0;
    if (plan->epoch != PLIM_SERIES_NO_NUMBER &&
        plim_series_number_read(line, numbers[plan->epoch], &epoch) &&
        plim_series_number_read(line, numbers[plan->step_total], &total)) {
        *ret += epoch * total;
    }
    return true;
}

bool plim_series_plan_do(const plim_series_plan *plan, plim_series_tracks *tracks,
                         plim_series_clock *clock, const char *line,
                         const plim_series_span *numbers, uint64_t line_number)
{
    plim_series_place place = { .line = line_number, .step_name = plan->step_name, .step = NAN };
    bool is_wanted = plan->figure_count == 0;
    for (uint32_t i = 0; i < plan->figure_count; i++) {
        is_wanted = is_wanted || plim_series_track_wants(&tracks->items[plan->figures[i].track]);
    }
    if (is_wanted && plan->step_name == NULL) {
        plim_series_clock_read(clock, &plan->stamp, line, numbers);
    }
    if (plan->step_name != NULL && is_wanted && !read_step(plan, line, numbers, &place.step)) {
        place.step_name = NULL;
        place.step = NAN;
    }
    if (plan->step_name == NULL && isfinite(clock->now)) {
        place.step_name = plim_series_second;
        place.step = clock->now;
    }
    for (uint32_t i = 0; i < plan->figure_count; i++) {
        const plim_series_figure figure = plan->figures[i];
        plim_series_track *const track = &tracks->items[figure.track];
        /* A total that moves shows it in some points of many. */
        if (figure.total != PLIM_SERIES_NO_NUMBER && (track->seen < 16 || track->seen % 16 == 0)) {
            plim_series_track_read_total(track, line, numbers[figure.total], figure.total_log2);
        }
        if (!plim_series_track_read(tracks, track, &place, line, numbers[figure.number],
                                    figure.log2)) {
            return false;
        }
    }
    return true;
}
