/*
 * segments.c - plain segments, and the records of all. See segments.h.
 */
#include "alloc/vm/segments.h"

#include "alloc/core/events.h"
#include "alloc/core/ledger.h"
#include "alloc/core/place.h"
#include "alloc/core/world.h"
#include "base/assert.h"
#include "base/error.h"

/* A record that is in use nowhere; all stay where they are until the allocator is destroyed,
 * because a stale pointer may be looked through. */
static plim_segment_record *new_record(plim_allocator *allocator)
{
    plim_spin_lock(&allocator->segment_lock);
    plim_segment_record *record = allocator->spare_segments;
    if (record != NULL) {
        allocator->spare_segments = record->next;
    }
    plim_spin_unlock(&allocator->segment_lock);
    if (record != NULL) {
        return record;
    }
    record = plim_mem_alloc_zeroed(allocator->mem, 1, sizeof *record);
    if (record == NULL) {
        return NULL;
    }
    plim_spin_lock(&allocator->segment_lock);
    const bool is_kept = PLIM_VEC_PUSH(allocator->mem, &allocator->segment_records, record);
    plim_spin_unlock(&allocator->segment_lock);
    if (!is_kept) {
        plim_mem_free(allocator->mem, record, 1, sizeof *record);
        return NULL;
    }
    return record;
}

static void free_record(plim_allocator *allocator, plim_segment_record *record)
{
    plim_page_index_deinit(&record->pages, allocator->mem, &allocator->nodes);
    plim_spin_lock(&allocator->segment_lock);
    atomic_store_explicit(&record->shelf, NULL, memory_order_relaxed);
    record->expandable = NULL;
    record->head = NULL;
    record->prev = NULL;
    record->next = allocator->spare_segments;
    allocator->spare_segments = record;
    plim_spin_unlock(&allocator->segment_lock);
}

static void link_segment(plim_heap *heap, plim_segment_record *segment)
{
    segment->prev = heap->segments_last;
    segment->next = NULL;
    *(heap->segments_last != NULL ? &heap->segments_last->next : &heap->segments) = segment;
    heap->segments_last = segment;
    heap->segment_count++;
    plim_private_pool *owner = plim_shelf_of_segment(segment)->pool->owner;
    if (owner != NULL) {
        owner->segment_count++;
    }
}

static void unlink_segment(plim_heap *heap, plim_segment_record *segment)
{
    *(segment->prev != NULL ? &segment->prev->next : &heap->segments) = segment->next;
    *(segment->next != NULL ? &segment->next->prev : &heap->segments_last) = segment->prev;
    heap->segment_count--;
    plim_private_pool *owner = plim_shelf_of_segment(segment)->pool->owner;
    if (owner != NULL) {
        owner->segment_count--;
    }
}

static bool enter_directory(plim_allocator *allocator, plim_segment_record *segment)
{
    plim_spin_lock(&allocator->directory_lock);
    const bool is_entered =
        plim_directory_add(&allocator->directory, segment->addr, segment->bytes, segment);
    plim_spin_unlock(&allocator->directory_lock);
    return is_entered;
}

plim_segment_record *plim_segment_add(plim_shelf *shelf, plim_addr addr, uint64_t bytes,
                                      bool is_mapped)
{
    plim_heap *heap = shelf->heap;
    plim_allocator *allocator = heap->allocator;
    if (!plim_slab_fill(&allocator->blocks, &heap->spare, 1)) {
        return NULL;
    }
    plim_segment_record *segment = new_record(allocator);
    if (segment == NULL) {
        return NULL;
    }
    segment->addr = addr;
    segment->bytes = bytes;
    segment->expandable = NULL;
    segment->causes.count = 0;
    atomic_store_explicit(&segment->heap, heap, memory_order_relaxed);
    atomic_store_explicit(&segment->lane, shelf->lane, memory_order_relaxed);
    atomic_store_explicit(&segment->shelf, shelf, memory_order_relaxed);
    if (!plim_page_index_init(&segment->pages, allocator->mem, bytes) ||
        !enter_directory(allocator, segment)) {
        free_record(allocator, segment);
        return NULL;
    }
    plim_heap_block *block = plim_block_new(&heap->spare);
    PLIM_ASSERT(block != NULL);
    *block = (plim_heap_block){ .addr = addr,
                                .bytes = bytes,
                                .segment = segment,
                                .stack = PLIM_NONE,
                                .state = PLIM_BLOCK_IS_FREE,
                                .is_mapped = is_mapped };
    segment->head = block;
    link_segment(heap, segment);
    return segment;
}

