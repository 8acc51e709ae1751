/*
 * blocks.h - how large the block of each allocation was, from the history alone.
 *
 * A block is as large as its rounded request, except in the large segments that are not
 * expandable: there the allocator cuts a free block only where more than 1 MiB is left over, so
 * that a block may be up to 1 MiB larger than its request. Which ones are follows from what stood
 * around them:
 *
 *   segment  |[ A ][ B, 3 MiB requested ......][ C ]                |
 *                                  room of B   ^     room of D       ^
 *
 * An allocation takes the front of a free block, and free blocks that touch are one. So the free
 * block that B took reached from B's address to C's, or to the end of the segment where nothing
 * is after B. Following the large blocks from event to event gives the size of each.
 *
 * Blocks that still stand at the end are in the source, and those of the start are worked out
 * where they can be: the first allocation after one shows where it ended.
 */
#ifndef PLIMSOLL_HISTORY_BLOCKS_H
#define PLIMSOLL_HISTORY_BLOCKS_H

#include "base/block_bytes.h"
#include "history/start.h"
#include "plimsoll/timeline.h"

/* So much more than its request a block of any allocator may be: TensorFlow's BFC cuts where as
 * much is left (tensorflow/core/common_runtime/bfc_allocator.h, kMaxInternalFragmentation); others
 * less.
 */
#define PLIM_OTHER_SLACK_BYTES ((uint64_t)128 << 20)

/* A block that is not as large as its rounded request, or may not be. */
typedef struct plim_odd_block {
    uint64_t bytes;
    uint32_t alloc; /* event */
    uint32_t slack_bytes;
} plim_odd_block;

typedef struct plim_blocks {
    const plim_mem *mem;
    plim_block_rule rule;
    PLIM_VEC(plim_odd_block) odd; /* by event */
    uint64_t *is_odd;             /* a bit an event */
    uint64_t events;
    /* By how much a block that is not odd may be larger than its rounded request. */
    uint64_t small_slack_bytes; /* of requests up to PLIM_SMALL_BYTES_MAX */
    uint64_t large_slack_bytes;
} plim_blocks;

/* A block's size, and by how much that may be wrong. */
typedef struct plim_block_size {
    uint64_t bytes;
    uint64_t slack_bytes; /* 0: exact */
} plim_block_size;

/*
 * Works out all sizes; those of start->allocations and start->pending are filled in there.
 * Linear in events; about log n for each large allocation. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_blocks_init(plim_blocks *blocks, plim_start *start,
                             const plim_device_history *device, const plim_block_rule *rule,
                             const plim_mem *mem, plim_error *err);
/* Zeroed ones are allowed. */
void plim_blocks_deinit(plim_blocks *blocks);

static inline uint64_t plim_rule_round(const plim_block_rule *rule, uint64_t bytes)
{
    return rule->round != NULL ? rule->round(rule->ctx, bytes) : plim_round_recorded(bytes);
}

/* Of an odd one: its row. */
const plim_odd_block *plim_blocks_find(const plim_blocks *blocks, uint32_t alloc);

/* The block of a recorded alloc, of `bytes` requested. */
static inline plim_block_size plim_blocks_of(const plim_blocks *blocks, uint32_t alloc,
                                             uint64_t bytes)
{
    const uint64_t rounded = plim_rule_round(&blocks->rule, bytes);
    if ((blocks->is_odd[alloc / 64] >> alloc % 64 & 1) == 0) {
        return (plim_block_size){ rounded, rounded > PLIM_SMALL_BYTES_MAX
                                               ? blocks->large_slack_bytes
                                               : blocks->small_slack_bytes };
    }
    const plim_odd_block *const odd = plim_blocks_find(blocks, alloc);
    return (plim_block_size){ odd->bytes, odd->slack_bytes };
}

#endif
