/*
 * total.h - sums of byte counts that cannot wrap.
 *
 * A file may claim 2^64 - 1 bytes in every record. Sums run in 128 bits, where 2^64 such records
 * fit, so that they are exact whatever is added and taken away in between, and are cut off at
 * 2^64 - 1 only where they are reported.
 */
#ifndef PLIMSOLL_BASE_TOTAL_H
#define PLIMSOLL_BASE_TOTAL_H

#include "base/hash.h"

typedef plim_uint128 plim_total;

static inline uint64_t plim_total_bytes(plim_total total)
{
    return total > UINT64_MAX ? UINT64_MAX : (uint64_t)total;
}

/* a - b, or 0 where b is more. */
static inline plim_total plim_total_less(plim_total a, plim_total b)
{
    return a > b ? a - b : 0;
}

#endif
