/*
 * release.c - giving cached memory back. See release.h.
 */
#include "alloc/vm/release.h"

#include "alloc/core/free.h"
#include "alloc/core/policy.h"
#include "alloc/core/pools.h"
#include "alloc/vm/expandable.h"
#include "alloc/vm/segments.h"
#include "base/error.h"

/* The first block after one that may be gone by now. */
static plim_heap_block *block_after(const plim_free_set *set, uint64_t bytes, plim_addr addr)
{
    return plim_free_cursor_block(plim_free_set_at_least(set, bytes, addr + 1));
}

static plim_status unsettled(plim_error *err)
{
    return plim_fail_memory(err, "sorting free blocks");
}

/* Gives a free block back to the device, as far as that is possible. */
static plim_status release_block(plim_heap_block *block, uint32_t stack, plim_error *err)
{
    if (plim_block_is_expandable(block)) {
        return plim_expandable_release(block, stack, err);
    }
    return plim_block_is_split(block) ? PLIM_OK : plim_segment_release(block, stack, err);
}

/* The plain blocks of a shelf, or the expandable ones, in order. */
static plim_status release_shelf(plim_shelf *shelf, bool is_expandable, uint32_t stack,
                                 plim_error *err)
{
    if (!plim_free_set_settle(&shelf->blocks)) {
        return unsettled(err);
    }
    plim_heap_block *block = plim_free_cursor_block(plim_free_set_begin(&shelf->blocks));
    while (block != NULL) {
        const uint64_t bytes = block->bytes;
        const plim_addr addr = block->addr;
        if (plim_block_is_expandable(block) == is_expandable) {
            PLIM_TRY(release_block(block, stack, err));
        }
        block = block_after(&shelf->blocks, bytes, addr);
    }
    return PLIM_OK;
}

/* Plain segments of all shelves first, then expandable ones of all. */
static plim_status release_pool(plim_pool *pool, uint32_t stack, plim_error *err)
{
    for (int is_expandable = 0; is_expandable < 2; is_expandable++) {
        for (size_t i = 0; i < pool->shelves.count; i++) {
            PLIM_TRY(release_shelf(pool->shelves.items[i], is_expandable == 1, stack, err));
        }
    }
    return PLIM_OK;
}

/* Requests are still routed there, though all users have let go of it. */
static bool is_routed(const plim_heap *heap, const plim_private_pool *pool)
{
    for (size_t i = 0; i < heap->routings.count; i++) {
        if (heap->routings.items[i].pool == pool) {
            return true;
        }
    }
    return false;
}

static plim_status release_private(plim_heap *heap, plim_private_pool *pool, uint32_t stack,
                                   plim_error *err)
{
    PLIM_TRY(release_pool(&pool->small, stack, err));
    PLIM_TRY(release_pool(&pool->large, stack, err));
    /* PyTorch counts mappings up and down unevenly and may forget a pool that still has ranges;
     * here its memory outlives the count. */
    if (pool->driver_allocations <= 0 && pool->segment_count == 0 && !is_routed(heap, pool)) {
        plim_private_pool_remove(heap, pool);
    }
    return PLIM_OK;
}

plim_status plim_release_cached(plim_heap *heap, plim_pool_id id, uint32_t stack, plim_error *err)
{
    const bool is_default = id.a == 0 && id.b == 0;
    if (is_default && heap->routings.count == 0) {
        PLIM_TRY(plim_events_synchronize(heap, NULL, stack, err));
        if (!heap->allocator->policy->keeps_all) {
            PLIM_TRY(release_pool(&heap->large, stack, err));
            PLIM_TRY(release_pool(&heap->small, stack, err));
        }
    }
    for (size_t i = heap->private_pools.count; i > 0; i--) { /* removing keeps those before it */
        plim_private_pool *pool = heap->private_pools.items[i - 1];
        if (pool->use_count > 0 || (!is_default && !plim_pool_ids_equal(pool->id, id))) {
            continue;
        }
        if (!is_default) {
            PLIM_TRY(plim_events_synchronize(heap, pool, stack, err));
        }
        PLIM_TRY(release_private(heap, pool, stack, err));
    }
    return PLIM_OK;
}

/* --- oversize blocks --- */

