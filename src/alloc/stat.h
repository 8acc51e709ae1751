/*
 * stat.h - counting up and down, as the allocator does on every request
 * (PyTorch 2.11, c10/core/CachingDeviceAllocator.h, struct Stat).
 *
 * A caller says amounts that are not negative. Sums wrap rather than trap: a simulated device may
 * hand out any number of bytes in its life, and a counter must not end the program.
 */
#ifndef PLIMSOLL_ALLOC_STAT_H
#define PLIMSOLL_ALLOC_STAT_H

#include "plimsoll/stats.h"

#include <stdbool.h>
#include <stdint.h>

static inline int64_t plim_stat_wrapping_sum(int64_t a, int64_t b)
{
    int64_t sum = 0;
    (void)__builtin_add_overflow(a, b, &sum);
    return sum;
}

static inline int64_t plim_stat_wrapping_difference(int64_t a, int64_t b)
{
    int64_t difference = 0;
    (void)__builtin_sub_overflow(a, b, &difference);
    return difference;
}

static inline void plim_stat_increase(plim_stat *stat, int64_t n)
{
    stat->current = plim_stat_wrapping_sum(stat->current, n);
    stat->peak = stat->current > stat->peak ? stat->current : stat->peak;
    stat->allocated = plim_stat_wrapping_sum(stat->allocated, n);
}

static inline void plim_stat_decrease(plim_stat *stat, int64_t n)
{
    stat->current = plim_stat_wrapping_difference(stat->current, n);
    stat->freed = plim_stat_wrapping_sum(stat->freed, n);
}

static inline plim_stat_slot plim_stat_slot_of(bool is_small)
{
    return is_small ? PLIM_SLOT_SMALL : PLIM_SLOT_LARGE;
}

/* In all pools, and in those of the class the block belongs to. */
static inline void plim_stats_increase(plim_device_stats *stats, plim_stat_family family,
                                       bool is_small, int64_t n)
{
    plim_stat_increase(&stats->families[family][PLIM_SLOT_ALL], n);
    plim_stat_increase(&stats->families[family][plim_stat_slot_of(is_small)], n);
}

static inline void plim_stats_decrease(plim_device_stats *stats, plim_stat_family family,
                                       bool is_small, int64_t n)
{
    plim_stat_decrease(&stats->families[family][PLIM_SLOT_ALL], n);
    plim_stat_decrease(&stats->families[family][plim_stat_slot_of(is_small)], n);
}

#endif
