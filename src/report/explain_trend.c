/*
 * explain_trend.c - how memory moved over the steps of a run: in words, in figures, in a chart.
 */
#include "base/assert.h"
#include "base/size.h"
#include "report/counted.h"
#include "report/explain_page.h"
#include "report/explain_words.h"
#include "report/sparkline.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OTHERS_SHOWN 8u
#define CHART_ROWS   4u
#define AXIS_COLUMNS 10u /* "1023 MiB" and what is around it */
#define FACT_COLUMNS 10u /* "grows by" and what is behind it */

/* The least height of a chart, as a share of its top: noise on a level line stays small. */
#define CHART_WINDOW_MIN 0.05

/* ---- chart ---------------------------------------------------------------------------------- */

typedef struct series_chart {
    plim_spark spark; /* what was lowest and highest in each column, above the foot */
    double foot_bytes;
    double top_bytes;
} series_chart;

static bool is_drawable(const plim_series *series, size_t i)
{
    return isfinite(series->steps[i]) && isfinite(series->bytes[i]);
}

/* By its step, not by its place: runs that log unevenly are drawn to scale. */
static uint32_t column_of(const plim_series *series, size_t i, uint32_t columns)
{
    const plim_trend *trend = &series->trend;
    const double span = trend->last_step - trend->first_step;
    const double share = span > 0 ? (series->steps[i] - trend->first_step) / span : 0;
    PLIM_ASSERT(columns > 0);
    const double column = floor(fmin(fmax(share, 0), 1) * columns);
    return column >= columns ? columns - 1 : (uint32_t)column;
}

static void fill_chart(const plim_series *series, uint32_t columns, series_chart *chart)
{
    const plim_trend *trend = &series->trend;
    double low[PLIM_SPARK_COLUMNS_MAX];
    double high[PLIM_SPARK_COLUMNS_MAX];
    columns = columns > PLIM_SPARK_COLUMNS_MAX ? PLIM_SPARK_COLUMNS_MAX : columns;
    *chart = (series_chart){ .top_bytes = trend->max_bytes };
    chart->foot_bytes =
        fmin(trend->min_bytes, trend->max_bytes - CHART_WINDOW_MIN * fabs(trend->max_bytes));
    for (uint32_t x = 0; x < PLIM_SPARK_COLUMNS_MAX; x++) {
        low[x] = INFINITY;
        high[x] = -INFINITY;
    }
    for (size_t i = 0; i < series->count; i++) {
        if (is_drawable(series, i)) {
            const uint32_t x = column_of(series, i, columns);
            low[x] = fmin(low[x], series->bytes[i]);
            high[x] = fmax(high[x], series->bytes[i]);
        }
    }
    chart->spark.columns = columns;
    /* Heights as whole numbers: the chart's own scale, not bytes. */
    const double scale = 1e9 / fmax(chart->top_bytes - chart->foot_bytes, 1);
    chart->spark.bytes_max = 1000000000;
    for (uint32_t x = 0; x < columns; x++) {
        if (high[x] < low[x] && x > 0) { /* no point here: as before */
            low[x] = low[x - 1];
            high[x] = high[x - 1];
        }
        const bool is_known = high[x] >= low[x];
        const double in_use = is_known ? (low[x] - chart->foot_bytes) * scale : 0;
        const double reserved = is_known ? (high[x] - chart->foot_bytes) * scale : 0;
        chart->spark.in_use_bytes[x] = (uint64_t)fmax(in_use, is_known ? 1 : 0);
        chart->spark.reserved_bytes[x] = (uint64_t)fmax(reserved, is_known ? 1 : 0);
    }
}

static void write_axis(const plim_explain_page *page, const plim_series *series,
                       const series_chart *chart)
{
    const plim_glyphs *glyphs = plim_style_glyphs(page->style);
    char from[96];
    char to[64];
    snprintf(from, sizeof from, " %.40s %s ", plim_explain_step(series),
             plim_explain_number(series->trend.first_step).text);
    snprintf(to, sizeof to, " %s", plim_explain_number(series->trend.last_step).text);
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add_cell(&line, PLIM_TONE_FAINT, plim_explain_amount(series, chart->foot_bytes).text,
                       AXIS_COLUMNS - 1, PLIM_ALIGN_RIGHT);
    plim_line_to(&line, AXIS_COLUMNS);
    plim_line_add(&line, PLIM_TONE_FAINT, glyphs->corner);
    plim_line_add(&line, PLIM_TONE_FAINT, from);
    const uint32_t left = plim_line_left(&line);
    const uint32_t to_columns = plim_style_columns(page->style, to);
    plim_line_repeat(&line, PLIM_TONE_FAINT, glyphs->rule,
                     left > to_columns ? left - to_columns : 0);
    plim_line_add(&line, PLIM_TONE_FAINT, to);
    plim_line_end(&line);
}

