/*
 * queries.c - the public functions besides malloc and free: blocks, the cache, limits, settings,
 * statistics, and the allocator's own host memory.
 */
#include "plimsoll/allocator.h"

#include "alloc/core/check.h"
#include "alloc/core/free.h"
#include "alloc/core/policy.h"
#include "alloc/core/pools.h"
#include "alloc/core/world.h"
#include "alloc/observers.h"
#include "alloc/vm/expandable.h"
#include "alloc/vm/release.h"
#include "base/error.h"
#include "settings/rounding.h"

#include <inttypes.h>
#include <string.h>

static plim_status not_live(plim_error *err, plim_addr addr)
{
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "invalid device pointer: 0x%" PRIx64 " is not a live block", addr);
}

/* --- blocks --- */

plim_status plim_record_stream(plim_allocator *allocator, plim_addr addr, plim_stream stream,
                               plim_error *err)
{
    if (addr == 0) {
        return PLIM_OK;
    }
    plim_heap_block *block = NULL;
    plim_heap *heap = plim_stop_world_of(allocator, addr, &block);
    if (heap == NULL) {
        return not_live(err, addr);
    }
    PLIM_WORLD_HELD(heap);
    return plim_use_add(heap, block, stream, err);
}

plim_status plim_block_bytes(plim_allocator *allocator, plim_addr addr, uint64_t *ret_block_bytes,
                             uint64_t *ret_requested_bytes, plim_error *err)
{
    plim_heap_block *block = NULL;
    plim_heap *heap = plim_stop_world_of(allocator, addr, &block);
    if (heap == NULL) {
        return not_live(err, addr);
    }
    PLIM_WORLD_HELD(heap);
    if (ret_block_bytes != NULL) {
        *ret_block_bytes = block->bytes;
    }
    if (ret_requested_bytes != NULL) {
        *ret_requested_bytes = block->requested_bytes;
    }
    return PLIM_OK;
}

plim_status plim_base_allocation(plim_allocator *allocator, plim_addr addr, plim_addr *ret_base,
                                 uint64_t *ret_bytes, plim_error *err)
{
    plim_heap_block *block = NULL;
    plim_heap *heap = plim_stop_world_of(allocator, addr, &block);
    if (heap == NULL) {
        return not_live(err, addr);
    }
    PLIM_WORLD_HELD(heap);
    const plim_heap_block *first = block;
    while (first->prev != NULL && first->prev->is_mapped) {
        first = first->prev;
    }
    uint64_t bytes = 0;
    for (const plim_heap_block *at = first; at != NULL && at->is_mapped; at = at->next) {
        bytes += at->bytes;
    }
    if (ret_base != NULL) {
        *ret_base = first->addr;
    }
    if (ret_bytes != NULL) {
        *ret_bytes = bytes;
    }
    return PLIM_OK;
}

/* --- the cache --- */

plim_status plim_empty_cache(plim_allocator *allocator, const plim_pool_id *pool, plim_error *err)
{
    const uint32_t stack = plim_take_stack(allocator, PLIM_STACKS_ALL);
    const plim_pool_id id = pool != NULL ? *pool : (plim_pool_id){ 0, 0 };
    plim_status first = PLIM_OK;
    for (size_t i = 0; i < allocator->heap_count; i++) {
        plim_heap *heap = &allocator->heaps[i];
        plim_world_stop(heap);
        const plim_status status =
            plim_release_cached(heap, id, stack, first == PLIM_OK ? err : NULL);
        plim_world_resume(heap, NULL);
        first = first == PLIM_OK ? status : first;
    }
    return first;
}

plim_status plim_cache_info(plim_allocator *allocator, int32_t device, uint64_t *largest_bytes,
                            plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    plim_status status = PLIM_OK;
    if (*largest_bytes == 0) {
        uint64_t total_bytes = 0;
        status = heap->device.ops->info(heap->device.self, largest_bytes, &total_bytes, err);
    }
    for (const plim_segment_record *segment = heap->segments; segment != NULL;
         segment = segment->next) {
        for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
            if (block->is_mapped && block->state == PLIM_BLOCK_IS_FREE &&
                block->bytes > *largest_bytes) {
                *largest_bytes = block->bytes;
            }
        }
    }
    return status;
}

/* --- limits and settings --- */

