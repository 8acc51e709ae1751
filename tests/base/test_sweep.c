/*
 * test_sweep.c - jobs over threads.
 */
#include "base/sweep.h"

#include "base/error.h"
#include "harness.h"

#include <stdatomic.h>

#define JOBS 500

typedef struct counts {
    atomic_uint done[JOBS];
    size_t fails_from; /* jobs from here on fail */
} counts;

static plim_status count(void *ctx, size_t index, plim_error *err)
{
    counts *const all = ctx;
    atomic_fetch_add(&all->done[index], 1);
    return index < all->fails_from ? PLIM_OK : plim_fail(err, PLIM_LIMIT, "job %zu fails", index);
}

static void each_job_is_done_once(void)
{
    static const uint32_t threads[] = { 0, 1, 2, 7, 1000 };
    for (size_t i = 0; i < T_COUNT(threads); i++) {
        T_CASE("%u threads", threads[i]);
        counts all = { .fails_from = JOBS };
        const plim_sweep_jobs jobs = { .run = count, .ctx = &all, .count = JOBS };
        T_TRUE(plim_sweep(&jobs, threads[i], NULL) == PLIM_OK);
        for (size_t j = 0; j < JOBS; j++) {
            T_EQ_U64(atomic_load(&all.done[j]), 1);
        }
    }
}

static void no_jobs_are_soon_done(void)
{
    counts all = { .fails_from = 0 };
    const plim_sweep_jobs jobs = { .run = count, .ctx = &all, .count = 0 };
    T_TRUE(plim_sweep(&jobs, 4, NULL) == PLIM_OK);
}

static void the_first_failure_is_told_and_ends_it(void)
{
    for (uint32_t threads = 1; threads <= 8; threads++) {
        counts all = { .fails_from = 20 };
        const plim_sweep_jobs jobs = { .run = count, .ctx = &all, .count = JOBS };
        plim_error err = { .status = PLIM_OK };
        T_TRUE(plim_sweep(&jobs, threads, &err) == PLIM_LIMIT);
        T_TRUE(err.status == PLIM_LIMIT);
        T_EQ_STR(err.message, "job 20 fails");
        T_EQ_U64(atomic_load(&all.done[20]), 1);
        T_EQ_U64(atomic_load(&all.done[JOBS - 1]), 0);
    }
}

T_MAIN(T_TEST(each_job_is_done_once), T_TEST(no_jobs_are_soon_done),
       T_TEST(the_first_failure_is_told_and_ends_it))
