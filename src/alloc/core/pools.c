/*
 * pools.c - shelves, lanes, private pools and routing. See pools.h.
 */
#include "alloc/core/pools.h"

#include "alloc/core/free.h"
#include "alloc/core/world.h"
#include "base/error.h"

#include <inttypes.h>

/* --- shelves --- */

static bool init_shelf(plim_shelf *shelf, plim_pool *pool, plim_heap *heap, plim_lane *lane,
                       plim_stream stream)
{
    const plim_mem *mem = heap->allocator->mem;
    *shelf = (plim_shelf){ .pool = pool, .lane = lane, .heap = heap, .stream = stream };
    plim_free_set_init(&shelf->blocks, mem, false);
    plim_free_set_init(&shelf->unmapped, mem, true);
    if (!PLIM_VEC_PUSH(mem, &pool->shelves, shelf)) {
        return false;
    }
    size_t at = pool->shelves.count - 1;
    for (; at > 0 && pool->shelves.items[at - 1]->stream > stream; at--) {
        pool->shelves.items[at] = pool->shelves.items[at - 1];
    }
    pool->shelves.items[at] = shelf;
    return true;
}

static void deinit_shelf(plim_shelf *shelf)
{
    if (shelf->pool == NULL) {
        return;
    }
    plim_free_set_deinit(&shelf->blocks);
    plim_free_set_deinit(&shelf->unmapped);
    plim_pool *pool = shelf->pool;
    size_t kept = 0;
    for (size_t i = 0; i < pool->shelves.count; i++) {
        if (pool->shelves.items[i] != shelf) {
            pool->shelves.items[kept] = pool->shelves.items[i];
            kept++;
        }
    }
    pool->shelves.count = kept;
}

plim_shelf *plim_shelf_find(const plim_pool *pool, plim_stream stream)
{
    for (size_t i = 0; i < pool->shelves.count; i++) {
        if (pool->shelves.items[i]->stream == stream) {
            return pool->shelves.items[i];
        }
    }
    return NULL;
}

/* --- lanes --- */

static uint64_t hash_stream(plim_stream stream)
{
    return (stream * UINT64_C(0x9E3779B97F4A7C15)) >> 40;
}

static uint64_t hash_lane(const void *lane)
{
    return hash_stream(((const plim_lane *)lane)->stream);
}

static bool is_of_stream(const void *lane, const void *stream)
{
    return ((const plim_lane *)lane)->stream == *(const plim_stream *)stream;
}

plim_lane *plim_lane_find(const plim_heap *heap, plim_stream stream)
{
    return plim_shared_find(&heap->lanes, hash_stream(stream), is_of_stream, &stream);
}

static void destroy(plim_heap *heap, plim_lane *lane)
{
    deinit_shelf(&lane->small);
    deinit_shelf(&lane->large);
    plim_mem_free(heap->allocator->mem, lane, 1, sizeof *lane);
}

plim_lane *plim_lane_make(plim_heap *heap, plim_stream stream)
{
    plim_lane *found = plim_lane_find(heap, stream);
    if (found != NULL) {
        return found;
    }
    const plim_mem *const mem = heap->allocator->mem;
    plim_lane *lane = plim_mem_alloc_zeroed(mem, 1, sizeof *lane);
    if (lane == NULL) {
        return NULL;
    }
    lane->stream = stream;
    lane->heap = heap;
    if (!init_shelf(&lane->small, &heap->small, heap, lane, stream) ||
        !init_shelf(&lane->large, &heap->large, heap, lane, stream) ||
        !plim_shared_add(&heap->lanes, mem, hash_lane, lane)) {
        destroy(heap, lane);
        return NULL;
    }
    return lane;
}

plim_shelf *plim_shelf_for(plim_heap *heap, plim_pool *pool, plim_stream stream)
{
    if (pool->owner == NULL) {
        plim_lane *lane = plim_lane_make(heap, stream);
        return lane == NULL ? NULL : (pool->is_small ? &lane->small : &lane->large);
    }
    plim_shelf *found = plim_shelf_find(pool, stream);
    if (found != NULL) {
        return found;
    }
    const plim_mem *mem = heap->allocator->mem;
    plim_shelf *shelf = plim_mem_alloc_zeroed(mem, 1, sizeof *shelf);
    if (shelf == NULL || !init_shelf(shelf, pool, heap, NULL, stream)) {
        plim_mem_free(mem, shelf, 1, sizeof *shelf);
        return NULL;
    }
    return shelf;
}

