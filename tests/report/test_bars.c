/*
 * test_bars.c - bars and sparklines show what they are given, to an eighth.
 */
#include "harness.h"

#include "report/bars.h"
#include "report/sparkline.h"

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
            plim_line line = plim_line_begin(&out, &style, 0);
            plim_bar_add(&line, shade != 0 ? PLIM_BAR_SHADE : PLIM_BAR_SOLID, cases[i].value,
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
        plim_line line = plim_line_begin(&out, &style, 0);
        plim_bar_add(&line, PLIM_BAR_SOLID, value, 64, 8);
        plim_bar_add(&line, PLIM_BAR_SHADE, value, 64, 8);
        plim_line_end(&line);
    }
    for (size_t i = 0; i < out.length; i++) {
        T_TRUE((unsigned char)out.data[i] < 0x80);
    }
    plim_text_deinit(&out);
}

/* --- sparklines --- */

static const plim_timeline_bin bins[] = {
    { 0, 0, 0 }, { 10, 50, 100 }, { 20, 100, 100 }, { 30, 25, 100 }
};

static void columns_keep_the_largest_of_their_bins(void)
{
    plim_spark spark;
    plim_spark_fill(&spark, bins, T_COUNT(bins), 2);
    T_EQ_U64(spark.columns, 2);
    T_EQ_U64(spark.in_use_bytes[0], 50);
    T_EQ_U64(spark.in_use_bytes[1], 100);
    T_EQ_U64(spark.bytes_max, 100);
}

static void few_bins_are_repeated(void)
{
    plim_spark spark;
    plim_spark_fill(&spark, bins, T_COUNT(bins), 8);
    for (uint32_t x = 0; x < 8; x++) {
        T_EQ_U64(spark.in_use_bytes[x], bins[x / 2].allocated_bytes_max);
    }
}

static void an_event_is_found_in_its_column(void)
{
    static const struct {
        uint64_t event;
        uint32_t columns;
        uint32_t column;
    } places[] = {
        { 0, 4, 0 },  { 9, 4, 0 },  { 10, 4, 1 }, { 39, 4, 3 }, { 1000, 4, 3 }, { 19, 2, 0 },
        { 20, 2, 1 }, { 10, 8, 2 }, { 25, 8, 4 }, { 25, 1, 0 }, { 20, 3, 2 },
    };
    for (size_t i = 0; i < T_COUNT(places); i++) {
        plim_spark spark;
        T_CASE("event %" PRIu64 " in %" PRIu32 " columns", places[i].event, places[i].columns);
        plim_spark_fill(&spark, bins, T_COUNT(bins), places[i].columns);
        T_EQ_U64(plim_spark_column(&spark, bins, T_COUNT(bins), places[i].event), places[i].column);
    }
}

static void a_chart_stacks_reserved_on_allocated(void)
{
    const plim_style style = { .utf8 = true };
    plim_spark spark;
    plim_text out;
    plim_text_init(&out, NULL, BYTES_MAX);
    plim_spark_fill(&spark, bins, T_COUNT(bins), 4);
    for (uint32_t row = 2; row > 0; row--) {
        plim_line line = plim_line_begin(&out, &style, 0);
        plim_spark_add_row(&line, &spark, row - 1, 2);
        plim_line_end(&line);
    }
    T_EQ_STR(plim_text_string(&out), " ░█░\n"
                                     " ██▄\n");
    plim_text_deinit(&out);
}

static void no_bins_are_no_chart(void)
{
    plim_spark spark;
    plim_spark_fill(&spark, NULL, 0, 80);
    T_EQ_U64(spark.columns, 0);
    T_EQ_U64(plim_spark_column(&spark, NULL, 0, 5), 0);
}

T_MAIN(T_TEST(bars_are_true_to_an_eighth), T_TEST(ascii_bars_have_no_bytes_above_127),
       T_TEST(columns_keep_the_largest_of_their_bins), T_TEST(few_bins_are_repeated),
       T_TEST(an_event_is_found_in_its_column), T_TEST(a_chart_stacks_reserved_on_allocated),
       T_TEST(no_bins_are_no_chart))
