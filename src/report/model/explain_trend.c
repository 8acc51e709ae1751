/*
 * explain_trend.c - how memory moved over the steps of a run: in words, in figures, in a chart.
 */
#include "report/model/explain_parts.h"

#include <math.h>
#include <string.h>

#define OTHERS_SHOWN 8u
#define FACT_COLUMNS 9u /* "grows by" and what stands after it */

/* The least height of a chart, as a share of its top: noise on a level line stays small. */
#define CHART_WINDOW_MIN 0.05

static plim_tone tone_of(plim_trend_class kind)
{
    return kind == PLIM_TREND_LEAK        ? PLIM_TONE_BAD
           : kind == PLIM_TREND_STAIRCASE ? PLIM_TONE_WARN
                                          : PLIM_TONE_PLAIN;
}

static bool does_grow(const plim_series *series)
{
    return series->trend.kind == PLIM_TREND_LEAK || series->trend.kind == PLIM_TREND_STAIRCASE;
}

/* ---- chart ---------------------------------------------------------------------------------- */

/* Each point by its step, not by its place: runs that log unevenly are drawn to scale. */
static size_t fill_points(const plim_series *series, plim_chart_point *points)
{
    const plim_trend *trend = &series->trend;
    const double span = trend->last_step - trend->first_step;
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++) {
        const double bytes = series->bytes[i];
        if (isfinite(series->steps[i]) && isfinite(bytes)) {
            const double x = span > 0 ? (series->steps[i] - trend->first_step) / span : 0;
            points[count++] = (plim_chart_point){ x, bytes, bytes };
        }
    }
    return count;
}

static void say_chart(plim_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    if (series->count < 2 || !(trend->max_bytes > 0)) {
        return;
    }
    plim_chart_point *points = plim_page_alloc(page, series->count, sizeof points[0]);
    if (points == NULL) {
        return;
    }
    const plim_explain_axis axis = plim_explain_axis_of(series);
    const double foot =
        fmin(trend->min_bytes, trend->max_bytes - CHART_WINDOW_MIN * fabs(trend->max_bytes));
    plim_page_gap(page);
    *plim_page_chart(page, "over_steps") = (plim_chart){
        .is_range = true,
        .points = points,
        .point_count = fill_points(series, points),
        .foot_bytes = foot,
        .top_bytes = trend->max_bytes,
        .top = plim_page_text(page, "{}",
                              PLIM_FACTS(plim_explain_amount(series, NULL, trend->max_bytes))),
        .foot = plim_page_text(page, "{}", PLIM_FACTS(plim_explain_amount(series, NULL, foot))),
        .from = plim_page_text(
            page, " {} {} ",
            PLIM_FACTS(plim_words(axis.step), plim_explain_steps(&axis, NULL, trend->first_step))),
        .to = plim_page_text(page, " {}",
                             PLIM_FACTS(plim_explain_steps(&axis, NULL, trend->last_step))),
    };
}

/* ---- figures -------------------------------------------------------------------------------- */

static void say_head(plim_page *page, const plim_series *series)
{
    plim_page_say(page, "trend", tone_of(series->trend.kind), "{} {}",
                  PLIM_FACTS(plim_toned(PLIM_TONE_HEADING, plim_words(series->name)),
                             plim_words(plim_explain_trend_words(series->trend.kind))))
        ->layout = PLIM_LAYOUT_CUT;
    plim_page_say(page, "points", PLIM_TONE_FAINT, "{} · lines {} to {}",
                  PLIM_FACTS(plim_count_of("points", series->seen, "point"),
                             plim_count("first_line", series->first_line),
                             plim_count("last_line", series->last_line)));
    if (series->trend.kind != PLIM_TREND_TOO_SHORT) {
        plim_page_more(page, " · {}",
                       PLIM_FACTS(plim_words(plim_certainty_name(
                           plim_certainty_of(series->trend.confidence, false)))));
    }
}

/* "  grows by  12.4 MiB per step" */
static void say_fact(plim_page *page, const char *name, const char *text, const plim_fact *facts)
{
    plim_item *item = plim_page_note(page, name, PLIM_TONE_PLAIN, text, facts);
    item->lead = name;
    item->hang = FACT_COLUMNS;
}

static void say_growth(plim_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    const plim_explain_axis axis = plim_explain_axis_of(series);
    const plim_fact step = plim_words(axis.step);
    if (does_grow(series)) {
        const plim_fact low =
            plim_explain_amount(series, "growth_low", trend->growth_low_bytes_per_step * axis.unit);
        const plim_fact high = plim_explain_amount(series, "growth_high",
                                                   trend->growth_high_bytes_per_step * axis.unit);
        say_fact(page, "grows by", "{} per {}",
                 PLIM_FACTS(plim_explain_amount(series, "growth_per_step",
                                                trend->growth_bytes_per_step * axis.unit),
                            step));
        if (strcmp(plim_page_text(page, "{}", PLIM_FACTS(low)),
                   plim_page_text(page, "{}", PLIM_FACTS(high))) != 0) { /* three digits each */
            plim_page_more(page, " (95% sure of {} to {})", PLIM_FACTS(low, high));
        }
    }
    if (trend->stair_count > 0) {
        say_fact(page, "stairs", "{}, of {} each, every {} {}",
                 PLIM_FACTS(plim_count_of("stair_count", trend->stair_count, "stair"),
                            plim_explain_amount(series, "stair", trend->stair_bytes),
                            plim_explain_steps(&axis, "stair_period", trend->stair_period_steps),
                            plim_words(axis.steps)));
    }
    const bool has_onset = trend->onset_step > trend->first_step; /* else there was no before */
    if (has_onset && (trend->kind == PLIM_TREND_LEAK || trend->kind == PLIM_TREND_RAMP)) {
        say_fact(page, trend->kind == PLIM_TREND_LEAK ? "since" : "settled", "{} {}",
                 PLIM_FACTS(step, plim_explain_steps(&axis, "onset_step", trend->onset_step)));
    }
}