plim_status plim_set_memory_fraction(plim_allocator *allocator, int32_t device, double fraction,
                                     plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    if (!(fraction >= 0 && fraction <= 1)) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "a memory fraction is from 0 to 1, not %g",
                         fraction);
    }
    PLIM_WORLD_HOLD(heap);
    heap->limit_bytes =
        fraction < 1 ? (uint64_t)(fraction * (double)heap->properties.total_bytes) : PLIM_UNLIMITED;
    return PLIM_OK;
}

double plim_memory_fraction(plim_allocator *allocator, int32_t device)
{
    plim_heap *heap = plim_heap_of(allocator, device, NULL);
    if (heap == NULL) {
        return 1;
    }
    PLIM_WORLD_HOLD(heap);
    return heap->limit_bytes == PLIM_UNLIMITED
               ? 1
               : (double)heap->limit_bytes / (double)heap->properties.total_bytes;
}

plim_status plim_allocator_configure(plim_allocator *allocator, const char *text, plim_error *err)
{
    PLIM_WORLDS_HOLD(allocator);
    const plim_status status = plim_settings_parse(text, &allocator->settings, err);
    allocator->has_divisions =
        allocator->policy->has_divisions && plim_rounding_of(&allocator->settings).has_divisions;
    return status;
}

void plim_allocator_settings(plim_allocator *allocator, plim_settings *ret_settings)
{
    pthread_mutex_lock(&allocator->lock);
    *ret_settings = allocator->settings;
    pthread_mutex_unlock(&allocator->lock);
}

void plim_set_caching(plim_allocator *allocator, bool enabled)
{
    plim_worlds_stop(allocator);
    atomic_store_explicit(&allocator->is_caching, enabled, memory_order_relaxed);
    plim_worlds_resume(allocator);
}

static plim_status add_peer(plim_heap *heap, int32_t device, plim_error *err)
{
    for (size_t i = 0; i < heap->peers.count; i++) {
        if (heap->peers.items[i] == device) {
            return PLIM_OK;
        }
    }
    if (!PLIM_VEC_PUSH(heap->allocator->mem, &heap->peers, device)) {
        return plim_fail_memory(err, "adding a peer");
    }
    for (plim_segment_record *segment = heap->segments; segment != NULL; segment = segment->next) {
        if (segment->expandable != NULL) {
            PLIM_TRY(plim_expandable_share(segment, device, err));
        }
    }
    return PLIM_OK;
}

plim_status plim_enable_peer_access(plim_allocator *allocator, int32_t device, int32_t owner,
                                    plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, owner, err);
    if (heap == NULL || plim_heap_of(allocator, device, err) == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    if (device == owner) {
        return PLIM_OK;
    }
    PLIM_WORLD_HOLD(heap);
    return add_peer(heap, device, err);
}

/* Adds the live blocks of a segment, and those among some addresses. */
static void count_held(const plim_segment_record *segment, plim_addr_list addrs, size_t *live,
                       size_t *found)
{
    for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
        *live += block->state == PLIM_BLOCK_IS_LIVE ? 1 : 0;
    }
    for (size_t i = 0; i < addrs.count; i++) {
        const bool is_inside = addrs.items[i] - segment->addr < segment->bytes;
        *found += is_inside && plim_page_index_find(&segment->pages, segment->addr,
                                                    addrs.items[i]) != NULL
                      ? 1
                      : 0;
    }
}

plim_status plim_pool_holds_exactly(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                    plim_addr_list addrs, bool *ret_holds, plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    const plim_private_pool *owner = plim_private_pool_find(heap, pool);
    if (owner == NULL) {
        return plim_no_such_pool(err, pool, device);
    }
    size_t live = 0, found = 0;
    for (const plim_segment_record *segment = heap->segments; segment != NULL;
         segment = segment->next) {
        if (plim_shelf_of_segment(segment)->pool->owner == owner) {
            count_held(segment, addrs, &live, &found);
        }
    }
    *ret_holds = live == addrs.count && found == addrs.count;
    return PLIM_OK;
}

/* --- the last failure, and counters --- */

bool plim_allocator_last_oom(plim_allocator *allocator, int32_t device, plim_oom_facts *ret_facts)
{
    plim_heap *heap = plim_heap_of(allocator, device, NULL);
    if (heap == NULL) {
        return false;
    }
    PLIM_WORLD_HOLD(heap);
    if (heap->has_oom) {
        *ret_facts = heap->last_oom;
    }
    return heap->has_oom;
}

