/*
 * rounding.h - from the bytes that a program requests to those of a block and of its segment.
 *
 * The one rounding: inline for the hot path of the allocator; plim_round_size() and
 * plim_segment_size() of plimsoll/settings.h are the same. PyTorch 2.11
 * c10/cuda/CUDACachingAllocator.cpp: round_size(), get_allocation_size().
 */
#ifndef PLIMSOLL_SETTINGS_ROUNDING_H
#define PLIMSOLL_SETTINGS_ROUNDING_H

#include "base/assert.h"
#include "base/block_bytes.h"
#include "plimsoll/settings.h"

#define PLIM_LARGE_BYTES_MIN       ((uint64_t)10 << 20) /* kMinLargeAlloc: a segment of its own */
#define PLIM_LARGE_SEGMENT_QUANTUM ((uint64_t)2 << 20)  /* kRoundLarge */
#define PLIM_ROUNDUP_LOG2_FIRST    20u                  /* the first interval's upper half: 1 MiB */

static inline uint32_t plim_log2_floor(uint64_t value)
{
    PLIM_ASSERT_DEBUG(value > 0);
    return 63u - (uint32_t)__builtin_clzll(value);
}

/* The interval of roundup_power2_divisions a size is in: [1,2) MiB and below is 0. */
static inline uint32_t plim_roundup_interval(uint64_t bytes)
{
    const uint32_t log2 = plim_log2_floor(bytes);
    const uint32_t above = log2 > PLIM_ROUNDUP_LOG2_FIRST ? log2 - PLIM_ROUNDUP_LOG2_FIRST : 0;
    return above < PLIM_ROUNDUP_INTERVALS ? above : PLIM_ROUNDUP_INTERVALS - 1;
}

/* Up to the next of `divisions` equal steps between two powers of two; 512 <= bytes. */
static inline uint64_t plim_round_to_division(uint64_t bytes, uint64_t divisions)
{
    const uint64_t power = (uint64_t)1 << plim_log2_floor(bytes);
    if (power == bytes) {
        return bytes;
    }
    const uint64_t step = power >> plim_log2_floor(divisions);
    return step == 0 ? power << 1 : (bytes + step - 1) & ~(step - 1);
}

/* The whole of plim_round_size(); 0 < bytes < PLIM_REQUEST_BYTES_END. */
static inline uint64_t plim_round_divided(const uint64_t divisions[PLIM_ROUNDUP_INTERVALS],
                                          uint64_t bytes)
{
    const uint64_t steps = divisions[plim_roundup_interval(bytes)];
    /* The product wraps around for 2^55 divisions and more, as it does in PyTorch: those round to
     * powers of two. */
    if (steps > 1 && bytes >= PLIM_BLOCK_BYTES_MIN && bytes > PLIM_BLOCK_BYTES_MIN * steps) {
        return plim_round_to_division(bytes, steps);
    }
    return plim_round_plain(bytes);
}

/* The rounding of settings, looked up once. All zero is the default: multiples of 512 bytes. */
typedef struct plim_rounding {
    bool has_divisions; /* some interval has more than one: else all is plim_round_plain() */
    uint64_t divisions[PLIM_ROUNDUP_INTERVALS];
} plim_rounding;

plim_rounding plim_rounding_of(const plim_settings *settings);

/* Any size that a file may claim. */
static inline uint64_t plim_round(const plim_rounding *rounding, uint64_t bytes)
{
    return rounding->has_divisions && bytes > 0 && bytes < PLIM_REQUEST_BYTES_END
               ? plim_round_divided(rounding->divisions, bytes)
               : plim_round_recorded(bytes);
}

static inline uint64_t plim_segment_for(const plim_settings *settings, uint64_t rounded_bytes)
{
    if (rounded_bytes <= PLIM_SMALL_BYTES_MAX) {
        return PLIM_SMALL_SEGMENT_BYTES;
    }
    if (rounded_bytes < PLIM_LARGE_BYTES_MIN) {
        return settings->large_segment_bytes;
    }
    return (rounded_bytes + PLIM_LARGE_SEGMENT_QUANTUM - 1) & ~(PLIM_LARGE_SEGMENT_QUANTUM - 1);
}

#endif
