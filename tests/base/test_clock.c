/*
 * test_clock.c - the system's clock goes forward, at about the right speed.
 */
#include "harness.h"

#include "base/clock.h"

static void time_never_steps_back(void)
{
    uint64_t last_ns = plim_clock_now_ns(&plim_clock_system);
    T_TRUE(last_ns > 0);
    for (int i = 0; i < 100000; i++) {
        const uint64_t now_ns = plim_clock_now_ns(&plim_clock_system);
        T_TRUE(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

static void sleeping_takes_time(void)
{
    const uint64_t before_ns = plim_clock_now_ns(&plim_clock_system);
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    const uint64_t after_ns = plim_clock_now_ns(&plim_clock_system);
    T_TRUE(after_ns - before_ns >= 20000000);
    T_TRUE(after_ns - before_ns < UINT64_C(60000000000)); /* not a mistaken unit */
}

T_MAIN(T_TEST(time_never_steps_back), T_TEST(sleeping_takes_time))
