/*
 * rounding.h - from a request to the block PyTorch's allocator looks for.
 *
 * A multiple of 512 bytes; with roundup_power2_divisions set, one of a few steps between two
 * powers of two. The block found may be larger, where the rest was too small to split off, so
 * this is a lower bound for allocations whose block nobody saw.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROUNDING_H
#define PLIMSOLL_DIAGNOSE_ROUNDING_H

#include "plimsoll/history.h"

#define PLIM_ROUNDING_INTERVALS 16 /* below 2 MiB, from 2 MiB, 4 MiB, … from 32 GiB */
#define PLIM_BLOCK_BYTES_MIN    512u

/* All zero is the default: multiples of 512 bytes. */
typedef struct plim_rounding {
    bool has_divisions; /* some interval has more than one */
    uint64_t divisions[PLIM_ROUNDING_INTERVALS];
} plim_rounding;

/* The rounding in force when the history was recorded. */
plim_rounding plim_rounding_of(const plim_history *history);

/* The rule for an interval with divisions; more than 2^64 - 1 is cut off there. */
uint64_t plim_round_divided(const plim_rounding *rounding, uint64_t bytes);

static inline uint64_t plim_round(const plim_rounding *rounding, uint64_t bytes)
{
    if (rounding->has_divisions) {
        return plim_round_divided(rounding, bytes);
    }
    if (bytes == 0) {
        return PLIM_BLOCK_BYTES_MIN;
    }
    return bytes > UINT64_MAX - (PLIM_BLOCK_BYTES_MIN - 1)
               ? UINT64_MAX
               : (bytes + PLIM_BLOCK_BYTES_MIN - 1) & ~(uint64_t)(PLIM_BLOCK_BYTES_MIN - 1);
}

#endif
