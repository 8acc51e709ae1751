/*
 * torch.c - PyTorch's policy: which cached block is handed out, how much of it, and what is tried
 * in which order when there is none (PyTorch 2.11, c10/cuda/CUDACachingAllocator.cpp,
 * DeviceCachingAllocator::malloc). See core/policy.h.
 */
#include "alloc/core/pools.h"
#include "alloc/policy/policies.h"
#include "alloc/vm/expandable.h"
#include "alloc/vm/release.h"
#include "alloc/vm/segments.h"
#include "base/error.h"
#include "settings/rounding.h"

/* --- which block, and how much of it: both paths --- */

/* The bytes of a free block, with the unmapped addresses after it that it could grow into. */
static uint64_t grown_bytes(const plim_heap_block *block)
{
    const plim_heap_block *next = block->next;
    return block->bytes + (next != NULL && !next->is_mapped ? next->bytes : 0);
}

/* Past blocks of expandable segments: all of them, or those that would rather grow. */
static plim_free_cursor skip_growing(plim_free_cursor cursor, bool is_expandable)
{
    if (!is_expandable) {
        while (cursor.leaf != NULL && plim_block_is_expandable(plim_free_cursor_block(cursor))) {
            cursor = plim_free_cursor_next(cursor);
        }
        return cursor;
    }
    /* Blocks that border on address space to grow into are used last. */
    while (plim_block_is_expandable(plim_free_cursor_block(cursor))) {
        const plim_free_cursor next = plim_free_cursor_next(cursor);
        if (next.leaf == NULL || grown_bytes(plim_free_cursor_block(next)) >=
                                     grown_bytes(plim_free_cursor_block(cursor))) {
            break;
        }
        cursor = next;
    }
    return cursor;
}

/* Best fit with its filters (get_free_block): the place of the block, still in the set. */
static inline plim_free_cursor find_at(const plim_settings *settings, const plim_shelf *shelf,
                                       uint64_t rounded_bytes, bool is_expandable)
{
    const plim_free_cursor none = { NULL, 0 };
    plim_free_cursor cursor = plim_free_set_at_least(&shelf->blocks, rounded_bytes, 0);
    if (shelf->had_expandable && cursor.leaf != NULL &&
        plim_block_is_expandable(plim_free_cursor_block(cursor))) {
        cursor = skip_growing(cursor, is_expandable);
    }
    if (cursor.leaf == NULL) {
        return none;
    }
    const uint64_t bytes = cursor.leaf->entries[cursor.index].bytes;
    const uint64_t oversize = settings->max_split_bytes;
    if (rounded_bytes < oversize && bytes >= oversize) {
        return none; /* an oversize block is not for small requests */
    }
    if (rounded_bytes >= oversize &&
        bytes >= rounded_bytes + settings->max_non_split_rounding_bytes) {
        return none; /* nor one that would waste too much */
    }
    return cursor;
}

/* The bytes to cut off a block; 0: it is handed out whole (should_split). */
static inline uint64_t split_of(const plim_settings *settings, const plim_shelf *shelf,
                                uint64_t block_bytes, uint64_t rounded_bytes, bool is_expandable)
{
    const uint64_t rest = block_bytes - rounded_bytes;
    if (shelf->pool->is_small || is_expandable) {
        return rest >= PLIM_BLOCK_BYTES_MIN ? rounded_bytes : 0;
    }
    const bool may = rounded_bytes < settings->max_split_bytes && rest > PLIM_SMALL_BYTES_MAX;
    return may ? rounded_bytes : 0;
}

static plim_free_cursor fit(const plim_shelf *shelf, uint64_t rounded_bytes,
                            uint64_t *ret_split_bytes)
{
    const plim_settings *settings = &shelf->heap->allocator->settings;
    const bool is_expandable = settings->expandable_segments;
    const plim_free_cursor cursor = find_at(settings, shelf, rounded_bytes, is_expandable);
    if (cursor.leaf != NULL) {
        *ret_split_bytes = split_of(settings, shelf, cursor.leaf->entries[cursor.index].bytes,
                                    rounded_bytes, is_expandable);
    }
    return cursor;
}

/* --- with the world stopped --- */

static plim_status prepare(plim_request *request, plim_error *err)
{
    const plim_settings *settings = &request->heap->allocator->settings;
    request->rounded_bytes =
        plim_round_divided(settings->roundup_power2_divisions, request->wanted_bytes);
    request->segment_bytes = plim_segment_for(settings, request->rounded_bytes);
    const bool is_small = request->rounded_bytes <= PLIM_SMALL_BYTES_MAX;
    plim_pool *pool = plim_pool_for(request->heap, request->stream, is_small);
    request->is_expandable =
        settings->expandable_segments && (pool->owner == NULL || !pool->owner->has_source);
    return plim_shelf_ready(request->heap, pool, request->stream, &request->shelf, err);
}

static bool is_collecting(const plim_heap *heap)
{
    return heap->limit_bytes != PLIM_UNLIMITED &&
           heap->allocator->settings.garbage_collection_threshold > 0;
}

