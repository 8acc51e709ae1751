/*
 * free.c - frees, the events they wait for, and deferred frees. See free.h.
 */
#include "alloc/core/free.h"

#include "alloc/core/events.h"
#include "alloc/core/ledger.h"
#include "alloc/core/place.h"
#include "alloc/core/policy.h"
#include "base/assert.h"
#include "base/error.h"

/* --- the end of a free --- */

plim_status plim_free_complete(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                               plim_error *err)
{
    plim_emit_free(heap, PLIM_FREE_COMPLETED, block, stack);
    plim_ledger_change change;
    plim_change_of_take_back(block, &change);
    plim_ledger_count(&heap->ledger, plim_shelf_of(block)->pool->is_small, &change);
    const plim_policy *policy = plim_shelf_of(block)->pool->policy;
    if (policy->take_back == NULL && heap->homes.count == 0) {
        plim_take_back(block, &heap->spare);
        return PLIM_OK;
    }
    const plim_stream home = plim_home_of(heap, block);
    (void)plim_map_take(&heap->homes, block->addr);
    if (policy->take_back == NULL) {
        plim_take_back(block, &heap->spare);
        return PLIM_OK;
    }
    return policy->take_back(heap, block, home, err);
}

/* --- uses --- */

static plim_use *new_use(plim_heap *heap)
{
    plim_use *use = heap->spare_uses;
    if (use != NULL) {
        heap->spare_uses = use->next;
        return use;
    }
    use = plim_mem_alloc_zeroed(heap->allocator->mem, 1, sizeof *use);
    if (use != NULL) {
        use->made_before = heap->made_uses;
        heap->made_uses = use;
    }
    return use;
}

static void free_use(plim_heap *heap, plim_use *use)
{
    use->next = heap->spare_uses;
    heap->spare_uses = use;
}

/* Room for one event more than there are, so that freeing a block never lacks it. */
static bool queue_for(plim_heap *heap, plim_stream stream, plim_fence_queue **ret_queue)
{
    for (size_t i = 0; i < heap->queues.count; i++) {
        if (heap->queues.items[i].stream == stream) {
            *ret_queue = &heap->queues.items[i];
            return true;
        }
    }
    if (!PLIM_VEC_PUSH(heap->allocator->mem, &heap->queues,
                       ((plim_fence_queue){ .stream = stream }))) {
        return false;
    }
    *ret_queue = &heap->queues.items[heap->queues.count - 1];
    return true;
}

plim_status plim_use_add(plim_heap *heap, plim_heap_block *block, plim_stream stream,
                         plim_error *err)
{
    if (stream == plim_home_of(heap, block)) {
        return PLIM_OK;
    }
    plim_use **end = &block->as.uses;
    for (; *end != NULL; end = &(*end)->next) {
        if ((*end)->stream == stream) {
            return PLIM_OK;
        }
    }
    plim_fence_queue *queue = NULL;
    plim_use *use = queue_for(heap, stream, &queue) ? new_use(heap) : NULL;
    if (use == NULL) {
        return plim_fail_memory(err, "recording a stream");
    }
    *use = (plim_use){ .made_before = use->made_before,
                       .block = block,
                       .stream = stream,
                       .is_of_capture = heap->routings.count > 0 };
    *end = use;
    return PLIM_OK;
}

plim_status plim_use_add_home(plim_heap *heap, plim_heap_block *block, plim_stream home,
                              plim_error *err)
{
    plim_fence_queue *queue = NULL;
    plim_use *use = queue_for(heap, home, &queue) ? new_use(heap) : NULL;
    if (use == NULL) { /* freeing must not fail for that */
        return heap->device.ops->stream_synchronize(heap->device.self, home, err);
    }
    *use = (plim_use){ .next = block->as.uses,
                       .made_before = use->made_before,
                       .block = block,
                       .stream = home,
                       .is_of_policy = true };
    block->as.uses = use;
    return PLIM_OK;
}

/* --- fences --- */

plim_status plim_fence_get(plim_heap *heap, plim_fence *ret_fence, plim_error *err)
{
    if (heap->fences.count > 0) {
        heap->fences.count--;
        *ret_fence = heap->fences.items[heap->fences.count];
        return PLIM_OK;
    }
    /* Room to put it back is taken now: putting back must not fail. */
    const size_t wanted = heap->fence_count + 1;
    if (wanted > heap->fences.capacity &&
        !plim_vec_room(heap->allocator->mem, &heap->fences.items, &heap->fences.capacity,
                       heap->fence_count, sizeof *heap->fences.items)) {
        return plim_fail_memory(err, "making an event");
    }
    PLIM_TRY(heap->device.ops->fence_create(heap->device.self, ret_fence, err));
    heap->fence_count++;
    return PLIM_OK;
}

