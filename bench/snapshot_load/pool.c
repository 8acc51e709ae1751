/*
 * pool.c - best fit over bins of free blocks, one bin per power of two.
 */
#include "pool.h"

#include "base/units.h"
#include "trouble.h"

#include <stdlib.h>
#include <string.h>

#define GRANULE          UINT64_C(512)
#define SMALL_BYTES_MAX  MIB /* requests up to here share small segments */
#define SMALL_SEGMENT    (2 * MIB)
#define SHARED_BYTES_MAX (10 * MIB) /* requests below here share large segments */
#define SHARED_SEGMENT   (20 * MIB)
#define ADDR_FIRST       UINT64_C(0x7f2000000000)
#define REMAINDER_MIN    MIB /* a large block keeps what is left of it below this */

static uint64_t round_up(uint64_t bytes, uint64_t granule)
{
    return (bytes + granule - 1) / granule * granule;
}

static unsigned bin_of(uint64_t bytes)
{
    return 63u - (unsigned)__builtin_clzll(bytes);
}

void pool_init(block_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    pool->addr_next = ADDR_FIRST;
}

void pool_deinit(block_pool *pool)
{
    for (size_t i = 0; i < pool->segment_count; i++) {
        pool_block *block = pool->segments[i].first;
        while (block != NULL) {
            pool_block *const next = block->next;
            free(block);
            block = next;
        }
    }
    while (pool->spare != NULL) {
        pool_block *const next = pool->spare->next;
        free(pool->spare);
        pool->spare = next;
    }
    free(pool->segments);
    memset(pool, 0, sizeof *pool);
}

static pool_block *take_node(block_pool *pool)
{
    pool_block *block = pool->spare;
    if (block != NULL) {
        pool->spare = block->next;
    } else {
        block = must(malloc(sizeof *block));
    }
    memset(block, 0, sizeof *block);
    return block;
}

static void bin_insert(block_pool *pool, pool_block *block)
{
    pool_block **const head = &pool->bins[block->is_small][bin_of(block->bytes)];
    block->bin_prev = NULL;
    block->bin_next = *head;
    if (*head != NULL) {
        (*head)->bin_prev = block;
    }
    *head = block;
}

static void bin_remove(block_pool *pool, pool_block *block)
{
    if (block->bin_prev != NULL) {
        block->bin_prev->bin_next = block->bin_next;
    } else {
        pool->bins[block->is_small][bin_of(block->bytes)] = block->bin_next;
    }
    if (block->bin_next != NULL) {
        block->bin_next->bin_prev = block->bin_prev;
    }
}

/* The smallest free block that is large enough, of those the one at the lowest address. */
static pool_block *find_best(const block_pool *pool, uint64_t bytes, bool is_small)
{
    pool_block *best = NULL;
    for (unsigned bin = bin_of(bytes); bin < POOL_BINS && best == NULL; bin++) {
        for (pool_block *at = pool->bins[is_small][bin]; at != NULL; at = at->bin_next) {
            if (at->bytes < bytes) {
                continue;
            }
            if (best == NULL || at->bytes < best->bytes ||
                (at->bytes == best->bytes && at->addr < best->addr)) {
                best = at;
            }
        }
    }
    return best;
}

static pool_block *reserve(block_pool *pool, uint64_t bytes, bool is_small)
{
    const uint64_t segment_bytes = is_small                   ? SMALL_SEGMENT
                                   : bytes < SHARED_BYTES_MAX ? SHARED_SEGMENT
                                                              : round_up(bytes, 2 * MIB);
    if (pool->segment_count == pool->segment_capacity) {
        pool->segment_capacity = pool->segment_capacity * 2 + 64;
        pool->segments =
            must(realloc(pool->segments, pool->segment_capacity * sizeof *pool->segments));
    }
    pool_block *const block = take_node(pool);
    block->addr = pool->addr_next;
    block->bytes = segment_bytes;
    block->is_small = is_small;
    pool->segments[pool->segment_count++] = (pool_segment){
        .addr = block->addr, .bytes = segment_bytes, .is_small = is_small, .first = block
    };
    pool->addr_next += segment_bytes;
    pool->reserved_bytes += segment_bytes;
    return block;
}

/* Cuts `bytes` from the front of a block that is in no bin; what is left becomes free. */
static void split(block_pool *pool, pool_block *block, uint64_t bytes)
{
    const uint64_t left = block->bytes - bytes;
    if (left < (block->is_small ? GRANULE : REMAINDER_MIN + 1)) {
        return;
    }
    pool_block *const rest = take_node(pool);
    rest->addr = block->addr + bytes;
    rest->bytes = left;
    rest->is_small = block->is_small;
    rest->prev = block;
    rest->next = block->next;
    if (rest->next != NULL) {
        rest->next->prev = rest;
    }
    block->next = rest;
    block->bytes = bytes;
    bin_insert(pool, rest);
}

pool_block *pool_alloc(block_pool *pool, uint64_t bytes, uint64_t *ret_reserved_bytes)
{
    const uint64_t rounded = round_up(bytes, GRANULE);
    const bool is_small = rounded <= SMALL_BYTES_MAX;
    pool_block *block = find_best(pool, rounded, is_small);

    *ret_reserved_bytes = 0;
    if (block != NULL) {
        bin_remove(pool, block);
    } else {
        block = reserve(pool, rounded, is_small);
        *ret_reserved_bytes = block->bytes;
    }
    split(pool, block, rounded);
    block->is_active = true;
    block->requested_bytes = bytes;
    return block;
}

/* Takes in the neighbour that follows, if there is one and it is free. */
static void merge_next(block_pool *pool, pool_block *block)
{
    pool_block *const next = block->next;
    if (next == NULL || next->is_active) {
        return;
    }
    bin_remove(pool, next);
    block->bytes += next->bytes;
    block->next = next->next;
    if (block->next != NULL) {
        block->next->prev = block;
    }
    next->next = pool->spare;
    pool->spare = next;
}

void pool_free(block_pool *pool, pool_block *block)
{
    block->is_active = false;
    merge_next(pool, block);
    pool_block *const prev = block->prev;
    if (prev != NULL && !prev->is_active) {
        bin_remove(pool, prev);
        prev->requested_bytes = block->requested_bytes;
        prev->bytes += block->bytes;
        prev->next = block->next;
        if (prev->next != NULL) {
            prev->next->prev = prev;
        }
        block->next = pool->spare;
        pool->spare = block;
        block = prev;
    }
    bin_insert(pool, block);
}
