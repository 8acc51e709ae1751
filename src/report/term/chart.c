/*
 * chart.c - spreading points over columns, and drawing one row of cells at a time.
 */
#include "report/term/chart.h"

#include "base/assert.h"
#include "report/term/bars.h"

#include <math.h>
#include <string.h>

#define COLUMNS_MAX  400u
#define ROWS         4u
#define AXIS_COLUMNS 10u         /* "1023 MiB" and what is around it */
#define SCALE        1000000000u /* the height of a chart */

/* A chart, by column of the page. */
typedef struct plot {
    uint32_t columns;
    uint64_t low[COLUMNS_MAX]; /* 0 … SCALE; never more than high */
    uint64_t high[COLUMNS_MAX];
} plot;

/* A point of a range stands where it is; others for what led up to them. */
static uint32_t column_of(const plim_chart *chart, double x, uint32_t columns)
{
    const double place = fmin(fmax(x, 0), 1) * columns;
    const double column = chart->is_range ? floor(place) : ceil(place - 1e-9) - 1;
    return column < 0 ? 0 : column >= columns ? columns - 1 : (uint32_t)column;
}

/* Above the foot; what lies on it is a line where the chart is of a range, else nothing. */
static uint64_t height_of(const plim_chart *chart, double bytes)
{
    const double span = fmax(chart->top_bytes - chart->foot_bytes, 1);
    const double height = (bytes - chart->foot_bytes) / span * SCALE;
    return height >= 1 ? (uint64_t)fmin(height, SCALE) : chart->is_range || height > 0;
}

/* Each column keeps the extremes of its points. */
static void spread(const plim_chart *chart, uint32_t columns, plot *ret)
{
    bool is_known[COLUMNS_MAX] = { false };
    *ret = (plot){ .columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX };
    for (size_t i = 0; i < chart->point_count; i++) {
        const uint32_t x = column_of(chart, chart->points[i].x, ret->columns);
        const uint64_t low = height_of(chart, chart->points[i].low_bytes);
        const uint64_t high = height_of(chart, chart->points[i].high_bytes);
        const bool is_new = chart->is_range ? low < ret->low[x] : low > ret->low[x];
        ret->low[x] = is_new || !is_known[x] ? low : ret->low[x];
        ret->high[x] = high > ret->high[x] ? high : ret->high[x];
        is_known[x] = true;
    }
    for (uint32_t i = 1; i < ret->columns; i++) { /* one without is as the point it is part of */
        const uint32_t x = chart->is_range ? i : ret->columns - 1 - i;
        const uint32_t from = chart->is_range ? x - 1 : x + 1;
        if (!is_known[x]) {
            ret->low[x] = ret->low[from];
            ret->high[x] = ret->high[from];
        }
    }
    for (uint32_t x = 0; x < ret->columns; x++) {
        ret->high[x] = ret->high[x] > ret->low[x] ? ret->high[x] : ret->low[x];
    }
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* The number of a cell's eighths that are filled, from its foot. */
static uint32_t eighths_in_row(uint64_t height, uint32_t row)
{
    const uint32_t filled = plim_bar_steps(height, SCALE, ROWS * 8);
    const uint32_t below = row * 8;
    return filled <= below ? 0 : filled - below >= 8 ? 8 : filled - below;
}

static void add_row(plim_term_line *line, const plot *of, uint32_t row)
{
    const plim_glyphs *glyphs = plim_style_glyphs(line->style);
    const uint32_t base = line->used;
    for (uint32_t x = 0; x < of->columns;) {
        const uint32_t low = eighths_in_row(of->low[x], row);
        const uint32_t high = eighths_in_row(of->high[x], row);
        /* A shaded cell cannot be part full: half a cell decides. */
        const bool is_shade = low == 0 && high >= 4;
        /* Equal neighbours go out as one run: fewer escape sequences. */
        uint32_t run = 1;
        while (x + run < of->columns && eighths_in_row(of->low[x + run], row) == low &&
               eighths_in_row(of->high[x + run], row) == high) {
            run++;
        }
        if (is_shade || low > 0) { /* blanks only where something follows */
            plim_term_line_to(line, base + x);
            plim_term_line_repeat(line, is_shade ? PLIM_TONE_UNUSED : PLIM_TONE_IN_USE,
                                  is_shade ? glyphs->shade : glyphs->levels[low], run);
        }
        x += run;
    }
}

/* ---- around them ---------------------------------------------------------------------------- */

static void draw_legend(plim_text *out, const plim_style *style, const plim_chart *chart)
{
    const plim_glyphs *glyphs = plim_style_glyphs(style);
    plim_term_line line = plim_term_line_begin(out, style, 0);
    plim_term_line_add(&line, PLIM_TONE_HEADING, chart->title);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_term_line_add(&line, PLIM_TONE_IN_USE, glyphs->levels[8]);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
    plim_term_line_add(&line, PLIM_TONE_FAINT, chart->low_name);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, "  ");
    plim_term_line_add(&line, PLIM_TONE_UNUSED, glyphs->shade);
    plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
    plim_term_line_add(&line, PLIM_TONE_FAINT, chart->high_name);
    bool is_said[2] = { false, false };
    for (size_t i = 0; i < chart->mark_count; i++) {
        const plim_chart_mark *mark = &chart->marks[i];
        if (!is_said[mark->is_failure]) {
            plim_term_line_add(&line, PLIM_TONE_PLAIN, "  ");
            plim_term_line_add(&line, mark->is_failure ? PLIM_TONE_BAD : PLIM_TONE_HEADING,
                               mark->is_failure ? "x" : glyphs->marker);
            plim_term_line_add(&line, PLIM_TONE_PLAIN, " ");
            plim_term_line_add(&line, PLIM_TONE_FAINT, mark->name);
            is_said[mark->is_failure] = true;
        }
    }
    plim_term_line_end(&line);
}

