/*
 * ticks.h - the cheapest clock there is, and what its ticks mean.
 *
 * On x86-64 the time stamp counter, where the processor says that it never changes its pace;
 * elsewhere the monotonic clock. Ticks are kept as they are read and converted when a caller
 * looks. Any thread may do either at any time.
 */
#ifndef PLIMSOLL_BASE_TICKS_H
#define PLIMSOLL_BASE_TICKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* True if ticks are those of the time stamp counter; false until the first tick was read. */
extern atomic_bool plim_ticks_are_tsc;
/* The slow way of plim_ticks_now(): the first tick, and machines without a steady counter. */
uint64_t plim_ticks_now_slow(void);

static inline uint64_t plim_ticks_now(void)
{
#if defined(__x86_64__)
    if (atomic_load_explicit(&plim_ticks_are_tsc, memory_order_relaxed)) {
        return __rdtsc();
    }
#endif
    return plim_ticks_now_slow();
}

/*
 * Ticks as nanoseconds since the Unix epoch. Monotonic: later ticks never give an earlier time,
 * however the system's clock is set meanwhile, and the same ticks always give the same time. The
 * first use waits until a millisecond has passed since the first tick, to measure the pace.
 */
uint64_t plim_ticks_to_unix_ns(uint64_t ticks);

#endif
