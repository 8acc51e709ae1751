/*
 * lanes.c - lanes by stream: found without a lock, made with the world stopped. See lanes.h.
 */
#include "alloc/lanes.h"

#include "alloc/shelf.h"

#define LANE_SLOTS_MIN 16

static size_t slot_of(const plim_lane_table *table, plim_stream stream)
{
    return (size_t)((stream * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & table->mask;
}

plim_lane *plim_lane_find(const plim_heap *heap, plim_stream stream)
{
    const plim_lane_table *table = atomic_load_explicit(&heap->lanes, memory_order_acquire);
    if (table == NULL) {
        return NULL;
    }
    for (size_t i = slot_of(table, stream);; i = (i + 1) & table->mask) {
        plim_lane *lane = atomic_load_explicit(&table->slots[i], memory_order_acquire);
        if (lane == NULL || lane->stream == stream) {
            return lane;
        }
    }
}

static void put_lane(plim_lane_table *table, plim_lane *lane)
{
    size_t i = slot_of(table, lane->stream);
    while (atomic_load_explicit(&table->slots[i], memory_order_relaxed) != NULL) {
        i = (i + 1) & table->mask;
    }
    atomic_store_explicit(&table->slots[i], lane, memory_order_release);
    table->count++;
}

/* A table with room for one more lane; the old one stays for those that look at it. */
static plim_lane_table *table_with_room(plim_heap *heap)
{
    plim_lane_table *old = atomic_load_explicit(&heap->lanes, memory_order_relaxed);
    if (old != NULL && old->count < (old->mask + 1) / 2) {
        return old;
    }
    const size_t slots = old != NULL ? (old->mask + 1) * 2 : LANE_SLOTS_MIN;
    const size_t bytes = sizeof(plim_lane_table) + slots * sizeof(_Atomic(plim_lane *));
    plim_lane_table *table = plim_mem_alloc_zeroed(heap->allocator->mem, 1, bytes);
    if (table == NULL) {
        return NULL;
    }
    table->mask = slots - 1;
    table->older = old;
    for (size_t i = 0; old != NULL && i <= old->mask; i++) {
        plim_lane *lane = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (lane != NULL) {
            put_lane(table, lane);
        }
    }
    atomic_store_explicit(&heap->lanes, table, memory_order_release);
    return table;
}

plim_lane *plim_lane_make(plim_heap *heap, plim_stream stream)
{
    plim_lane *found = plim_lane_find(heap, stream);
    if (found != NULL) {
        return found;
    }
    plim_lane_table *table = table_with_room(heap);
    plim_lane *lane = plim_mem_alloc_zeroed(heap->allocator->mem, 1, sizeof *lane);
    if (table == NULL || lane == NULL ||
        !plim_shelf_init(&lane->small, &heap->small, heap, lane, stream) ||
        !plim_shelf_init(&lane->large, &heap->large, heap, lane, stream)) {
        if (lane != NULL) {
            plim_shelf_deinit(&lane->small);
            plim_mem_free(heap->allocator->mem, lane, 1, sizeof *lane);
        }
        return NULL;
    }
    lane->stream = stream;
    lane->heap = heap;
    put_lane(table, lane);
    return lane;
}
