/*
 * test_trend.c - what a trend says, and what it survives.
 */
#include "harness.h"

#include "trend/made.h"
#include "trend/order.h"

#include <float.h>
#include <math.h>

#define GB 1e9

static t_made made; /* too large for a stack */
static t_made other;

static plim_trend trend_of(const double *steps, const double *bytes, size_t count,
                           double capacity_bytes)
{
    plim_trend trend;
    T_EQ_U64(plim_trend_of(&(plim_trend_input){ steps, bytes, count, capacity_bytes }, NULL, &trend,
                           NULL),
             PLIM_OK);
    return trend;
}

static bool near(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

static bool same(double a, double b)
{
    return !(a < b) && !(a > b);
}

/* --- what it says --- */

static void a_leak_is_said_in_the_units_of_the_log(void)
{
    for (size_t i = 0; i < 1000; i++) {
        other.steps[i] = 10.0 * (double)i + 500;
        other.bytes[i] = 10 * GB + 1e6 * other.steps[i];
    }
    const plim_trend trend = trend_of(other.steps, other.bytes, 1000, 40 * GB);
    T_EQ_STR(plim_trend_name(trend.kind), "leak");
    T_EQ_U64(trend.point_count, 1000);
    T_TRUE(near(trend.first_step, 500, 0));
    T_TRUE(near(trend.last_step, 10490, 0));
    T_TRUE(near(trend.growth_bytes_per_step, 1e6, 1e-6));
    T_TRUE(trend.growth_low_bytes_per_step <= 1e6 && 1e6 <= trend.growth_high_bytes_per_step);
    T_TRUE(near(trend.first_bytes, 10.5 * GB, 1e-6));
    T_TRUE(near(trend.last_bytes, 20.49 * GB, 1e-6));
    T_TRUE(near(trend.min_bytes, 10.5 * GB, 0));
    T_TRUE(near(trend.max_bytes, 20.49 * GB, 0));
    T_TRUE(trend.noise_share < 1e-6);
    T_TRUE(near(trend.onset_step, 500, 1e-6));
    T_TRUE(trend.has_exhaustion);
    T_TRUE(near(trend.exhaustion_step, 30000, 1e-4));
    T_TRUE(trend.confidence > 0.9);
    T_EQ_U64(trend.stair_count, 0);
}

static void a_staircase_says_its_stairs(void)
{
    for (size_t i = 0; i < 1000; i++) {
        other.bytes[i] = 8 * GB + 0.5 * GB * floor((double)i / 90);
    }
    const plim_trend trend = trend_of(NULL, other.bytes, 1000, 80 * GB);
    T_EQ_STR(plim_trend_name(trend.kind), "staircase");
    T_EQ_U64(trend.stair_count, 11);
    T_TRUE(near(trend.stair_bytes, 0.5 * GB, 1e-3));
    T_TRUE(near(trend.stair_period_steps, 90, 0.02));
    T_TRUE(near(trend.growth_bytes_per_step, 0.5 * GB / 90, 0.01));
    T_TRUE(trend.has_exhaustion);
    T_TRUE(near(trend.exhaustion_step, 72 * 2 * 90 + 45, 0.02));
}

static void a_late_leak_says_where_it_began(void)
{
    t_made_seed(1);
    for (size_t i = 0; i < 2000; i++) {
        const double level = 10 * GB * (1 + 0.001 * fmax(0, (double)i - 1200));
        other.bytes[i] = level * (1 + 0.03 * t_made_between(-1, 1));
    }
    const plim_trend trend = trend_of(NULL, other.bytes, 2000, 0);
    T_EQ_STR(plim_trend_name(trend.kind), "leak");
    T_TRUE(near(trend.onset_step, 1200, 0.02));
    T_TRUE(near(trend.growth_bytes_per_step, 0.01 * GB, 0.03));
    T_TRUE(near(trend.first_bytes, 10 * GB, 0.01));
    T_TRUE(near(trend.last_bytes, 18 * GB, 0.01));
    T_FALSE(trend.has_exhaustion);
}

static void a_ramp_says_where_it_settled(void)
{
    for (size_t i = 0; i < 500; i++) {
        other.bytes[i] = fmin(2 * GB + 0.1 * GB * (double)i, 12 * GB);
    }
    const plim_trend trend = trend_of(NULL, other.bytes, 500, 16 * GB);
    T_EQ_STR(plim_trend_name(trend.kind), "ramp");
    T_TRUE(near(trend.onset_step, 100, 0.05));
    T_TRUE(near(trend.last_bytes, 12 * GB, 0.01));
    T_TRUE(trend.growth_bytes_per_step == 0);
    T_FALSE(trend.has_exhaustion);
}

/* A leak meets the capacity with its peaks, not with its floor. */
static void exhaustion_counts_usual_peaks(void)
{
    for (size_t i = 0; i < 1000; i++) {
        other.bytes[i] = 10 * GB + 0.01 * GB * (double)i + (i % 50 >= 48 ? 5 * GB : 0);
    }
    const plim_trend trend = trend_of(NULL, other.bytes, 1000, 45 * GB);
    T_EQ_STR(plim_trend_name(trend.kind), "leak");
    T_TRUE(near(trend.growth_bytes_per_step, 0.01 * GB, 0.001));
    T_TRUE(near(trend.exhaustion_step, 3000, 0.01));
    /* What is over it already is so now. */
    T_TRUE(trend_of(NULL, other.bytes, 1000, 12 * GB).exhaustion_step <= 999);
}

/* The stair is the printed unit: that is how a slow leak looks in a log. */
static void a_leak_printed_in_tenths_is_no_staircase(void)
{
    for (size_t i = 0; i < 1000; i++) {
        other.bytes[i] = floor(112 + 0.03 * (double)i) * 0.1 * GB;
    }
    const plim_trend trend = trend_of(NULL, other.bytes, 1000, 0);
    T_EQ_STR(plim_trend_name(trend.kind), "leak");
    T_TRUE(near(trend.growth_bytes_per_step, 0.003 * GB, 0.02));
}

/* Per cent are rounded too: most plateaus repeat one figure, and the rest is a unit below. */
static void stairs_in_tenths_of_a_percent_are_stairs(void)
{
    const double stairs[] = { 41.8, 44.8, 47.8, 50.8, 53.8, 56.8 };
    for (size_t i = 0; i < 234; i++) {
        const bool is_below = i * i % 5 == 4;
        other.bytes[i] = round(10 * stairs[i / 39] - (is_below ? 1 : 0)) / 10;
    }
    const plim_trend trend = trend_of(NULL, other.bytes, 234, 0);
    T_EQ_STR(plim_trend_name(trend.kind), "staircase");
    T_EQ_U64(trend.stair_count, 5);
}

/* --- few points --- */

static void few_points_say_nothing_unless_they_are_a_line(void)
{
    static const struct {
        double bytes[7];
        size_t count;
        const char *name;
    } cases[] = {
        { { 0 }, 0, "too_short" },
        { { 5 }, 1, "too_short" },
        { { 5, 6 }, 2, "too_short" },
        { { 5, 6, 7, 8 }, 4, "too_short" },
        { { 100, 101, 102, 103, 104 }, 5, "leak" },
        { { 100, 100.1, 100.2, 100.3, 100.4 }, 5, "too_short" }, /* less than a fiftieth */
        { { 100, 102, 101, 103, 104 }, 5, "too_short" },
        { { 100, 101, 102, 103, 104, 105, 106 }, 7, "leak" },
        { { 106, 105, 104, 103, 102, 101, 100 }, 7, "too_short" },
        { { 7, 7, 7, 7, 7 }, 5, "flat" },
        { { 0, 0, 0, 0, 0, 0 }, 6, "flat" },
        { { 7, 7, 8, 7, 7 }, 5, "too_short" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        const plim_trend trend = trend_of(NULL, cases[i].bytes, cases[i].count, 1000);
        T_EQ_STR(plim_trend_name(trend.kind), cases[i].name);
        T_TRUE(trend.confidence <= 0.5);
        T_EQ_U64(trend.point_count, cases[i].count);
    }
    /* The same step over and over is one point. */
    static const double same[100] = { 0 };
    T_EQ_STR(plim_trend_name(trend_of(same, made.bytes, 100, 0).kind), "too_short");
}

/* --- what may be changed without changing the class --- */

static void copy_changed(double step_factor, double step_offset, double byte_factor)
{
    for (size_t i = 0; i < made.count; i++) {
        other.steps[i] = made.steps[i] * step_factor + step_offset;
        other.bytes[i] = made.bytes[i] * byte_factor;
    }
}

static void units_do_not_matter(void)
{
    for (size_t f = 0; f < t_family_count; f++) {
        for (size_t i = 0; i < 2; i++) {
            t_made_seed(t_random());
            t_families[f].make(&made);
            T_CASE("%s: %.100s", t_families[f].name, made.text);
            const plim_trend plain = trend_of(made.steps, made.bytes, made.count, 0);
            if (strstr(t_families[f].name, "printed") != NULL) {
                continue; /* the printed unit would be another, and none that logs are printed in */
            }
            copy_changed(4, 0, 0.5);
            const plim_trend scaled = trend_of(other.steps, other.bytes, made.count, 0);
            T_EQ_STR(plim_trend_name(scaled.kind), plim_trend_name(plain.kind));
            T_TRUE(near(scaled.growth_bytes_per_step, plain.growth_bytes_per_step / 8, 1e-6));
            copy_changed(1, 4096, 1);
            const plim_trend shifted = trend_of(other.steps, other.bytes, made.count, 0);
            T_EQ_STR(plim_trend_name(shifted.kind), plim_trend_name(plain.kind));
            T_TRUE(near(shifted.growth_bytes_per_step, plain.growth_bytes_per_step, 1e-6));
        }
    }
}

static void order_does_not_matter(void)
{
    for (size_t f = 0; f < t_family_count; f++) {
        t_made_seed(t_random());
        t_families[f].make(&made);
        T_CASE("%s: %.100s", t_families[f].name, made.text);
        for (size_t i = 0; i < made.count; i++) {
            other.steps[i] = made.steps[made.count - 1 - i];
            other.bytes[i] = made.bytes[made.count - 1 - i];
        }
        const plim_trend there = trend_of(made.steps, made.bytes, made.count, 90 * GB);
        const plim_trend back = trend_of(other.steps, other.bytes, made.count, 90 * GB);
        T_EQ_U64(there.kind, back.kind);
        T_TRUE(same(there.confidence, back.confidence));
        T_TRUE(same(there.growth_bytes_per_step, back.growth_bytes_per_step));
        T_TRUE(same(there.onset_step, back.onset_step));
        T_EQ_U64(there.stair_count, back.stair_count);
    }
}

static void another_base_keeps_the_class(void)
{
    static const char *const families[] = { "flat", "saw", "peaks", "leak", "ramp, straight" };
    for (size_t k = 0; k < T_COUNT(families); k++) {
        for (size_t f = 0; f < t_family_count; f++) {
            if (strcmp(t_families[f].name, families[k]) != 0) {
                continue;
            }
            t_made_seed(3);
            t_families[f].make(&made);
            const plim_trend plain = trend_of(made.steps, made.bytes, made.count, 0);
            for (size_t i = 0; i < made.count; i++) {
                made.bytes[i] += GB;
            }
            const plim_trend shifted = trend_of(made.steps, made.bytes, made.count, 0);
            T_CASE("%s: %.100s", families[k], made.text);
            T_EQ_STR(plim_trend_name(shifted.kind), plim_trend_name(plain.kind));
        }
    }
}

/* --- what it survives --- */

static void points_that_are_no_numbers_are_left_out(void)
{
    for (size_t i = 0; i < 300; i++) {
        made.steps[i] = (double)i;
        made.bytes[i] = 10 * GB + 1e7 * (double)i;
    }
    made.bytes[7] = (double)NAN;
    made.bytes[99] = (double)INFINITY;
    made.steps[150] = (double)-INFINITY;
    made.steps[299] = (double)NAN;
    made.bytes[200] = -3; /* negative, and far off: an outlier */
    const plim_trend trend = trend_of(made.steps, made.bytes, 300, 0);
    T_EQ_STR(plim_trend_name(trend.kind), "leak");
    T_EQ_U64(trend.point_count, 296);
    T_TRUE(near(trend.growth_bytes_per_step, 1e7, 1e-3));
    T_TRUE(near(trend.last_step, 298, 0));
    for (size_t i = 0; i < 300; i++) {
        made.bytes[i] = (double)NAN;
    }
    T_EQ_STR(plim_trend_name(trend_of(NULL, made.bytes, 300, 0).kind), "too_short");
}

static void check_sane(const plim_trend *trend)
{
    T_TRUE(trend->confidence >= 0 && trend->confidence <= 1);
    T_TRUE(trend->growth_bytes_per_step >= 0);
    T_FALSE(isnan(trend->growth_bytes_per_step) || isnan(trend->growth_low_bytes_per_step) ||
            isnan(trend->growth_high_bytes_per_step) || isnan(trend->onset_step) ||
            isnan(trend->first_bytes) || isnan(trend->last_bytes) || isnan(trend->noise_share));
    T_TRUE(trend->growth_low_bytes_per_step <= trend->growth_high_bytes_per_step);
    T_TRUE(trend->onset_step >= trend->first_step && trend->onset_step <= trend->last_step);
    T_FALSE(trend->has_exhaustion && isnan(trend->exhaustion_step));
}

static void extremes_are_survived(void)
{
    static const double values[] = { 0,       1,         -1,        1e300, -1e300,  DBL_MAX,
                                     DBL_MIN, 0x1p-1074, 0x1p-1070, 1e9,   -DBL_MAX };
    for (int round = 0; round < 3000; round++) {
        const size_t count = (size_t)t_random_between(0, round % 10 == 0 ? 700 : 40);
        const uint64_t kinds = t_random_between(1, T_COUNT(values));
        for (size_t i = 0; i < count; i++) {
            const uint64_t pick = t_random() % kinds;
            other.bytes[i] = values[pick] * (t_random() % 4 == 0 ? (double)i / 700 : 1);
            other.steps[i] = round % 3 == 0 ? values[t_random() % T_COUNT(values)]
                                            : (double)(t_random() % (uint64_t)(count + 1));
        }
        const plim_trend trend = trend_of(round % 2 == 0 ? NULL : other.steps, other.bytes, count,
                                          values[t_random() % T_COUNT(values)]);
        T_CASE("round %d, %zu points of %" PRIu64 " kinds", round, count, kinds);
        check_sane(&trend);
    }
}

static void any_series_of_any_shape_is_survived(void)
{
    for (int round = 0; round < 1500; round++) {
        const size_t count = (size_t)t_random_between(0, round % 20 == 0 ? 3000 : 60);
        double walk = 0;
        for (size_t i = 0; i < count; i++) {
            walk += (double)(t_random() % 2001) - 1000;
            walk *= t_random() % 50 == 0 ? 0 : 1;
            other.bytes[i] = round % 4 == 0 ? floor(walk / 500) * 500 : walk;
        }
        const plim_trend trend = trend_of(NULL, other.bytes, count, 1e6);
        T_CASE("round %d", round);
        check_sane(&trend);
    }
}

static bool find_trend(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_trend trend = { .point_count = 77 };
    plim_error err;
    const plim_status status = plim_trend_of(
        &(plim_trend_input){ made.steps, made.bytes, made.count, 0 }, mem, &trend, &err);
    if (status != PLIM_OK) {
        T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
        T_EQ_U64(trend.point_count, 77);
    }
    return status == PLIM_OK;
}

static void each_failing_allocation_is_an_error(void)
{
    t_made_seed(5);
    t_families[0].make(&made);
    t_fail_each_allocation(find_trend, NULL);
}

static void memory_is_bounded(void)
{
    for (size_t i = 0; i < T_MADE_POINTS_MAX; i++) {
        other.bytes[i] = GB + (double)(t_random() % 1000);
    }
    t_mem heap;
    t_mem_init(&heap);
    plim_trend trend;
    T_EQ_U64(plim_trend_of(&(plim_trend_input){ NULL, other.bytes, T_MADE_POINTS_MAX, 0 },
                           &heap.mem, &trend, NULL),
             PLIM_OK);
    T_TRUE(heap.peak_bytes <= 40 * T_MADE_POINTS_MAX + 300000);
    T_EQ_U64(heap.live_bytes, 0);
}

/* --- order.c --- */

static void sorting_and_selecting_agree_with_counting(void)
{
    for (int round = 0; round < 300; round++) {
        static plim_trend_point points[500];
        static plim_trend_point room[500];
        static double items[500];
        const size_t count = (size_t)t_random_between(1, 500);
        const uint64_t kinds = t_random_between(1, 600);
        for (size_t i = 0; i < count; i++) {
            const double value = round % 3 == 0 ? (double)i : (double)(t_random() % kinds);
            points[i] = (plim_trend_point){ .at = value, .value = (double)(count - i) };
            items[i] = value;
        }
        plim_trend_sort(points, room, count);
        for (size_t i = 1; i < count; i++) {
            T_TRUE(points[i - 1].at < points[i].at ||
                   (points[i - 1].at <= points[i].at && points[i - 1].value < points[i].value));
        }
        for (size_t rank = 0; rank < count; rank += 1 + count / 7) {
            T_TRUE(plim_trend_select(items, count, rank) <= points[rank].at);
            T_TRUE(items[rank] >= points[rank].at);
        }
    }
}

static void names_are_those_of_the_documents(void)
{
    T_EQ_STR(plim_trend_name(PLIM_TREND_FLAT), "flat");
    T_EQ_STR(plim_trend_name((plim_trend_class)99), "too_short");
}

/* A thousand points in 64 means: what grows is not taken for flat, and what is flat is. By chance
 * one noise in some hundred looks like more than noise, so most of three decide. */
static void a_first_look_finds_what_grows(void)
{
    enum { COUNT = 1000, DRAWS = 3 };
    static double bytes[COUNT];
    const struct {
        double slope;
        bool is_late, is_flat;
    } cases[] = { { 0, false, true }, { 0.05, false, false }, { 0.2, true, false } };
    for (size_t k = 0; k < T_COUNT(cases); k++) {
        int flat_at_first = 0;
        int flat_in_full = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            for (int i = 0; i < COUNT; i++) {
                const double grown = cases[k].is_late ? fmax(0, i - COUNT / 2.0) : i;
                bytes[i] =
                    1000 + cases[k].slope * grown + ((double)t_random_between(0, 2000) / 100 - 10);
            }
            const plim_trend_input input = { NULL, bytes, COUNT, 0 };
            plim_trend first;
            plim_trend full;
            T_EQ_U64(plim_trend_screen(&input, NULL, &first, NULL), PLIM_OK);
            T_EQ_U64(plim_trend_of(&input, NULL, &full, NULL), PLIM_OK);
            flat_at_first += first.kind == PLIM_TREND_FLAT;
            flat_in_full += full.kind == PLIM_TREND_FLAT;
            T_TRUE(first.max_bytes == full.max_bytes && first.point_count == full.point_count);
        }
        T_TRUE((flat_at_first * 2 > DRAWS) == cases[k].is_flat);
        T_TRUE((flat_in_full * 2 > DRAWS) == cases[k].is_flat);
    }
}

T_MAIN(T_TEST(a_first_look_finds_what_grows), T_TEST(a_leak_is_said_in_the_units_of_the_log),
       T_TEST(a_staircase_says_its_stairs), T_TEST(a_late_leak_says_where_it_began),
       T_TEST(a_ramp_says_where_it_settled), T_TEST(exhaustion_counts_usual_peaks),
       T_TEST(a_leak_printed_in_tenths_is_no_staircase),
       T_TEST(stairs_in_tenths_of_a_percent_are_stairs),
       T_TEST(few_points_say_nothing_unless_they_are_a_line), T_TEST(units_do_not_matter),
       T_TEST(order_does_not_matter), T_TEST(another_base_keeps_the_class),
       T_TEST(points_that_are_no_numbers_are_left_out), T_TEST(extremes_are_survived),
       T_TEST(any_series_of_any_shape_is_survived), T_TEST(each_failing_allocation_is_an_error),
       T_TEST(memory_is_bounded), T_TEST(sorting_and_selecting_agree_with_counting),
       T_TEST(names_are_those_of_the_documents))
