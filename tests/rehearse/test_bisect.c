/*
 * test_bisect.c - which release is tried next, and what counts as growth.
 */
#include "harness.h"

#include "rehearse/upgrade.h"

#define RELEASES_MAX 20u

/* The trials that a search makes until it knows the first of `count` releases that grew. */
static size_t search(size_t count, size_t first_grown, const bool *fails, size_t *ret_low,
                     size_t *ret_high)
{
    plim_release_try tries[RELEASES_MAX] = { 0 };
    size_t trials = 0;
    *ret_low = 0;
    *ret_high = count - 1;
    for (;;) {
        const size_t next = plim_upgrade_next(tries, *ret_low, *ret_high);
        if (next == PLIM_RELEASE_NONE) {
            return trials;
        }
        T_TRUE(next > *ret_low && next < *ret_high);
        T_EQ_U64(tries[next].state, PLIM_RELEASE_UNTRIED);
        trials++;
        if (fails != NULL && fails[next]) {
            tries[next].state = PLIM_RELEASE_SKIPPED;
        } else {
            tries[next].state = next >= first_grown ? PLIM_RELEASE_GREW : PLIM_RELEASE_GOOD;
            *(next >= first_grown ? ret_high : ret_low) = next;
        }
    }
}

static void halves_find_the_first_that_grew(void)
{
    for (size_t count = 2; count <= RELEASES_MAX; count++) {
        size_t most = 0;
        for (size_t grown = 1; grown < count; grown++) {
            size_t low = 0;
            size_t high = 0;
            const size_t trials = search(count, grown, NULL, &low, &high);
            T_EQ_U64(high, grown);
            T_EQ_U64(low, grown - 1);
            most = trials > most ? trials : most;
        }
        size_t halvings = 0;
        while (((size_t)1 << halvings) < count - 1) {
            halvings++;
        }
        T_TRUE(most <= halvings);
    }
}

static void releases_that_fail_are_left_between(void)
{
    for (unsigned mask = 0; mask < 1u << 8; mask++) {
        bool fails[10] = { false };
        for (size_t i = 0; i < 8; i++) {
            fails[i + 1] = (mask >> i & 1u) != 0;
        }
        for (size_t grown = 1; grown < 10; grown++) {
            size_t low = 0;
            size_t high = 0;
            (void)search(10, grown, fails, &low, &high);
            T_TRUE(low < grown && high >= grown);
            for (size_t i = low + 1; i < high; i++) {
                T_TRUE(fails[i]);
            }
        }
    }
}

static plim_rehearsed rehearsed(plim_rehearsal_outcome *outcome, plim_rehearsed_gpu *gpu,
                                uint64_t bytes, bool ran_out)
{
    *gpu = (plim_rehearsed_gpu){ .peak_bytes = bytes };
    *outcome = (plim_rehearsal_outcome){ .gpus = gpu, .device_count = 1 };
    return (plim_rehearsed){ .outcome = outcome, .ran_out = ran_out };
}

static bool grew(uint64_t before, uint64_t after, bool runs_out, double share, uint64_t bytes)
{
    plim_rehearsal_outcome outcomes[2];
    plim_rehearsed_gpu gpus[2];
    const plim_rehearsed first = rehearsed(&outcomes[0], &gpus[0], before, false);
    const plim_rehearsed second = rehearsed(&outcomes[1], &gpus[1], after, runs_out);
    return plim_upgrade_grew(&first, &second,
                             &(plim_upgrade_limit){ .share = share, .bytes = bytes });
}

static void growth_counts_beyond_the_limit(void)
{
    T_FALSE(grew(1000, 1010, false, 0.01, 0));
    T_TRUE(grew(1000, 1011, false, 0.01, 0));
    T_FALSE(grew(1000, 1000, false, 0, 0));
    T_TRUE(grew(1000, 1001, false, 0, 0));
    T_FALSE(grew(1000, 1100, false, 0, 100));
    T_TRUE(grew(1000, 1101, false, 0, 100));
    T_FALSE(grew(1000, 10, false, 0, 0));
    T_TRUE(grew(0, 1, false, 0.01, 0));
    T_FALSE(grew(0, 0, false, 0.01, 0));
    T_TRUE(grew(1000, 900, true, 0.01, 0));
    T_TRUE(grew(0, UINT64_MAX, false, 0.01, 0));
}

T_MAIN(T_TEST(halves_find_the_first_that_grew), T_TEST(releases_that_fail_are_left_between),
       T_TEST(growth_counts_beyond_the_limit))
