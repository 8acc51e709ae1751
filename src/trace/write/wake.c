/*
 * wake.c - a futex (futex(2)), whose time limit is relative and follows the monotonic clock. See
 * wake.h.
 */
#include "trace/write/wake.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

void plim_wake_call(plim_wake *wake)
{
    (void)atomic_fetch_add_explicit(&wake->calls, 1, memory_order_release);
    (void)syscall(SYS_futex, &wake->calls, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void plim_wake_sleep(plim_wake *wake, uint64_t rest_ns)
{
    const struct timespec rest = { .tv_sec = (time_t)(rest_ns / NS_PER_S),
                                   .tv_nsec = (long)(rest_ns % NS_PER_S) };
    if (atomic_load_explicit(&wake->calls, memory_order_acquire) == wake->calls_seen) {
        /* Called, timed out or interrupted: the sleeper looks around in any case. */
        (void)syscall(SYS_futex, &wake->calls, FUTEX_WAIT_PRIVATE, wake->calls_seen, &rest, NULL,
                      0);
    }
    wake->calls_seen = atomic_load_explicit(&wake->calls, memory_order_acquire);
}