plim_status plim_allocator_stats(plim_allocator *allocator, int32_t device,
                                 plim_device_stats *ret_stats, plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    plim_world_settle(heap);
    *ret_stats = heap->stats;
    return PLIM_OK;
}

plim_status plim_pool_reserved(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                               plim_stat ret_stats[PLIM_SLOT_COUNT], plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_WORLD_HOLD(heap);
    const plim_private_pool *found = plim_private_pool_find(heap, pool);
    if (found == NULL) {
        return plim_no_such_pool(err, pool, device);
    }
    memcpy(ret_stats, found->reserved, sizeof found->reserved);
    return PLIM_OK;
}

/* A private pool's statistics are reset as if they were a device's. */
static void reset_pool(plim_private_pool *pool, void (*reset)(plim_device_stats *stats))
{
    plim_device_stats stats = { .num_ooms = 0 };
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        stats.families[PLIM_STAT_RESERVED_BYTES][slot] = pool->reserved[slot];
    }
    reset(&stats);
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        pool->reserved[slot] = stats.families[PLIM_STAT_RESERVED_BYTES][slot];
    }
}

static void reset_stats(plim_allocator *allocator, int32_t device,
                        void (*reset)(plim_device_stats *stats))
{
    plim_heap *heap = plim_heap_of(allocator, device, NULL);
    if (heap == NULL) {
        return;
    }
    PLIM_WORLD_HOLD(heap);
    plim_world_settle(heap);
    reset(&heap->stats);
    for (size_t i = 0; i < heap->private_pools.count; i++) {
        reset_pool(heap->private_pools.items[i], reset);
    }
    plim_ledger_open(&heap->ledger, &heap->stats, 1);
}

void plim_allocator_reset_peak_stats(plim_allocator *allocator, int32_t device)
{
    reset_stats(allocator, device, plim_stats_reset_peak);
}

void plim_allocator_reset_accumulated_stats(plim_allocator *allocator, int32_t device)
{
    reset_stats(allocator, device, plim_stats_reset_accumulated);
}

plim_status plim_allocator_check(plim_allocator *allocator, plim_error *err)
{
    plim_status first = PLIM_OK;
    for (size_t i = 0; i < allocator->heap_count && first == PLIM_OK; i++) {
        plim_world_stop(&allocator->heaps[i]);
        first = plim_heap_check(&allocator->heaps[i], err);
        plim_world_resume(&allocator->heaps[i], NULL);
    }
    return first;
}

/* --- what the allocator itself takes from the host --- */

static void add_pool(const plim_pool *pool, plim_metadata *sum)
{
    for (size_t i = 0; i < pool->shelves.count; i++) {
        const plim_shelf *shelf = pool->shelves.items[i];
        sum->free_set_bytes += shelf->blocks.bytes + shelf->unmapped.bytes;
    }
}

static void add_segments(const plim_heap *heap, plim_metadata *sum)
{
    for (const plim_segment_record *segment = heap->segments; segment != NULL;
         segment = segment->next) {
        for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
            sum->blocks++;
        }
        sum->index_bytes +=
            segment->pages.items != NULL ? segment->pages.count * sizeof *segment->pages.items : 0;
        sum->segment_bytes += sizeof *segment;
        if (segment->expandable != NULL) {
            sum->segment_bytes +=
                sizeof *segment->expandable +
                segment->expandable->handle_count * sizeof *segment->expandable->handles;
        }
    }
}

void plim_allocator_metadata(plim_allocator *allocator, plim_metadata *ret_metadata)
{
    plim_metadata sum = { 0 };
    plim_worlds_stop(allocator);
    for (size_t i = 0; i < allocator->heap_count; i++) {
        const plim_heap *heap = &allocator->heaps[i];
        add_segments(heap, &sum);
        add_pool(&heap->small, &sum);
        add_pool(&heap->large, &sum);
        for (size_t p = 0; p < heap->private_pools.count; p++) {
            add_pool(&heap->private_pools.items[p]->small, &sum);
            add_pool(&heap->private_pools.items[p]->large, &sum);
        }
        sum.history_bytes += heap->ring.bytes;
    }
    sum.block_bytes = allocator->blocks.bytes;
    sum.index_bytes += allocator->nodes.bytes + allocator->directory.bytes;
    sum.history_bytes += plim_stacks_bytes(allocator->stacks);
    sum.total_bytes = atomic_load(&allocator->total_bytes);
    plim_worlds_resume(allocator);
    *ret_metadata = sum;
}