static void write_chart(const plim_explain_page *page, const plim_series *series)
{
    series_chart chart;
    if (series->count < 2 || !(series->trend.max_bytes > 0)) {
        return;
    }
    fill_chart(series, plim_style_width(page->style) - AXIS_COLUMNS - 1, &chart);
    plim_text_append_char(page->out, '\n');
    for (uint32_t row = CHART_ROWS; row > 0; row--) {
        plim_line line = plim_line_begin(page->out, page->style, 0);
        plim_line_add_cell(&line, PLIM_TONE_FAINT,
                           row == CHART_ROWS ? plim_explain_amount(series, chart.top_bytes).text
                                             : "",
                           AXIS_COLUMNS - 1, PLIM_ALIGN_RIGHT);
        plim_line_to(&line, AXIS_COLUMNS);
        plim_line_add(&line, PLIM_TONE_FAINT, plim_style_glyphs(page->style)->axis);
        plim_spark_add_row(&line, &chart.spark, row - 1, CHART_ROWS);
        plim_line_end(&line);
    }
    write_axis(page, series, &chart);
}

/* ---- figures -------------------------------------------------------------------------------- */

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

static void write_head(const plim_explain_page *page, const plim_series *series)
{
    const char *dot = plim_style_glyphs(page->style)->dot;
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, series->name);
    plim_line_add(&line, tone_of(series->trend.kind), " ");
    plim_line_add(&line, tone_of(series->trend.kind), plim_explain_trend_words(series->trend.kind));
    plim_line_end(&line);

    line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_FAINT, plim_counted(series->seen, "point").text);
    plim_line_format(&line, PLIM_TONE_FAINT, " %s lines %s to %s", dot,
                     plim_format_count(series->first_line).text,
                     plim_format_count(series->last_line).text);
    if (series->trend.kind != PLIM_TREND_TOO_SHORT) {
        plim_line_format(&line, PLIM_TONE_FAINT, " %s %s", dot,
                         plim_certainty_name(plim_certainty_of(series->trend.confidence, false)));
    }
    plim_line_end(&line);
}

/* "  grows by  12.4 MiB per step" */
static void write_fact(const plim_explain_page *page, const char *name, const char *words)
{
    char lead[32];
    snprintf(lead, sizeof lead, "%-*s", (int)FACT_COLUMNS - 1, name);
    plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_PLAIN, lead, words);
}

static void write_growth(const plim_explain_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    const char *step = plim_explain_step(series);
    char words[512];
    if (does_grow(series)) {
        const plim_short_text low = plim_explain_amount(series, trend->growth_low_bytes_per_step);
        const plim_short_text high = plim_explain_amount(series, trend->growth_high_bytes_per_step);
        const plim_short_text growth = plim_explain_amount(series, trend->growth_bytes_per_step);
        if (strcmp(low.text, high.text) == 0) { /* the same three digits */
            snprintf(words, sizeof words, "%s per %.40s", growth.text, step);
        } else {
            snprintf(words, sizeof words, "%s per %.40s (95%% sure of %s to %s)", growth.text, step,
                     low.text, high.text);
        }
        write_fact(page, "grows by", words);
    }
    if (trend->riser_count > 0) {
        snprintf(words, sizeof words, "%s, of %s each, every %s %.40ss",
                 plim_counted(trend->riser_count, "stair").text,
                 plim_explain_amount(series, trend->riser_bytes).text,
                 plim_explain_number(trend->riser_period_steps).text, step);
        write_fact(page, "stairs", words);
    }
    const bool has_onset = trend->onset_step > trend->first_step; /* else there was no before */
    if (has_onset && (trend->kind == PLIM_TREND_LEAK || trend->kind == PLIM_TREND_RAMP)) {
        snprintf(words, sizeof words, "%.40s %s", step,
                 plim_explain_number(trend->onset_step).text);
        write_fact(page, trend->kind == PLIM_TREND_LEAK ? "since" : "settled", words);
    }
}

