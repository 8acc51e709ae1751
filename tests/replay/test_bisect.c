/*
 * test_bisect.c - the smallest capacity, of made-up things that say what they survive with.
 */
#include "replay/search/bisect.h"

#include "harness.h"

/* Something that survives with `need` steps and more. */
typedef struct thing {
    uint64_t need;
    uint64_t used; /* when there is room */
    uint64_t hint; /* what a failure says was needed; 0: nothing */
    double reach;  /* how far it gets */
    bool is_sure;
    bool is_jumpy; /* what a failure says is no better than a guess */
} thing;

static uint64_t solve(const thing *it, plim_bisect *bisect, unsigned *ret_tries)
{
    unsigned tries = 0;
    uint64_t next = plim_bisect_next(bisect);
    for (; next != 0; next = plim_bisect_next(bisect)) {
        T_TRUE(++tries < 200);
        if (next >= it->need) {
            const uint64_t used = it->used < next ? it->used : next;
            plim_bisect_survived(bisect, next, used, it->is_sure);
        } else {
            const uint64_t hint = it->is_jumpy ? t_random_between(0, 2 * it->need) : it->hint;
            plim_bisect_failed(bisect, next, hint, it->reach);
        }
    }
    *ret_tries = tries;
    return bisect->high;
}

static void a_failure_that_says_what_it_needs_is_believed(void)
{
    const thing it = { .need = 5000, .used = 9000, .hint = 5000, .reach = 0.9, .is_sure = true };
    plim_bisect bisect = plim_bisect_start(4000);
    plim_bisect_survived(&bisect, PLIM_STEPS_MAX, 9000, true);
    plim_bisect_failed(&bisect, 4100, 5000, 0.9);
    unsigned tries = 0;
    T_EQ_U64(solve(&it, &bisect, &tries), 5000);
    T_TRUE(tries <= 14); /* halves where failing is dear */

    const thing early = { .need = 5000, .used = 5000, .hint = 5000, .reach = 0.1 };
    bisect = plim_bisect_start(4990);
    plim_bisect_survived(&bisect, PLIM_STEPS_MAX, 9000, true);
    plim_bisect_failed(&bisect, 4995, 5000, 0.1);
    (void)solve(&early, &bisect, &tries);
    T_EQ_U64(bisect.high, 5000);
}

static void the_floor_itself_is_enough(void)
{
    const thing it = { .need = 0, .used = 1, .is_sure = true };
    plim_bisect bisect = plim_bisect_start(7);
    unsigned tries = 0;
    T_EQ_U64(solve(&it, &bisect, &tries), 7);
    T_EQ_U64(tries, 1);
}

static void a_conclusion_that_was_wrong_is_taken_back(void)
{
    /* It says that 10 would have done, and needs 20. */
    const thing it = { .need = 20, .used = 10, .is_sure = false };
    plim_bisect bisect = plim_bisect_start(1);
    plim_bisect_survived(&bisect, 100, 10, false);
    unsigned tries = 0;
    T_EQ_U64(solve(&it, &bisect, &tries), 20);
    T_TRUE(bisect.is_high_sure);
}

static void nothing_is_enough(void)
{
    plim_bisect bisect = plim_bisect_start(5);
    plim_bisect_failed(&bisect, 10, PLIM_STEPS_UNKNOWN, 0.5);
    T_EQ_U64(plim_bisect_next(&bisect), 0);
    T_EQ_U64(bisect.high, PLIM_STEPS_UNKNOWN);

    const thing it = { .need = PLIM_STEPS_UNKNOWN };
    bisect = plim_bisect_start(5);
    unsigned tries = 0;
    T_EQ_U64(solve(&it, &bisect, &tries), PLIM_STEPS_UNKNOWN);
    T_TRUE(tries < 64);
}

static void any_need_is_found_in_few_tries(void)
{
    unsigned most = 0;
    for (int i = 0; i < 20000; i++) {
        const uint64_t floor = t_random_bytes(1, 40000);
        thing it = { .need = floor + t_random_bytes(0, 40000), .reach = (double)(i % 5) / 4 };
        it.used = it.need + t_random_bytes(0, 40000);
        it.is_sure = i % 2 == 0;
        it.hint = i % 3 == 0 ? 0 : t_random_between(floor, it.need);
        it.is_jumpy = i % 7 == 0;
        plim_bisect bisect = plim_bisect_start(floor);
        if (i % 4 == 0) {
            plim_bisect_survived(&bisect, PLIM_STEPS_MAX, it.used, it.is_sure);
        }
        unsigned tries = 0;
        T_CASE("floor %" PRIu64 " need %" PRIu64, floor, it.need);
        T_EQ_U64(solve(&it, &bisect, &tries), it.need);
        T_TRUE(bisect.is_high_sure);
        T_EQ_U64(bisect.low, it.need - 1);
        most = tries > most ? tries : most;
    }
    T_TRUE(most <= 60);
}

/* Survival that comes and goes: what is promised holds all the same. */
static void islands_end_at_a_shore(void)
{
    for (int i = 0; i < 5000; i++) {
        bool survives[200];
        for (unsigned j = 0; j < T_COUNT(survives); j++) {
            survives[j] = j >= 10 && t_random_between(0, 3) == 0;
        }
        survives[199] = true;
        plim_bisect bisect = plim_bisect_start(10);
        unsigned tries = 0;
        for (uint64_t next; (next = plim_bisect_next(&bisect)) != 0; tries++) {
            T_TRUE(tries < 500);
            if (next >= T_COUNT(survives) || survives[next]) {
                plim_bisect_survived(&bisect, next, next, true);
            } else {
                plim_bisect_failed(&bisect, next, t_random_between(0, 220), 0.1);
            }
        }
        T_TRUE(bisect.high < T_COUNT(survives) ? survives[bisect.high] : true);
        if (bisect.high < T_COUNT(survives) && bisect.high > 10) {
            T_FALSE(survives[bisect.high - 1]);
        }
    }
}

T_MAIN(T_TEST(a_failure_that_says_what_it_needs_is_believed), T_TEST(the_floor_itself_is_enough),
       T_TEST(a_conclusion_that_was_wrong_is_taken_back), T_TEST(nothing_is_enough),
       T_TEST(any_need_is_found_in_few_tries), T_TEST(islands_end_at_a_shore))
