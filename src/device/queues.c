/*
 * queues.c - counting fences. See queues.h.
 *
 * A fence's handle is the index of its slot plus one, and above it how often the slot was used.
 */
#include "device/queues.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/numbers.h"

#include <inttypes.h>

#define FENCE_INDEX_MASK UINT64_C(0xffffffff)
#define FIRST_STREAM                                                            \
    UINT64_C(0x510000000000) /* like a pointer: no history is likely to name it \
                              */
#define STREAM_STEP UINT64_C(0x100)

void plim_queues_init(plim_queues *queues, const plim_mem *mem, const char *name)
{
    *queues = (plim_queues){
        .mem = mem, .name = name, .next_stream = FIRST_STREAM, .free_fence = PLIM_MAP_ABSENT
    };
    plim_map_init(&queues->indices, mem);
}

void plim_queues_deinit(plim_queues *queues)
{
    PLIM_VEC_FREE(queues->mem, &queues->items);
    PLIM_VEC_FREE(queues->mem, &queues->fences);
    plim_map_deinit(&queues->indices);
}

/* --- streams --- */

plim_queue *plim_queues_find(const plim_queues *queues, plim_stream stream)
{
    const uint64_t index = plim_map_get(&queues->indices, stream);
    return index == PLIM_MAP_ABSENT ? NULL : &queues->items.items[index];
}

plim_queue *plim_queues_of(plim_queues *queues, plim_stream stream)
{
    plim_queue *const found = plim_queues_find(queues, stream);
    if (found != NULL) {
        return found;
    }
    PLIM_ASSERT(queues->items.items != NULL || queues->items.capacity == 0);
    const bool is_in_range =
        queues->manual_count == 0 || stream - queues->manual_first < queues->manual_count;
    const plim_queue queue = { .is_manual = queues->is_manual && is_in_range };
    if (queues->items.count >= UINT32_MAX || !PLIM_VEC_PUSH(queues->mem, &queues->items, queue)) {
        return NULL;
    }
    if (!plim_map_put(&queues->indices, stream, queues->items.count - 1)) {
        queues->items.count--;
        return NULL;
    }
    return &queues->items.items[queues->items.count - 1];
}

plim_status plim_queues_create(plim_queues *queues, plim_stream *ret_stream, plim_error *err)
{
    plim_queue *const queue = plim_queues_of(queues, queues->next_stream);
    if (queue == NULL) {
        return plim_fail_memory(err, "making a stream");
    }
    queue->is_created = true;
    *ret_stream = queues->next_stream;
    queues->next_stream += STREAM_STEP;
    return PLIM_OK;
}

plim_status plim_queues_destroy(plim_queues *queues, plim_stream stream, plim_error *err)
{
    plim_queue *const queue = plim_queues_find(queues, stream);
    if (queue == NULL || !queue->is_created) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "%s: stream 0x%" PRIx64 " was not created here", queues->name, stream);
    }
    queue->is_created = false; /* what is recorded on it goes on */
    return PLIM_OK;
}

void plim_queues_complete(plim_queues *queues, plim_stream stream)
{
    plim_queue *const queue = plim_queues_find(queues, stream);
    if (queue != NULL) {
        queue->completed = queue->recorded;
    }
}

bool plim_queues_complete_first(plim_queues *queues, plim_stream stream, uint64_t count)
{
    plim_queue *const queue = plim_queues_of(queues, stream);
    if (queue == NULL) {
        return false;
    }
    queue->completed = plim_max(queue->completed, count);
    return true;
}

void plim_queues_complete_all(plim_queues *queues)
{
    for (size_t i = 0; i < queues->items.count; i++) {
        queues->items.items[i].completed = queues->items.items[i].recorded;
    }
}

/* --- fences --- */

/* NULL: unknown, and `err` says so. */
static plim_queue_fence *find_fence(const plim_queues *queues, plim_fence fence, plim_error *err)
{
    const uint64_t index = (fence & FENCE_INDEX_MASK) - 1;
    if (index < queues->fences.count) {
        plim_queue_fence *const found = &queues->fences.items[index];
        if (found->is_live && found->generation == fence >> 32) {
            return found;
        }
    }
    (void)plim_fail(err, PLIM_INVALID_ARGUMENT, "%s: fence 0x%" PRIx64 " is unknown", queues->name,
                    fence);
    return NULL;
}

plim_status plim_queues_fence_create(plim_queues *queues, plim_fence *ret_fence, plim_error *err)
{
    uint64_t index = queues->free_fence;
    if (index != PLIM_MAP_ABSENT) {
        queues->free_fence = queues->fences.items[index].sequence;
    } else {
        index = queues->fences.count;
        if (index >= FENCE_INDEX_MASK - 1 ||
            !PLIM_VEC_PUSH(queues->mem, &queues->fences, (plim_queue_fence){ 0 })) {
            return plim_fail_memory(err, "making a fence");
        }
    }
    plim_queue_fence *const fence = &queues->fences.items[index];
    fence->sequence = 0;
    fence->is_live = true;
    *ret_fence = (uint64_t)fence->generation << 32 | (index + 1);
    return PLIM_OK;
}

plim_status plim_queues_fence_destroy(plim_queues *queues, plim_fence fence, plim_error *err)
{
    plim_queue_fence *const found = find_fence(queues, fence, err);
    if (found == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    found->is_live = false;
    found->generation++;
    found->sequence = queues->free_fence;
    queues->free_fence = (uint64_t)(found - queues->fences.items);
    return PLIM_OK;
}

plim_status plim_queues_fence_record(plim_queues *queues, plim_fence fence, plim_stream stream,
                                     plim_error *err)
{
    plim_queue_fence *const found = find_fence(queues, fence, err);
    if (found == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    plim_queue *const queue = plim_queues_of(queues, stream);
    if (queue == NULL) {
        return plim_fail_memory(err, "recording a fence");
    }
    queue->recorded++;
    if (!queue->is_manual) {
        queue->completed = queue->recorded;
    }
    found->sequence = queue->recorded;
    found->queue = (uint32_t)(queue - queues->items.items);
    return PLIM_OK;
}

plim_status plim_queues_fence_query(const plim_queues *queues, plim_fence fence, bool *ret_complete,
                                    plim_error *err)
{
    const plim_queue_fence *const found = find_fence(queues, fence, err);
    if (found == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    *ret_complete =
        found->sequence == 0 || found->sequence <= queues->items.items[found->queue].completed;
    return PLIM_OK;
}

plim_status plim_queues_fence_complete(plim_queues *queues, plim_fence fence, plim_error *err)
{
    const plim_queue_fence *const found = find_fence(queues, fence, err);
    if (found == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    if (found->sequence > 0) {
        plim_queue *const queue = &queues->items.items[found->queue];
        queue->completed = queue->completed < found->sequence ? found->sequence : queue->completed;
    }
    return PLIM_OK;
}