/* A place among the causes that no block has; beyond the last where all are taken. */
static size_t unused_cause(const plim_segment_record *segment)
{
    uint64_t used[2] = { 0, 0 };
    size_t place = 1;
    for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
        used[block->cause / 64] |= UINT64_C(1) << block->cause % 64;
    }
    while (place <= segment->causes.count && (used[place / 64] >> place % 64 & 1) != 0) {
        place++;
    }
    return place;
}

void plim_segment_set_cause(plim_heap_block *block, uint32_t stack)
{
    plim_segment_record *const segment = block->segment;
    plim_allocator *const allocator = plim_shelf_of_segment(segment)->heap->allocator;
    const size_t place = stack != PLIM_NONE ? unused_cause(segment) : 0;
    if (place == 0 || place > PLIM_CAUSES_MAX ||
        (place > segment->causes.count &&
         !PLIM_VEC_PUSH(allocator->mem, &segment->causes, PLIM_NONE))) {
        return;
    }
    segment->causes.items[place - 1] = stack;
    block->cause = (unsigned)place & PLIM_CAUSES_MAX;
    atomic_store_explicit(&allocator->has_causes, true, memory_order_relaxed);
}

void plim_segment_remove(plim_segment_record *segment)
{
    plim_heap *heap = plim_shelf_of_segment(segment)->heap;
    plim_allocator *allocator = heap->allocator;
    PLIM_ASSERT(!plim_block_is_split(segment->head));
    plim_spin_lock(&allocator->directory_lock);
    plim_directory_remove(&allocator->directory, segment->addr, segment->bytes, segment);
    plim_spin_unlock(&allocator->directory_lock);
    unlink_segment(heap, segment);
    plim_block_free(&heap->spare, segment->head);
    free_record(allocator, segment);
}

void plim_segment_count(plim_shelf *shelf, int64_t bytes)
{
    plim_heap *heap = shelf->heap;
    const bool is_small = shelf->pool->is_small;
    plim_private_pool *owner = shelf->pool->owner;
    for (int i = 0; owner != NULL && i < 2; i++) {
        plim_stat *stat = &owner->reserved[i == 0 ? PLIM_SLOT_ALL : plim_slot_of(is_small)];
        if (bytes > 0) {
            plim_stat_increase(stat, bytes);
        } else {
            plim_stat_decrease(stat, -bytes);
        }
    }
    if (bytes > 0) {
        heap->reserved_bytes += (uint64_t)bytes;
        plim_stats_increase(&heap->stats, PLIM_STAT_RESERVED_BYTES, is_small, bytes);
    } else {
        heap->reserved_bytes -= (uint64_t)-bytes;
        plim_stats_decrease(&heap->stats, PLIM_STAT_RESERVED_BYTES, is_small, -bytes);
    }
}

/* --- plain memory --- */

