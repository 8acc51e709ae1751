/*
 * numbers.h - the smaller and the larger of two numbers, and arithmetic that stops at the ends.
 *
 * Sizes that files and users claim may be anything up to 2^64 - 1. Where a bound is as good an
 * answer as the exact figure, a result that does not fit is the nearest number that does; where
 * it is not, plim_checked_mul() of memory.h reports overflow and plim_total of total.h is exact.
 */
#ifndef PLIMSOLL_BASE_NUMBERS_H
#define PLIMSOLL_BASE_NUMBERS_H

#include <stdint.h>

static inline uint64_t plim_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t plim_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a + b, at most 2^64 - 1. */
static inline uint64_t plim_plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a - b, at least 0. */
static inline uint64_t plim_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

#endif
