/*
 * test_numbers.c - the smaller, the larger, and sums and differences that stop at the ends.
 */
#include "base/numbers.h"
#include "base/units.h"
#include "harness.h"

#define MOST UINT64_MAX

static const struct {
    uint64_t a;
    uint64_t b;
    uint64_t min;
    uint64_t max;
    uint64_t plus;
    uint64_t minus;
} cases[] = {
    { 0, 0, 0, 0, 0, 0 },
    { 2, 3, 2, 3, 5, 0 },
    { 3, 2, 2, 3, 5, 1 },
    { 0, MOST, 0, MOST, MOST, 0 },
    { MOST, 0, 0, MOST, MOST, MOST },
    { MOST, 1, 1, MOST, MOST, MOST - 1 },
    { MOST - 1, 1, 1, MOST - 1, MOST, MOST - 2 },
    { MOST, MOST, MOST, MOST, MOST, 0 },
    { MOST / 2, 2, 2, MOST / 2, MOST / 2 + 2, MOST / 2 - 2 },
    { 1ull << 32, 1ull << 32, 1ull << 32, 1ull << 32, 1ull << 33, 0 },
};

static void results_that_do_not_fit_are_the_nearest_that_do(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%" PRIu64 " and %" PRIu64, cases[i].a, cases[i].b);
        T_EQ_U64(plim_min(cases[i].a, cases[i].b), cases[i].min);
        T_EQ_U64(plim_max(cases[i].a, cases[i].b), cases[i].max);
        T_EQ_U64(plim_plus(cases[i].a, cases[i].b), cases[i].plus);
        T_EQ_U64(plim_minus(cases[i].a, cases[i].b), cases[i].minus);
    }
}

static void units_are_powers_of_two(void)
{
    T_EQ_U64(KIB, 1024);
    T_EQ_U64(MIB, 1024 * KIB);
    T_EQ_U64(GIB, 1024 * MIB);
    T_EQ_U64(TIB, 1024 * GIB);
}

T_MAIN(T_TEST(results_that_do_not_fit_are_the_nearest_that_do), T_TEST(units_are_powers_of_two))
