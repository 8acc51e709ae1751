/*
 * world.c - lanes, and stopping them. See world.h and heap.h.
 */
#include "alloc/core/world.h"

#include "alloc/core/lane.h"
#include "alloc/core/policy.h"
#include "base/error.h"

#define OPEN_LANES_MAX 16 /* stopping the world takes each one's lock */

void plim_world_stop(plim_heap *heap)
{
    plim_spin_lock(&heap->lock);
    for (size_t i = 0; i < heap->open_lanes.count; i++) {
        plim_biased_acquire(&heap->open_lanes.items[i]->lock);
    }
    if (heap->open_lanes.count == 0) {
        return; /* the heap's own ledger is open since last time */
    }
    const plim_policy *policy = heap->allocator->policy;
    for (size_t i = 0; i < heap->open_lanes.count; i++) {
        plim_lane *lane = heap->open_lanes.items[i];
        plim_lane_settle(lane);
        const uint64_t frees = policy->lane_freed != NULL ? plim_ledger_frees(&lane->ledger) : 0;
        if (frees > 0) {
            policy->lane_freed(lane, frees);
        }
        plim_ledger_fold(&lane->ledger, &heap->stats);
    }
    plim_ledger_open(&heap->ledger, &heap->stats, 1);
}

void plim_world_settle(plim_heap *heap)
{
    plim_ledger_fold(&heap->ledger, &heap->stats);
    plim_ledger_open(&heap->ledger, &heap->stats, 1);
}

/* Cases that the fast path leaves out must be absent: it only takes from and gives to free sets. */
static bool may_open_any(const plim_heap *heap)
{
    const plim_allocator *allocator = heap->allocator;
    const bool is_collecting =
        heap->limit_bytes != PLIM_UNLIMITED && allocator->settings.garbage_collection_threshold > 0;
    return allocator->policy->fit != NULL && heap->routings.count == 0 &&
           heap->queued_events == 0 && heap->deferred == NULL && heap->homes.count == 0 &&
           !is_collecting && allocator->hardening == PLIM_HARDENING_NONE &&
           atomic_load_explicit(&allocator->is_caching, memory_order_relaxed);
}

static bool may_open(const plim_lane *lane)
{
    const plim_policy *policy = lane->heap->allocator->policy;
    return policy->may_open == NULL || policy->may_open(lane);
}

/* Closes the open lanes that were not used since they were opened, or all. */
static void close_lanes(plim_heap *heap, const plim_lane *but, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < heap->open_lanes.count; i++) {
        plim_lane *lane = heap->open_lanes.items[i];
        if (!all && may_open(lane) && (lane == but || plim_ledger_is_used(&lane->ledger))) {
            heap->open_lanes.items[kept] = lane;
            kept++;
            continue;
        }
        lane->is_open = false;
        plim_biased_release(&lane->lock);
    }
    heap->open_lanes.count = kept;
}

/* Adds a lane to the open ones, in the order of streams. */
static void open_lane(plim_heap *heap, plim_lane *lane)
{
    if (lane->is_open || heap->open_lanes.count == OPEN_LANES_MAX ||
        !PLIM_VEC_PUSH(heap->allocator->mem, &heap->open_lanes, lane)) {
        return;
    }
    size_t at = heap->open_lanes.count - 1;
    for (; at > 0 && heap->open_lanes.items[at - 1]->stream > lane->stream; at--) {
        heap->open_lanes.items[at] = heap->open_lanes.items[at - 1];
    }
    heap->open_lanes.items[at] = lane;
    plim_biased_acquire(&lane->lock);
    lane->is_open = true;
}

void plim_world_resume(plim_heap *heap, plim_lane *lane)
{
    const bool may = may_open_any(heap);
    close_lanes(heap, lane, !may);
    if (may && lane != NULL && may_open(lane)) {
        open_lane(heap, lane);
    }
    if (heap->open_lanes.count > 0) {
        plim_ledger_fold(&heap->ledger, &heap->stats);
    }
    const size_t count = heap->open_lanes.count;
    for (size_t i = 0; i < count; i++) {
        plim_lane *open = heap->open_lanes.items[i];
        plim_ledger_open(&open->ledger, &heap->stats, (int64_t)count);
        plim_biased_release(&open->lock);
    }
    plim_spin_unlock(&heap->lock);
}

void plim_worlds_stop(plim_allocator *allocator)
{
    for (size_t i = 0; i < allocator->heap_count; i++) {
        plim_world_stop(&allocator->heaps[i]);
    }
}

void plim_worlds_resume(plim_allocator *allocator)
{
    for (size_t i = allocator->heap_count; i > 0; i--) {
        plim_world_resume(&allocator->heaps[i - 1], NULL);
    }
}

plim_heap *plim_heap_of(plim_allocator *allocator, int32_t device, plim_error *err)
{
    if (device < 0 || (size_t)device >= allocator->heap_count) {
        (void)plim_fail(err, PLIM_INVALID_ARGUMENT, "no device %d: the allocator has %zu",
                        (int)device, allocator->heap_count);
        return NULL;
    }
    return &allocator->heaps[device];
}

plim_heap *plim_stop_world_of(plim_allocator *allocator, plim_addr addr,
                              plim_heap_block **ret_block)
{
    plim_segment_record *segment = plim_directory_find(&allocator->directory, addr);
    plim_heap *heap = segment != NULL ? atomic_load(&segment->heap) : NULL;
    if (heap == NULL) {
        return NULL;
    }
    plim_world_stop(heap);
    segment = plim_directory_find(&allocator->directory, addr); /* it may be another by now */
    if (segment != NULL && atomic_load(&segment->heap) == heap) {
        *ret_block = plim_page_index_find(&segment->pages, segment->addr, addr);
        if (*ret_block != NULL) {
            return heap;
        }
    }
    plim_world_resume(heap, NULL);
    return NULL;
}
