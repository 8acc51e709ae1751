/*
 * pool.h - a small caching allocator over made-up addresses.
 *
 * Segments are reserved and never given back; blocks are cut from them by best fit and merge with
 * their free neighbours again, by the sizes that PyTorch uses: requests up to 1 MiB share segments
 * of 2 MiB, requests below 10 MiB share segments of 20 MiB, larger ones get their own. One thread,
 * no memory at the addresses. Running out of host memory ends the program.
 */
#ifndef BENCH_SNAPSHOT_LOAD_POOL_H
#define BENCH_SNAPSHOT_LOAD_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pool_block {
    uint64_t addr;
    uint64_t bytes;           /* after rounding and splitting */
    uint64_t requested_bytes; /* as requested, also after it was freed */
    uint64_t context;         /* the caller's number for the call that allocated it */
    uint32_t stack;           /* the caller's number for that call's stack */
    bool is_active;
    bool is_small;
    struct pool_block *prev, *next;         /* neighbours in the segment, NULL at its ends */
    struct pool_block *bin_prev, *bin_next; /* other free blocks of about this size */
} pool_block;

typedef struct pool_segment {
    uint64_t addr;
    uint64_t bytes;
    bool is_small;
    pool_block *first;
} pool_segment;

enum { POOL_BINS = 64 };

typedef struct block_pool {
    pool_segment *segments; /* in order of reservation, which is order of address */
    size_t segment_count;
    size_t segment_capacity;
    uint64_t addr_next; /* where the next segment goes */
    uint64_t reserved_bytes;
    pool_block *bins[2][POOL_BINS]; /* free blocks by [is_small][log2 of their bytes] */
    pool_block *spare;              /* unused nodes, chained by `next` */
} block_pool;

/* Starts empty. */
void pool_init(block_pool *pool);
void pool_deinit(block_pool *pool);

/* Takes a block of at least `bytes` (1 or more). *ret_reserved_bytes is the size of the segment
 * that had to be reserved for it, 0 if none was. The block is the pool's; give it back once. */
pool_block *pool_alloc(block_pool *pool, uint64_t bytes, uint64_t *ret_reserved_bytes);
void pool_free(block_pool *pool, pool_block *block);

#endif