static plim_term_line begin_row(plim_text *out, const plim_style *style, const char *label,
                                const char *axis)
{
    plim_term_line line = plim_term_line_begin(out, style, 0);
    plim_term_line_add_cell(&line, PLIM_TONE_FAINT, label, AXIS_COLUMNS - 1, PLIM_ALIGN_RIGHT);
    plim_term_line_to(&line, AXIS_COLUMNS);
    plim_term_line_add(&line, PLIM_TONE_FAINT, axis);
    return line;
}

static void draw_axis(plim_text *out, const plim_style *style, const plim_chart *chart)
{
    const plim_glyphs *glyphs = plim_style_glyphs(style);
    plim_term_line line = begin_row(out, style, chart->foot, glyphs->corner);
    plim_term_line_add(&line, PLIM_TONE_FAINT, chart->from);
    const uint32_t left = plim_term_line_left(&line);
    const uint32_t to_columns = plim_style_columns(style, chart->to);
    plim_term_line_repeat(&line, PLIM_TONE_FAINT, glyphs->rule,
                          left > to_columns ? left - to_columns : 0);
    plim_term_line_add(&line, PLIM_TONE_FAINT, chart->to);
    plim_term_line_end(&line);
}

/* One line below the axis: moments, of which failures win. */
static void draw_marks(plim_text *out, const plim_style *style, const plim_chart *chart,
                       uint32_t columns)
{
    const char *of[COLUMNS_MAX] = { NULL };
    const char *marker = plim_style_glyphs(style)->marker;
    for (size_t i = 0; i < chart->mark_count; i++) {
        const uint32_t x = column_of(chart, chart->marks[i].x, columns);
        of[x] = chart->marks[i].is_failure ? "x" : of[x] == NULL ? marker : of[x];
    }
    plim_term_line line = plim_term_line_begin(out, style, 0);
    for (uint32_t x = 0; x < columns; x++) {
        if (of[x] != NULL) {
            plim_term_line_to(&line, AXIS_COLUMNS + 1 + x);
            plim_term_line_add(&line, of[x] == marker ? PLIM_TONE_HEADING : PLIM_TONE_BAD, of[x]);
        }
    }
    plim_term_line_end(&line);
}

void plim_chart_draw(plim_text *out, const plim_style *style, const plim_chart *chart)
{
    plot drawn;
    spread(chart, plim_style_width(style) - AXIS_COLUMNS - 1, &drawn);
    if (chart->title != NULL) {
        draw_legend(out, style, chart);
    }
    for (uint32_t row = ROWS; row > 0; row--) {
        plim_term_line line =
            begin_row(out, style, row == ROWS ? chart->top : "", plim_style_glyphs(style)->axis);
        add_row(&line, &drawn, row - 1);
        plim_term_line_end(&line);
    }
    draw_axis(out, style, chart);
    if (chart->title != NULL) {
        draw_marks(out, style, chart, drawn.columns);
    }
}