void plim_fence_put(plim_heap *heap, plim_fence fence)
{
    heap->fences.items[heap->fences.count] = fence;
    heap->fences.count++;
}

/* --- waiting --- */

static void defer(plim_heap *heap, plim_heap_block *block)
{
    plim_use *use = block->as.uses;
    use->next_deferred = NULL;
    if (heap->deferred == NULL) {
        heap->deferred = use;
    } else {
        heap->deferred_last->next_deferred = use;
    }
    heap->deferred_last = use;
}

static plim_status record_use(plim_heap *heap, plim_use *use, plim_error *err)
{
    PLIM_TRY(plim_fence_get(heap, &use->fence, err));
    const plim_status status =
        heap->device.ops->fence_record(heap->device.self, use->fence, use->stream, err);
    if (status != PLIM_OK) {
        plim_fence_put(heap, use->fence);
        return status;
    }
    plim_fence_queue *queue = NULL;
    const bool is_there = queue_for(heap, use->stream, &queue);
    PLIM_ASSERT(is_there); /* since the stream was recorded */
    use->next = NULL;
    if (queue->first == NULL) {
        queue->first = use;
    } else {
        queue->last->next = use;
    }
    queue->last = use;
    heap->queued_events++;
    return PLIM_OK;
}

/* An event for every use. Those that could not be recorded stay with the block, deferred: they are
 * tried again with the next request. */
static plim_status insert_events(plim_heap *heap, plim_heap_block *block, plim_error *err)
{
    while (block->as.uses != NULL) {
        plim_use *use = block->as.uses;
        plim_use *next = use->next;
        const plim_status status = record_use(heap, use, err);
        if (status != PLIM_OK) {
            defer(heap, block);
            return status;
        }
        block->as.uses = next;
        block->event_count++;
    }
    return PLIM_OK;
}

plim_status plim_uses_wait(plim_heap *heap, plim_heap_block *block, plim_error *err)
{
    if (heap->routings.count > 0) {
        defer(heap, block);
        return PLIM_OK;
    }
    return insert_events(heap, block, err);
}

/* Streams that were recorded during a capture have joined it by its end. */
static void drop_uses_of_capture(plim_heap *heap, plim_heap_block *block)
{
    plim_use **at = &block->as.uses;
    while (*at != NULL) {
        plim_use *use = *at;
        if (use->is_of_capture) {
            *at = use->next;
            free_use(heap, use);
        } else {
            at = &use->next;
        }
    }
}

static plim_status process_deferred(plim_heap *heap, uint32_t stack, plim_error *err)
{
    plim_use *use = heap->deferred;
    heap->deferred = NULL;
    heap->deferred_last = NULL;
    plim_status first = PLIM_OK;
    while (use != NULL) {
        plim_use *next = use->next_deferred;
        plim_heap_block *block = use->block;
        drop_uses_of_capture(heap, block);
        plim_status status = PLIM_OK;
        if (block->as.uses == NULL && block->event_count == 0) {
            status = plim_free_complete(heap, block, stack, first == PLIM_OK ? err : NULL);
        } else {
            status = insert_events(heap, block, first == PLIM_OK ? err : NULL);
        }
        first = first == PLIM_OK ? status : first;
        use = next;
    }
    return first;
}

/* One event of a block has happened. */
static plim_status happened(plim_heap *heap, plim_fence_queue *queue, uint32_t stack,
                            plim_error *err)
{
    plim_use *use = queue->first;
    queue->first = use->next;
    heap->queued_events--;
    plim_fence_put(heap, use->fence);
    plim_heap_block *block = use->block;
    heap->has_seen_work = heap->has_seen_work || !use->is_of_policy;
    free_use(heap, use);
    block->event_count--;
    return block->event_count == 0 && block->as.uses == NULL
               ? plim_free_complete(heap, block, stack, err)
               : PLIM_OK;
}

/* The policy hears that events of the program were seen to have happened. */
static plim_status notify_policy(plim_heap *heap, plim_error *err)
{
    const plim_policy *policy = heap->allocator->policy;
    if (policy->synchronized == NULL || !heap->has_seen_work) {
        return PLIM_OK;
    }
    heap->has_seen_work = false;
    return policy->synchronized(heap, err);
}

