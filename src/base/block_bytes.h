/*
 * block_bytes.h - what is true of every block of PyTorch's allocator, whatever its settings.
 *
 * Histories need so much on their own; settings/rounding.h has the rest of the rounding.
 * PyTorch 2.11 c10/core/CachingDeviceAllocator.h, c10/cuda/CUDACachingAllocator.cpp.
 */
#ifndef PLIMSOLL_BASE_BLOCK_BYTES_H
#define PLIMSOLL_BASE_BLOCK_BYTES_H

#include <stdint.h>

#define PLIM_BLOCK_BYTES_MIN ((uint64_t)512) /* kMinBlockSize: every size is a multiple */
/* kSmallSize: the small pool's largest block; a large block is cut where more is left. */
#define PLIM_SMALL_BYTES_MAX     ((uint64_t)1 << 20)
#define PLIM_SMALL_SEGMENT_BYTES ((uint64_t)2 << 20) /* kSmallBuffer */
#define PLIM_REQUEST_BYTES_END   ((uint64_t)1 << 60) /* no request is that large */

/* The default rounding. */
static inline uint64_t plim_round_plain(uint64_t bytes)
{
    return (bytes + PLIM_BLOCK_BYTES_MIN - 1) & ~(PLIM_BLOCK_BYTES_MIN - 1);
}

/* The default rounding of any size that a file may claim: 0 is given a block, too, and what no
 * request reaches stays. */
static inline uint64_t plim_round_recorded(uint64_t bytes)
{
    if (bytes == 0 || bytes >= PLIM_REQUEST_BYTES_END) {
        return bytes == 0 ? PLIM_BLOCK_BYTES_MIN : bytes;
    }
    return plim_round_plain(bytes);
}

#endif