plim_status plim_shelf_ready(plim_heap *heap, plim_pool *pool, plim_stream stream,
                             plim_shelf **ret_shelf, plim_error *err)
{
    plim_shelf *shelf = plim_shelf_for(heap, pool, stream);
    if (shelf == NULL || !plim_free_set_settle(&shelf->blocks) ||
        !plim_free_set_settle(&shelf->unmapped)) {
        return plim_fail_memory(err, "looking for a free block");
    }
    *ret_shelf = shelf;
    return PLIM_OK;
}

/* --- private pools --- */

plim_pool *plim_pool_for(plim_heap *heap, plim_stream stream, bool is_small)
{
    for (size_t i = heap->routings.count; i > 0; i--) {
        const plim_routing *routing = &heap->routings.items[i - 1];
        if (routing->filter == NULL || routing->filter(routing->filter_ctx, stream)) {
            return is_small ? &routing->pool->small : &routing->pool->large;
        }
    }
    return is_small ? &heap->small : &heap->large;
}

plim_private_pool *plim_private_pool_find(const plim_heap *heap, plim_pool_id id)
{
    for (size_t i = 0; i < heap->private_pools.count; i++) {
        if (plim_pool_ids_equal(heap->private_pools.items[i]->id, id)) {
            return heap->private_pools.items[i];
        }
    }
    return NULL;
}

static void free_shelves(plim_heap *heap, plim_pool *pool)
{
    while (pool->shelves.count > 0) {
        plim_shelf *shelf = pool->shelves.items[pool->shelves.count - 1];
        deinit_shelf(shelf);
        plim_mem_free(heap->allocator->mem, shelf, 1, sizeof *shelf);
    }
    PLIM_VEC_FREE(heap->allocator->mem, &pool->shelves);
}

void plim_private_pool_remove(plim_heap *heap, plim_private_pool *pool)
{
    size_t kept = 0;
    for (size_t i = 0; i < heap->private_pools.count; i++) {
        if (heap->private_pools.items[i] != pool) {
            heap->private_pools.items[kept] = heap->private_pools.items[i];
            kept++;
        }
    }
    heap->private_pools.count = kept;
    free_shelves(heap, &pool->small);
    free_shelves(heap, &pool->large);
    plim_mem_free(heap->allocator->mem, pool, 1, sizeof *pool);
}

void plim_pools_deinit(plim_heap *heap)
{
    while (heap->private_pools.count > 0) {
        plim_private_pool_remove(heap, heap->private_pools.items[0]);
    }
    PLIM_VEC_FREE(heap->allocator->mem, &heap->private_pools);
    PLIM_VEC_FREE(heap->allocator->mem, &heap->routings);
    size_t at = 0;
    for (plim_lane *lane; (lane = plim_shared_next(&heap->lanes, &at)) != NULL;) {
        destroy(heap, lane);
    }
    plim_shared_deinit(&heap->lanes, heap->allocator->mem);
    PLIM_VEC_FREE(heap->allocator->mem, &heap->small.shelves);
    PLIM_VEC_FREE(heap->allocator->mem, &heap->large.shelves);
}

/* Private pools by id; a pool that is there has one user more. */
static plim_status retain(plim_heap *heap, plim_pool_id id, const plim_segment_source *source,
                          plim_private_pool **ret_pool, plim_error *err)
{
    plim_private_pool *pool = plim_private_pool_find(heap, id);
    if (pool != NULL) {
        pool->use_count++;
        *ret_pool = pool;
        return PLIM_OK;
    }
    const plim_mem *mem = heap->allocator->mem;
    pool = plim_mem_alloc_zeroed(mem, 1, sizeof *pool);
    if (pool == NULL || !PLIM_VEC_PUSH(mem, &heap->private_pools, pool)) {
        plim_mem_free(mem, pool, 1, sizeof *pool);
        return plim_fail_memory(err, "making a pool");
    }
    pool->id = id;
    pool->use_count = 1;
    pool->has_source = source != NULL;
    pool->source = source != NULL ? *source : (plim_segment_source){ 0 };
    const struct plim_policy *policy = heap->allocator->private_policy;
    pool->small = (plim_pool){ .owner = pool, .policy = policy, .is_small = true };
    pool->large = (plim_pool){ .owner = pool, .policy = policy };
    size_t at = heap->private_pools.count - 1;
    for (; at > 0; at--) {
        const plim_pool_id before = heap->private_pools.items[at - 1]->id;
        if (before.a < id.a || (before.a == id.a && before.b < id.b)) {
            break;
        }
        heap->private_pools.items[at] = heap->private_pools.items[at - 1];
    }
    heap->private_pools.items[at] = pool;
    *ret_pool = pool;
    return PLIM_OK;
}

