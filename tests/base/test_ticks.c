/*
 * test_ticks.c - ticks go forward, and so does what they are converted to.
 */
#include "harness.h"

#include "base/ticks.h"

#include <pthread.h>

#define SLACK_NS    100000000 /* 0.1 s: a wrong pace or start is wrong by far more in the end */
#define THREADS     4
#define CONVERSIONS 200000

static uint64_t now_ns(clockid_t id)
{
    struct timespec now = { 0 };
    (void)clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void ticks_go_forward(void)
{
    uint64_t last = plim_ticks_now();
    for (int i = 0; i < 100000; i++) {
        const uint64_t now = plim_ticks_now();
        T_TRUE(now >= last);
        last = now;
    }
}

/*
 * What is converted goes with the monotonic clock: the system's time may be set while this runs
 * (as a virtual machine that has just been started does), and ticks must not follow that.
 */
static void converted_ticks_keep_the_pace_of_the_monotonic_clock(void)
{
    const uint64_t first = plim_ticks_to_unix_ns(plim_ticks_now());
    const uint64_t start = now_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < 100; i++) {
        const uint64_t before = now_ns(CLOCK_MONOTONIC) - start;
        const uint64_t ticks = plim_ticks_now();
        const uint64_t after = now_ns(CLOCK_MONOTONIC) - start;
        const uint64_t passed = plim_ticks_to_unix_ns(ticks) - first;
        T_TRUE(passed + SLACK_NS >= before);
        T_TRUE(passed <= after + SLACK_NS);
        (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

/* How far the system's time was ahead of the monotonic clock before the first tick. Since then it
 * may have been set, by any amount. */
static uint64_t unix_less_monotonic_ns;

static void ticks_start_at_the_time_of_the_system(void)
{
    const uint64_t converted = plim_ticks_to_unix_ns(plim_ticks_now());
    const uint64_t unix_ns = now_ns(CLOCK_MONOTONIC) + unix_less_monotonic_ns;
    T_TRUE(converted + SLACK_NS >= unix_ns && converted <= unix_ns + SLACK_NS);
}

static void the_same_ticks_always_give_the_same_time(void)
{
    enum { COUNT = 2000 };
    static uint64_t ticks[COUNT];
    static uint64_t times[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        ticks[i] = plim_ticks_now();
        times[i] = plim_ticks_to_unix_ns(ticks[i]);
        T_TRUE(i == 0 || times[i] >= times[i - 1]);
        if (i % 100 == 0) { /* so that the map is measured anew in between */
            (void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
        }
        for (size_t j = i % 7; j <= i; j += 97) {
            T_EQ_U64(plim_ticks_to_unix_ns(ticks[j]), times[j]);
        }
    }
}

static void ticks_from_before_the_first_one_have_a_time(void)
{
    const uint64_t now = plim_ticks_now();
    const uint64_t early = plim_ticks_to_unix_ns(now / 2);
    T_TRUE(early < plim_ticks_to_unix_ns(now));
    T_TRUE(plim_ticks_to_unix_ns(0) <= early);
}

static void *convert(void *ctx)
{
    bool *const good = ctx;
    uint64_t last = 0;
    *good = true;
    for (int i = 0; i < CONVERSIONS; i++) {
        const uint64_t ns = plim_ticks_to_unix_ns(plim_ticks_now());
        *good = *good && ns >= last;
        last = ns;
    }
    return NULL;
}

static void many_threads_convert_at_once(void)
{
    pthread_t threads[THREADS];
    bool good[THREADS];
    unix_less_monotonic_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_create(&threads[i], NULL, convert, &good[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        T_EQ_I64(pthread_join(threads[i], NULL), 0);
        T_TRUE(good[i]);
    }
}

/* The threads come first: they meet the clock that nobody has read yet. */
T_MAIN(T_TEST(many_threads_convert_at_once), T_TEST(ticks_go_forward),
       T_TEST(converted_ticks_keep_the_pace_of_the_monotonic_clock),
       T_TEST(ticks_start_at_the_time_of_the_system),
       T_TEST(the_same_ticks_always_give_the_same_time),
       T_TEST(ticks_from_before_the_first_one_have_a_time))
