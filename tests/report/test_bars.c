/*
 * test_bars.c - bars and sparklines show what they are given, to an eighth.
 */
#include "harness.h"

#include "report/term/bars.h"
#include "report/term/chart.h"

#define BYTES_MAX ((size_t)1 << 20)

static const struct {
    const char *name;
    uint64_t value;
    uint64_t total;
    const char *solid; /* four columns */
    const char *shade;
} cases[] = {
    { "nothing is blank", 0, 100, "    ", "    " },
    { "a little is a sliver", 1, 1000000, "▏   ", "░   " },
    { "a half is a half", 50, 100, "██  ", "░░  " },
    { "eighths are told apart", 35, 100, "█▍  ", "░   " },
    { "all is full", 100, 100, "████", "░░░░" },
    { "more than all is full", 101, 100, "████", "░░░░" },
    { "of nothing is nothing", 5, 0, "    ", "    " },
    { "the largest sizes do not wrap", UINT64_MAX / 2, UINT64_MAX, "██  ", "░░  " },
};

static void bars_are_true_to_an_eighth(void)
{
    const plim_style style = { .utf8 = true };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        for (int shade = 0; shade < 2; shade++) {
            plim_text out;
            plim_text_init(&out, NULL, BYTES_MAX);
            plim_term_line line = plim_term_line_begin(&out, &style, 0);
            plim_bar_add(&line, shade != 0 ? PLIM_TERM_SHADE : PLIM_TERM_SOLID, cases[i].value,
                         cases[i].total, 4);
            T_EQ_U64(line.used, 4);
            T_EQ_STR(plim_text_string(&out), shade != 0 ? cases[i].shade : cases[i].solid);
            plim_text_deinit(&out);
        }
    }
}

static void ascii_bars_have_no_bytes_above_127(void)
{
    const plim_style style = { 0 };
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    for (uint64_t value = 0; value <= 64; value++) {
        plim_term_line line = plim_term_line_begin(&out, &style, 0);
        plim_bar_add(&line, PLIM_TERM_SOLID, value, 64, 8);
        plim_bar_add(&line, PLIM_TERM_SHADE, value, 64, 8);
        plim_term_line_end(&line);
    }
    for (size_t i = 0; i < out.length; i++) {
        T_TRUE((unsigned char)out.data[i] < 0x80);
    }
    plim_text_deinit(&out);
}

/* --- charts --- */

/* Four runs, each where it ends; and four points of a range. */
static const plim_chart_point runs[] = {
    { 0.25, 0, 0 }, { 0.5, 50, 100 }, { 0.75, 100, 100 }, { 1, 25, 100 }
};
static const plim_chart_point range[] = {
    { 0, 0, 0 }, { 0.25, 50, 100 }, { 0.5, 100, 100 }, { 0.75, 25, 100 }
};

/* The rows of a chart, its axes cut off, in so many columns. */
static void draw(plim_text *out, const plim_chart *chart, uint32_t columns)
{
    const plim_style style = { .utf8 = true, .width = columns + 11 };
    plim_text_init(out, NULL, BYTES_MAX);
    plim_chart_draw(out, &style, chart);
    T_EQ_U64(out->status, PLIM_OK);
}

static plim_chart chart_of(const plim_chart_point *of, size_t count)
{
    return (plim_chart){ .points = of,
                         .point_count = count,
                         .top_bytes = 100,
                         .top = "",
                         .foot = "",
                         .from = "",
                         .to = "" };
}

static const struct {
    const char *name;
    uint32_t columns;
    bool is_range;
    const char *expected;
} charts[] = {
    { "reserved stands on allocated", 4, false,
      "          │ ░█░\n"
      "          │ ░█░\n"
      "          │ ██░\n"
      "          │ ███\n"
      "          └────\n" },
    { "few points are repeated", 8, false,
      "          │  ░░██░░\n"
      "          │  ░░██░░\n"
      "          │  ████░░\n"
      "          │  ██████\n"
      "          └────────\n" },
    { "columns keep the largest of their points", 2, false,
      "          │░█\n"
      "          │░█\n"
      "          │██\n"
      "          │██\n"
      "          └──\n" },
    { "of a range they keep the least and the largest", 2, true,
      "          │░░\n"
      "          │░░\n"
      "          │░░\n"
      "          │▁█\n"
      "          └──\n" },
};

static void charts_keep_what_stands_out(void)
{
    for (size_t i = 0; i < T_COUNT(charts); i++) {
        plim_text out;
        plim_chart chart = chart_of(charts[i].is_range ? range : runs, T_COUNT(runs));
        chart.is_range = charts[i].is_range;
        T_CASE("%s", charts[i].name);
        draw(&out, &chart, charts[i].columns);
        T_EQ_STR(plim_text_string(&out), charts[i].expected);
        plim_text_deinit(&out);
    }
}

static void marks_stand_below_their_columns(void)
{
    static const plim_chart_mark marks[] = { { 0.75, "peak", false }, { 1, "failure", true } };
    plim_text out;
    plim_chart chart = chart_of(runs, T_COUNT(runs));
    chart.title = "Over time";
    chart.low_name = "allocated";
    chart.high_name = "reserved";
    chart.marks = marks;
    chart.mark_count = T_COUNT(marks);
    draw(&out, &chart, 60);
    T_NOT_NULL(
        strstr(plim_text_string(&out), "Over time  █ allocated  ░ reserved  ▲ peak  x failure\n"));
    T_NOT_NULL(strstr(plim_text_string(&out), "▲              x\n"));
    plim_text_deinit(&out);
}

T_MAIN(T_TEST(bars_are_true_to_an_eighth), T_TEST(ascii_bars_have_no_bytes_above_127),
       T_TEST(charts_keep_what_stands_out), T_TEST(marks_stand_below_their_columns))