/* The heap of a device, for a private pool of it; NULL, and err says why not. */
static plim_heap *heap_of(plim_allocator *allocator, int32_t device, plim_pool_id id,
                          plim_error *err)
{
    if (id.a == 0 && id.b == 0) {
        (void)plim_fail(err, PLIM_INVALID_ARGUMENT, "{0,0} is the default pool, not a private one");
        return NULL;
    }
    return plim_heap_of(allocator, device, err);
}

plim_status plim_no_such_pool(plim_error *err, plim_pool_id id, int32_t device)
{
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "device %d has no pool {%" PRIu64 ",%" PRIu64 "}: it was never made, or has "
                     "been released",
                     (int)device, id.a, id.b);
}

plim_pool_id plim_new_pool_id(plim_allocator *allocator, bool is_capture)
{
    const uint64_t n = atomic_fetch_add(&allocator->pool_ids[is_capture], 1) + 1;
    return is_capture ? (plim_pool_id){ n, 0 } : (plim_pool_id){ 0, n };
}

plim_status plim_pool_retain(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                             const plim_segment_source *source, plim_error *err)
{
    plim_heap *heap = heap_of(allocator, device, pool, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    plim_private_pool *found = NULL;
    PLIM_WORLD_HOLD(heap);
    return retain(heap, pool, source, &found, err);
}

plim_status plim_pool_release(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                              plim_error *err)
{
    plim_heap *heap = heap_of(allocator, device, pool, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    plim_private_pool *found = plim_private_pool_find(heap, pool);
    if (found == NULL || found->use_count == 0) {
        return plim_no_such_pool(err, pool, device);
    }
    found->use_count--;
    return PLIM_OK;
}

int64_t plim_pool_use_count(plim_allocator *allocator, int32_t device, plim_pool_id pool)
{
    plim_heap *heap = heap_of(allocator, device, pool, NULL);
    if (heap == NULL) {
        return 0;
    }
    PLIM_WORLD_HOLD(heap);
    const plim_private_pool *found = plim_private_pool_find(heap, pool);
    return found != NULL ? found->use_count : 0;
}

/* --- routing --- */

static plim_status begin(plim_heap *heap, const plim_routing *routing, plim_error *err)
{
    for (size_t i = 0; i < heap->routings.count; i++) {
        if (plim_pool_ids_equal(heap->routings.items[i].id, routing->id)) {
            return plim_fail(err, PLIM_INVALID_ARGUMENT,
                             "pool {%" PRIu64 ",%" PRIu64 "} already takes allocations; end that "
                             "first",
                             routing->id.a, routing->id.b);
        }
    }
    if (!PLIM_VEC_PUSH(heap->allocator->mem, &heap->routings, *routing)) {
        return plim_fail_memory(err, "routing to a pool");
    }
    plim_private_pool *pool = NULL;
    const plim_status status = retain(heap, routing->id, NULL, &pool, err);
    if (status != PLIM_OK) {
        heap->routings.count--;
        return status;
    }
    heap->routings.items[heap->routings.count - 1].pool = pool;
    return PLIM_OK;
}

plim_status plim_pool_begin(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                            plim_stream_filter *filter, void *filter_ctx, plim_error *err)
{
    plim_heap *heap = heap_of(allocator, device, pool, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    const plim_routing routing = { .id = pool, .filter = filter, .filter_ctx = filter_ctx };
    PLIM_WORLD_HOLD(heap);
    return begin(heap, &routing, err);
}

plim_status plim_pool_end(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                          plim_error *err)
{
    plim_heap *heap = heap_of(allocator, device, pool, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    size_t at = 0;
    while (at < heap->routings.count && !plim_pool_ids_equal(heap->routings.items[at].id, pool)) {
        at++;
    }
    if (at == heap->routings.count) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "pool {%" PRIu64 ",%" PRIu64 "} takes no allocations: begin first", pool.a,
                         pool.b);
    }
    heap->routings.count--;
    for (; at < heap->routings.count; at++) {
        heap->routings.items[at] = heap->routings.items[at + 1];
    }
    return PLIM_OK;
}

/* --- kinds of pools --- */

plim_status plim_pool_set_use_on_oom(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                     bool use, plim_error *err)
{
    plim_heap *heap = heap_of(allocator, device, pool, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    plim_private_pool *found = plim_private_pool_find(heap, pool);
    if (found == NULL) {
        return plim_no_such_pool(err, pool, device);
    }
    found->is_use_on_oom = use;
    return PLIM_OK;
}

plim_status plim_pool_set_no_split(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                   plim_error *err)
{
    plim_heap *heap = heap_of(allocator, device, pool, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    plim_private_pool *found = plim_private_pool_find(heap, pool);
    if (found == NULL) {
        return plim_no_such_pool(err, pool, device);
    }
    found->is_no_split = true;
    return PLIM_OK;
}