static plim_status take_from_device(plim_shelf *shelf, uint64_t bytes, plim_addr *ret_addr,
                                    plim_error *err)
{
    plim_heap *heap = shelf->heap;
    const plim_private_pool *owner = shelf->pool->owner;
    if (owner == NULL || !owner->has_source) {
        const bool lets_go = owner == NULL && heap->allocator->settings.release_lock_on_cudamalloc;
        if (lets_go) {
            plim_world_resume(heap, NULL);
        }
        const plim_status status =
            heap->device.ops->memory_alloc(heap->device.self, bytes, ret_addr, err);
        if (lets_go) {
            plim_world_stop(heap);
        }
        return status;
    }
    const plim_addr addr =
        owner->source.alloc(owner->source.ctx, bytes, heap->index, shelf->stream);
    if (addr == 0) {
        return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY, "the pool's own source has no memory");
    }
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status give_to_device(const plim_shelf *shelf, plim_addr addr, uint64_t bytes,
                                  plim_error *err)
{
    const plim_heap *heap = shelf->heap;
    const plim_private_pool *owner = shelf->pool->owner;
    if (owner == NULL || !owner->has_source) {
        return heap->device.ops->memory_free(heap->device.self, addr, err);
    }
    owner->source.free(owner->source.ctx, addr, bytes, heap->index, shelf->stream);
    return PLIM_OK;
}

plim_attempt plim_segment_alloc(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = shelf->heap;
    plim_addr addr = 0;
    const plim_status status = take_from_device(shelf, bytes, &addr, err);
    if (status != PLIM_OK) {
        return status == PLIM_OUT_OF_DEVICE_MEMORY ? PLIM_ATTEMPT_NO_MEMORY : PLIM_ATTEMPT_FAILED;
    }
    plim_segment_record *segment = plim_segment_add(shelf, addr, bytes, true);
    if (segment == NULL) {
        (void)give_to_device(shelf, addr, bytes, NULL);
        (void)plim_fail_memory(err, "adding a segment");
        return PLIM_ATTEMPT_FAILED;
    }
    plim_segment_set_cause(segment->head, stack);
    if (shelf->pool->owner != NULL) {
        shelf->pool->owner->driver_allocations++;
    }
    plim_segment_count(shelf, (int64_t)bytes);
    heap->stats.num_device_alloc++;
    plim_stats_increase(&heap->stats, PLIM_STAT_SEGMENT, shelf->pool->is_small, 1);
    if (bytes >= heap->allocator->settings.max_split_bytes) {
        plim_stat_increase(&heap->stats.oversize_segments, 1);
    }
    plim_emit(heap, shelf->pool,
              &(plim_event){ .action = PLIM_SEGMENT_ALLOC,
                             .addr = addr,
                             .bytes = bytes,
                             .stream = shelf->stream,
                             .stack = stack });
    *ret_block = segment->head;
    return PLIM_ATTEMPT_DONE;
}

plim_status plim_segment_release(plim_heap_block *block, uint32_t stack, plim_error *err)
{
    plim_segment_record *segment = block->segment;
    plim_shelf *shelf = plim_shelf_of_segment(segment);
    plim_heap *heap = shelf->heap;
    const uint64_t bytes = segment->bytes;
    heap->stats.num_device_free++; /* counted and emitted first, as PyTorch does */
    plim_emit(heap, shelf->pool,
              &(plim_event){ .action = PLIM_SEGMENT_FREE,
                             .addr = segment->addr,
                             .bytes = bytes,
                             .stream = shelf->stream,
                             .stack = stack != PLIM_NONE ? stack : plim_cause_of(block) });
    PLIM_TRY(give_to_device(shelf, segment->addr, bytes, err));
    if (shelf->pool->owner != NULL) {
        shelf->pool->owner->driver_allocations--;
    }
    plim_segment_count(shelf, -(int64_t)bytes);
    plim_stats_decrease(&heap->stats, PLIM_STAT_SEGMENT, shelf->pool->is_small, 1);
    if (bytes >= heap->allocator->settings.max_split_bytes) {
        plim_stat_decrease(&heap->stats.oversize_segments, 1);
    }
    plim_take_free(block);
    plim_segment_remove(segment);
    return PLIM_OK;
}