/* Where it ends: at which step memory is full. */
static void say_end(plim_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    const plim_explain_axis axis = plim_explain_axis_of(series);
    const plim_fact step = plim_words(axis.step);
    const plim_fact capacity = plim_explain_amount(series, "capacity", series->capacity_bytes);
    if (trend->has_exhaustion && trend->exhaustion_step > trend->last_step) {
        say_fact(
            page, "full at", "{} {}: {}, in {} {}",
            PLIM_FACTS(step,
                       plim_explain_steps(&axis, "exhaustion_step", ceil(trend->exhaustion_step)),
                       capacity,
                       plim_explain_steps(&axis, "steps_left",
                                          ceil(trend->exhaustion_step - trend->last_step)),
                       plim_words(axis.steps)));
    } else if (trend->has_exhaustion) {
        say_fact(page, "full at", "about now: {}", PLIM_FACTS(capacity));
    } else if (trend->kind == PLIM_TREND_LEAK && !(series->capacity_bytes > 0)) {
        say_fact(page, "full at", "not known: --capacity=SIZE says how much the device has", NULL);
    }
}

static void say_figures(plim_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    const plim_fact lowest = plim_explain_amount(series, "min", trend->min_bytes);
    const plim_fact highest = plim_explain_amount(series, "max", trend->max_bytes);
    plim_page_gap(page);
    say_growth(page, series);
    if (trend->kind == PLIM_TREND_TOO_SHORT) {
        say_fact(page, "level", "lowest {}, highest {}", PLIM_FACTS(lowest, highest));
    } else {
        say_fact(page, "level", "{} at first, {} at last; lowest {}, highest {}; noise {}",
                 PLIM_FACTS(plim_explain_amount(series, "first", trend->first_bytes),
                            plim_explain_amount(series, "last", trend->last_bytes), lowest, highest,
                            plim_percent("noise", trend->noise_share)));
    }
    say_end(page, series);
}

/* ---- the page ------------------------------------------------------------------------------- */

static void say_full(const plim_explaining *self, size_t index)
{
    const plim_series *series = self->file->series[index];
    say_head(self->page, series);
    say_chart(self->page, series);
    say_figures(self->page, series);
    if (index == 0) {
        plim_explained_fixes(self, self->file->leak_advice, self->file->leak_advice_count);
    }
}

static void add_brief(plim_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    const char *growth = "";
    if (does_grow(series)) {
        const plim_explain_axis axis = plim_explain_axis_of(series);
        growth = plim_page_text(
            page, " by {} per {}",
            PLIM_FACTS(plim_explain_amount(series, NULL, trend->growth_bytes_per_step * axis.unit),
                       plim_words(axis.step)));
    }
    const char *range =
        plim_page_text(page, ": {} to {}, {}",
                       PLIM_FACTS(plim_explain_amount(series, NULL, trend->min_bytes),
                                  plim_explain_amount(series, NULL, trend->max_bytes),
                                  plim_count_of(NULL, series->seen, "point")));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(series->name));
    plim_page_cell_text(page, PLIM_TONE_PLAIN, "{}{}{}",
                        PLIM_FACTS(plim_toned(tone_of(trend->kind),
                                              plim_words(plim_explain_trend_words(trend->kind))),
                                   plim_words(growth),
                                   plim_toned(PLIM_TONE_FAINT, plim_words(range))));
}

/* The series from `first` on, a line each. */
static void say_others(const plim_explaining *self, size_t first)
{
    static const plim_column columns[] = { { "series", PLIM_ALIGN_LEFT, 0, 0 },
                                           { "trend", PLIM_ALIGN_REST, 0, 0 } };
    const plim_explained *file = self->file;
    const size_t left = file->series_count - first;
    const size_t shown = left > OTHERS_SHOWN + 1 ? OTHERS_SHOWN : left; /* a rest of one as well */
    plim_page_heading(self->page, "Other series", NULL);
    plim_page_table(self->page, "series", columns, sizeof columns / sizeof columns[0])
        ->table.hides_titles = true;
    for (size_t i = first; i < first + shown; i++) {
        add_brief(self->page, file->series[i]);
    }
    if (shown < left) {
        const bool grows = does_grow(file->series[first + shown]); /* they are sorted by that */
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more{}: --all shows them)",
                       PLIM_FACTS(plim_count("series_left_out", left - shown),
                                  plim_words(grows ? "" : ", none of which grows")));
    }
}

void plim_explained_trend(const plim_explaining *self)
{
    const size_t count = self->file->series_count;
    const size_t full = self->view->all || count == 0 ? count : 1;
    for (size_t i = 0; i < full; i++) {
        if (i > 0) {
            plim_page_gap(self->page);
        }
        say_full(self, i);
    }
    if (full < count) {
        say_others(self, full);
    }
}
