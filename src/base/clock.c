/*
 * clock.c - the system's monotonic clock.
 */
#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static uint64_t system_now_ns(void *ctx)
{
    (void)ctx;
    struct timespec now = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: POSIX requires this clock here */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const plim_clock plim_clock_system = { .now_ns = system_now_ns, .ctx = NULL };