/* From the largest down, blocks of at least max_split_bytes; expandable ones stay. */
static plim_status release_from_largest(plim_shelf *shelf, uint64_t wanted, uint32_t stack,
                                        uint64_t *ret_released, plim_error *err)
{
    const uint64_t oversize = shelf->heap->allocator->settings.max_split_bytes;
    plim_free_cursor cursor = plim_free_set_last(&shelf->blocks);
    plim_heap_block *block = plim_free_cursor_block(cursor);
    while (block != NULL && *ret_released < wanted && block->bytes >= oversize) {
        const uint64_t bytes = block->bytes;
        const plim_addr addr = block->addr;
        if (!plim_block_is_expandable(block) && !plim_block_is_split(block)) {
            PLIM_TRY(plim_segment_release(block, stack, err));
            *ret_released += bytes;
        }
        /* the one before: of those not before what was there, the one before that */
        cursor = plim_free_set_at_least(&shelf->blocks, bytes, addr);
        cursor = cursor.leaf != NULL ? plim_free_cursor_previous(cursor)
                                     : plim_free_set_last(&shelf->blocks);
        block = plim_free_cursor_block(cursor);
    }
    return PLIM_OK;
}

plim_status plim_release_oversize(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                  bool *ret_is_enough, plim_error *err)
{
    const uint64_t oversize = shelf->heap->allocator->settings.max_split_bytes;
    *ret_is_enough = false;
    if (oversize == PLIM_UNLIMITED) {
        return PLIM_OK;
    }
    if (!plim_free_set_settle(&shelf->blocks)) {
        return unsettled(err);
    }
    const uint64_t wanted = bytes > oversize ? bytes : oversize;
    plim_heap_block *fits =
        plim_free_cursor_block(plim_free_set_at_least(&shelf->blocks, wanted, 0));
    /* A part of a segment cannot go back: PyTorch would free it all the same, where the setting
     * was lowered while running (derived from garbage_collect_cached_blocks). */
    if (fits != NULL && !plim_block_is_expandable(fits) && !plim_block_is_split(fits)) {
        PLIM_TRY(plim_segment_release(fits, stack, err));
        *ret_is_enough = true;
        return PLIM_OK;
    }
    uint64_t released = 0;
    PLIM_TRY(release_from_largest(shelf, wanted, stack, &released, err));
    *ret_is_enough = released >= wanted;
    return PLIM_OK;
}

/* --- garbage --- */

typedef struct ages {
    uint64_t total;
    uint64_t count;
} ages;

static uint64_t age_of(const plim_pool *pool, const plim_heap_block *block)
{
    return pool->lookups - block->as.gc_base;
}

static ages ages_of(const plim_pool *pool)
{
    ages sum = { 0, 0 };
    for (size_t i = 0; i < pool->shelves.count; i++) {
        plim_free_cursor cursor = plim_free_set_begin(&pool->shelves.items[i]->blocks);
        for (; cursor.leaf != NULL; cursor = plim_free_cursor_next(cursor)) {
            const plim_heap_block *block = plim_free_cursor_block(cursor);
            if (!plim_block_is_split(block)) {
                sum.total += age_of(pool, block);
                sum.count++;
            }
        }
    }
    return sum;
}

/* A round: what is at least as old as the average was goes. */
typedef struct gc_round {
    ages left;
    double average;
    uint64_t reclaimed;
    bool has_freed;
} gc_round;

static plim_status collect_shelf(plim_shelf *shelf, gc_round *now, uint32_t stack, plim_error *err)
{
    plim_heap_block *block = plim_free_cursor_block(plim_free_set_begin(&shelf->blocks));
    while (block != NULL) {
        const uint64_t bytes = block->bytes;
        const plim_addr addr = block->addr;
        const uint64_t age = age_of(shelf->pool, block);
        if (!plim_block_is_split(block) && !plim_block_is_expandable(block) &&
            (double)age >= now->average) {
            now->reclaimed += bytes;
            now->left.total -= age;
            now->left.count--;
            now->has_freed = true;
            PLIM_TRY(plim_segment_release(block, stack, err));
        }
        block = block_after(&shelf->blocks, bytes, addr);
    }
    return PLIM_OK;
}

plim_status plim_collect_garbage(plim_heap *heap, uint32_t stack, plim_error *err)
{
    const double threshold = heap->allocator->settings.garbage_collection_threshold;
    const uint64_t kept = (uint64_t)(threshold * (double)heap->limit_bytes);
    if (heap->reserved_bytes <= kept) {
        return PLIM_OK;
    }
    const uint64_t target = heap->reserved_bytes - kept;
    for (size_t i = 0; i < heap->large.shelves.count; i++) {
        if (!plim_free_set_settle(&heap->large.shelves.items[i]->blocks)) {
            return unsettled(err);
        }
    }
    gc_round now = { .left = ages_of(&heap->large), .has_freed = true };
    while (now.reclaimed < target && now.has_freed && now.left.count > 0) {
        now.average = (double)now.left.total / (double)now.left.count;
        now.has_freed = false;
        for (size_t i = 0; i < heap->large.shelves.count; i++) {
            PLIM_TRY(collect_shelf(heap->large.shelves.items[i], &now, stack, err));
        }
    }
    return PLIM_OK;
}