static plim_heap_block *find(const plim_request *request)
{
    plim_shelf *shelf = request->shelf;
    if (is_collecting(request->heap)) {
        shelf->pool->lookups++;
    }
    const plim_free_cursor cursor = find_at(&request->heap->allocator->settings, shelf,
                                            request->rounded_bytes, request->is_expandable);
    return plim_policy_take(shelf, cursor);
}

static uint64_t split(const plim_request *request, const plim_heap_block *block)
{
    const plim_private_pool *owner = request->shelf->pool->owner;
    if (owner != NULL && owner->is_no_split) {
        return 0;
    }
    return split_of(&request->heap->allocator->settings, request->shelf, block->bytes,
                    request->rounded_bytes, request->is_expandable);
}

/* --- when none is found --- */

/* True if throw_on_cudamalloc_oom refuses before the driver is asked (alloc_block). */
static bool is_rejected(const plim_request *request)
{
    const plim_heap *heap = request->heap;
    const plim_settings *settings = &heap->allocator->settings;
    const double limit =
        settings->per_process_memory_fraction * (double)heap->properties.total_bytes;
    return settings->throw_on_cudamalloc_oom &&
           heap->reserved_bytes + request->segment_bytes > (uint64_t)limit;
}

/* New memory from the device, within the limit (alloc_block). */
static plim_attempt attempt(plim_request *request, bool is_retry, plim_heap_block **ret_block,
                            plim_error *err)
{
    plim_heap *heap = request->heap;
    if (is_retry) {
        heap->stats.num_alloc_retries++;
    }
    if (heap->limit_bytes != PLIM_UNLIMITED &&
        heap->reserved_bytes + request->segment_bytes > heap->limit_bytes) {
        return PLIM_ATTEMPT_NO_MEMORY;
    }
    if (is_rejected(request)) {
        heap->stats.num_oom_rejections++;
        request->is_rejected = true;
        return PLIM_ATTEMPT_NO_MEMORY;
    }
    if (!request->is_expandable) {
        return plim_segment_alloc(request->shelf, request->segment_bytes, request->stack, ret_block,
                                  err);
    }
    const plim_attempt result = plim_expandable_alloc(request->shelf, request->rounded_bytes,
                                                      request->stack, ret_block, err);
    if (result == PLIM_ATTEMPT_DONE && request->shelf->pool->owner != NULL) {
        request->shelf->pool->owner->driver_allocations++;
    }
    return result;
}

/* A free block of a private pool that lends to the default pool: looked up, nothing allocated. */
static plim_heap_block *borrow(plim_request *request)
{
    plim_heap *heap = request->heap;
    if (request->shelf->pool->owner != NULL) {
        return NULL;
    }
    const bool is_small = request->shelf->pool->is_small;
    plim_shelf *own = request->shelf;
    const bool is_expandable = request->is_expandable;
    request->is_expandable = false; /* PyTorch forgets that here: expandable blocks are not lent */
    for (size_t i = 0; i < heap->private_pools.count; i++) {
        plim_private_pool *pool = heap->private_pools.items[i];
        if (!pool->is_use_on_oom) {
            continue;
        }
        plim_shelf *shelf =
            plim_shelf_find(is_small ? &pool->small : &pool->large, request->stream);
        if (shelf == NULL || !plim_free_set_settle(&shelf->blocks)) {
            continue;
        }
        request->shelf = shelf;
        plim_heap_block *block = find(request);
        if (block != NULL) {
            return block;
        }
        request->shelf = own;
    }
    request->is_expandable = is_expandable;
    return NULL;
}

/* The chain in malloc's middle: the first that succeeds wins. */
static plim_attempt obtain(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    if (is_collecting(heap) && plim_collect_garbage(heap, request->stack, err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    plim_attempt result = attempt(request, false, ret_block, err);
    if (result != PLIM_ATTEMPT_NO_MEMORY || request->is_rejected) {
        return result;
    }
    plim_heap_block *block = borrow(request);
    if (block != NULL) {
        *ret_block = block;
        return PLIM_ATTEMPT_DONE;
    }
    bool is_enough = false;
    if (plim_release_oversize(request->shelf, request->rounded_bytes, request->stack, &is_enough,
                              err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    if (is_enough) {
        result = attempt(request, false, ret_block, err);
    }
    if (result == PLIM_ATTEMPT_NO_MEMORY && heap->routings.count == 0) {
        if (plim_release_cached(heap, (plim_pool_id){ 0, 0 }, request->stack, err) != PLIM_OK) {
            return PLIM_ATTEMPT_FAILED;
        }
        result = attempt(request, true, ret_block, err);
    }
    return result;
}

const plim_policy plim_policy_torch = {
    .prepare = prepare,
    .find = find,
    .obtain = obtain,
    .split = split,
    .fit = fit,
    .unit_bytes = PLIM_BLOCK_BYTES_MIN,
    .small_bytes_max = PLIM_SMALL_BYTES_MAX,
    .has_divisions = true,
};
