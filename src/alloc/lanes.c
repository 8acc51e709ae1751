/*
 * lanes.c - lanes by stream: found without a lock, made with the world stopped. See lanes.h.
 */
#include "alloc/lanes.h"

#include "alloc/shelf.h"

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
    plim_shelf_deinit(&lane->small);
    plim_shelf_deinit(&lane->large);
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
    if (!plim_shelf_init(&lane->small, &heap->small, heap, lane, stream) ||
        !plim_shelf_init(&lane->large, &heap->large, heap, lane, stream) ||
        !plim_shared_add(&heap->lanes, mem, hash_lane, lane)) {
        destroy(heap, lane);
        return NULL;
    }
    return lane;
}
