/*
 * clock.h - time that only goes forward, as something that can be handed in.
 */
#ifndef PLIMSOLL_BASE_CLOCK_H
#define PLIMSOLL_BASE_CLOCK_H

#include <stdint.h>

typedef struct plim_clock {
    uint64_t (*now_ns)(void *ctx); /* since some fixed moment */
    void *ctx;
} plim_clock;

/* The system's monotonic clock. */
extern const plim_clock plim_clock_system;

static inline uint64_t plim_clock_now_ns(const plim_clock *clock)
{
    return clock->now_ns(clock->ctx);
}

#endif