plim_status plim_events_process(plim_heap *heap, uint32_t stack, plim_error *err)
{
    if (heap->deferred != NULL) {
        PLIM_TRY(process_deferred(heap, stack, err));
    }
    if (heap->queued_events == 0) {
        return PLIM_OK;
    }
    for (size_t i = 0; i < heap->queues.count; i++) {
        plim_fence_queue *queue = &heap->queues.items[i];
        while (queue->first != NULL) {
            bool is_complete = false;
            PLIM_TRY(heap->device.ops->fence_query(heap->device.self, queue->first->fence,
                                                   &is_complete, err));
            if (!is_complete) {
                break; /* nor are those after it */
            }
            PLIM_TRY(happened(heap, queue, stack, err));
        }
    }
    return notify_policy(heap, err);
}

/* Waits for the events of one queue, or those of a pool's blocks; others stay in their order. */
static plim_status synchronize_queue(plim_heap *heap, plim_fence_queue *queue,
                                     const plim_private_pool *pool, uint32_t stack, plim_error *err)
{
    plim_fence_queue kept = { .stream = queue->stream };
    plim_status status = PLIM_OK;
    while (queue->first != NULL && status == PLIM_OK) {
        plim_use *use = queue->first;
        if (pool != NULL && plim_shelf_of(use->block)->pool->owner != pool) {
            queue->first = use->next;
            use->next = NULL;
            *(kept.first == NULL ? &kept.first : &kept.last->next) = use;
            kept.last = use;
            continue;
        }
        status = heap->device.ops->fence_synchronize(heap->device.self, use->fence, err);
        if (status == PLIM_OK) {
            status = happened(heap, queue, stack, err);
        }
    }
    if (kept.first != NULL) {
        kept.last->next = queue->first;
        kept.last = queue->first != NULL ? queue->last : kept.last;
        *queue = kept;
    }
    return status;
}

plim_status plim_events_synchronize(plim_heap *heap, const plim_private_pool *pool, uint32_t stack,
                                    plim_error *err)
{
    heap->stats.num_sync_all_streams++;
    PLIM_TRY(process_deferred(heap, stack, err));
    for (size_t i = 0; i < heap->queues.count; i++) {
        PLIM_TRY(synchronize_queue(heap, &heap->queues.items[i], pool, stack, err));
    }
    return notify_policy(heap, err);
}

void plim_streams_deinit(plim_heap *heap)
{
    const plim_mem *mem = heap->allocator->mem;
    for (size_t i = 0; i < heap->queues.count; i++) {
        for (const plim_use *use = heap->queues.items[i].first; use != NULL; use = use->next) {
            (void)heap->device.ops->fence_synchronize(heap->device.self, use->fence, NULL);
            plim_fence_put(heap, use->fence);
        }
    }
    for (size_t i = 0; i < heap->fences.count; i++) {
        (void)heap->device.ops->fence_destroy(heap->device.self, heap->fences.items[i], NULL);
    }
    while (heap->made_uses != NULL) {
        plim_use *use = heap->made_uses;
        heap->made_uses = use->made_before;
        plim_mem_free(mem, use, 1, sizeof *use);
    }
    PLIM_VEC_FREE(mem, &heap->queues);
    PLIM_VEC_FREE(mem, &heap->fences);
}

/* --- its beginning --- */

plim_status plim_free_request(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                              plim_error *err)
{
    plim_ledger_change change = { { 0 } };
    change.by[PLIM_STAT_ALLOCATION] = -1;
    change.by[PLIM_STAT_ALLOCATED_BYTES] = -(int64_t)block->bytes;
    plim_ledger_count(&heap->ledger, plim_shelf_of(block)->pool->is_small, &change);
    block->state = PLIM_BLOCK_IS_PENDING;
    plim_emit_free(heap, PLIM_FREE_REQUESTED, block, stack);
    if (block->bytes >= heap->allocator->settings.max_split_bytes) {
        plim_stat_decrease(&heap->stats.oversize_allocations, 1);
    }
    const plim_policy *policy = plim_shelf_of(block)->pool->policy;
    plim_status status = PLIM_OK;
    if (policy->freed != NULL) {
        status = policy->freed(heap, block, plim_home_of(heap, block), err);
        err = status == PLIM_OK ? err : NULL;
    }
    const plim_status ended = block->as.uses != NULL ? plim_uses_wait(heap, block, err)
                                                     : plim_free_complete(heap, block, stack, err);
    return status == PLIM_OK ? ended : status;
}
