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

/* The whole part of a number, from 0 to 2^64 - 1; 0 for what is not a number. */
static inline uint64_t plim_whole(double number)
{
    return number >= 0x1p64 ? UINT64_MAX : number > 0 ? (uint64_t)number : 0;
}

/* a - b, at least 0. */
static inline uint64_t plim_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

#endif