/* Where it ends: at which step memory is full. */
static void write_end(const plim_explain_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    const double capacity = series->capacity_bytes;
    const char *step = plim_explain_step(series);
    char words[512];
    if (trend->has_exhaustion && trend->exhaustion_step > trend->last_step) {
        snprintf(words, sizeof words, "%.40s %s: %s, in %s %.40ss", step,
                 plim_explain_number(ceil(trend->exhaustion_step)).text,
                 plim_explain_amount(series, capacity).text,
                 plim_explain_number(ceil(trend->exhaustion_step - trend->last_step)).text, step);
        write_fact(page, "full at", words);
    } else if (trend->has_exhaustion) {
        snprintf(words, sizeof words, "about now: %s", plim_explain_amount(series, capacity).text);
        write_fact(page, "full at", words);
    } else if (trend->kind == PLIM_TREND_LEAK && !(capacity > 0)) {
        write_fact(page, "full at", "not known: --capacity=SIZE says how much the device has");
    }
}

static void write_figures(const plim_explain_page *page, const plim_series *series)
{
    const plim_trend *trend = &series->trend;
    char words[512];
    plim_text_append_char(page->out, '\n');
    write_growth(page, series);
    if (trend->kind == PLIM_TREND_TOO_SHORT) {
        snprintf(words, sizeof words, "lowest %s, highest %s",
                 plim_explain_amount(series, trend->min_bytes).text,
                 plim_explain_amount(series, trend->max_bytes).text);
    } else {
        snprintf(words, sizeof words, "%s at first, %s at last; lowest %s, highest %s; noise %s",
                 plim_explain_amount(series, trend->first_bytes).text,
                 plim_explain_amount(series, trend->last_bytes).text,
                 plim_explain_amount(series, trend->min_bytes).text,
                 plim_explain_amount(series, trend->max_bytes).text,
                 plim_format_percent(trend->noise_share).text);
    }
    write_fact(page, "level", words);
    write_end(page, series);
}

/* ---- the page ------------------------------------------------------------------------------- */

static void write_full(const plim_explain_page *page, size_t index)
{
    const plim_series *series = page->file->series[index];
    write_head(page, series);
    write_chart(page, series);
    write_figures(page, series);
    if (index == 0) {
        plim_explain_fixes(page, page->file->leak_advice, page->file->leak_advice_count);
    }
}

static void write_brief(const plim_explain_page *page, const plim_series *series, uint32_t columns)
{
    const plim_trend *trend = &series->trend;
    plim_line line = plim_line_begin(page->out, page->style, 2);
    plim_line_add_cell(&line, PLIM_TONE_PLAIN, series->name, columns, PLIM_ALIGN_LEFT);
    plim_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_line_add(&line, tone_of(trend->kind), plim_explain_trend_words(trend->kind));
    if (does_grow(series)) {
        plim_line_format(&line, PLIM_TONE_PLAIN, " by %s per %.40s",
                         plim_explain_amount(series, trend->growth_bytes_per_step).text,
                         plim_explain_step(series));
    }
    plim_line_format(&line, PLIM_TONE_FAINT, ": %s to %s, %s",
                     plim_explain_amount(series, trend->min_bytes).text,
                     plim_explain_amount(series, trend->max_bytes).text,
                     plim_counted(series->seen, "point").text);
    plim_line_end(&line);
}

/* The series from `first` on, a line each. */
static void write_others(const plim_explain_page *page, size_t first)
{
    const plim_explained *file = page->file;
    const uint32_t most = plim_style_width(page->style) / 3;
    const size_t left = file->series_count - first;
    const size_t shown = left > OTHERS_SHOWN + 1 ? OTHERS_SHOWN : left; /* a rest of one as well */
    uint32_t widest = 0;
    for (size_t i = first; i < first + shown; i++) {
        const uint32_t columns = plim_style_columns(page->style, file->series[i]->name);
        widest = columns > widest ? columns : widest;
    }
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, "Other series");
    plim_line_end(&line);
    for (size_t i = first; i < first + shown; i++) {
        write_brief(page, file->series[i], widest > most ? most : widest);
    }
    if (shown < left) {
        const bool grows = does_grow(file->series[first + shown]); /* they are sorted by that */
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT,
                              "(%zu more%s: --all shows them)", left - shown,
                              grows ? "" : ", none of which grows");
    }
}

void plim_explain_trend(const plim_explain_page *page)
{
    const size_t count = page->file->series_count;
    const size_t full = page->view->all || count == 0 ? count : 1;
    for (size_t i = 0; i < full; i++) {
        if (i > 0) {
            plim_text_append_char(page->out, '\n');
        }
        write_full(page, i);
    }
    if (full < count) {
        write_others(page, full);
    }
}
