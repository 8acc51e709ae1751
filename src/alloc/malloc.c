/*
 * malloc.c - plim_malloc() and plim_free(): the lane of the stream first, else the way of PyTorch's
 * DeviceCachingAllocator::malloc with the world stopped.
 */
#include "plimsoll/allocator.h"

#include "alloc/core/check.h"
#include "alloc/core/events.h"
#include "alloc/core/free.h"
#include "alloc/core/lane.h"
#include "alloc/core/ledger.h"
#include "alloc/core/place.h"
#include "alloc/core/policy.h"
#include "alloc/core/pools.h"
#include "alloc/core/world.h"
#include "alloc/observers.h"
#include "alloc/text/oom.h"
#include "base/error.h"

#include <inttypes.h>

/* --- with the world stopped: DeviceCachingAllocator::malloc --- */

/* A cached block was not found: every callback may free some; whether any did. The world is let
 * go of meanwhile, so that they can. */
static bool call_back(plim_heap *heap)
{
    plim_allocator *allocator = heap->allocator;
    bool has_freed = false;
    for (size_t i = 0;; i++) {
        pthread_mutex_lock(&allocator->lock);
        const bool is_there = i < allocator->free_callbacks.count;
        const plim_callback_row row =
            is_there ? allocator->free_callbacks.items[i] : (plim_callback_row){ NULL, NULL };
        pthread_mutex_unlock(&allocator->lock);
        if (!is_there) {
            return has_freed;
        }
        has_freed = row.callback(row.ctx, allocator) || has_freed;
    }
}

/* The status of a failed call to the device that does not mean that the request finds no memory,
 * nor that its caller requested something impossible: a driver may be out of memory for an event,
 * or refuse what is our doing. */
static plim_status failed_call(plim_status status, plim_error *err)
{
    if (status != PLIM_OUT_OF_DEVICE_MEMORY && status != PLIM_INVALID_ARGUMENT) {
        return status;
    }
    if (err != NULL) {
        err->status = PLIM_IO;
    }
    return PLIM_IO;
}

static plim_status prepare(plim_request *request, plim_error *err)
{
    request->policy = plim_pool_for(request->heap, request->stream, false)->policy;
    request->wanted_bytes = plim_harden_room(request->heap, request->requested_bytes);
    const plim_status status = request->policy->prepare(request, err);
    /* It may have waited for a stream, but asked for no memory yet. */
    return status == PLIM_OUT_OF_DEVICE_MEMORY ? failed_call(status, err) : status;
}

/* A free block, after callbacks if need be. */
static plim_status find_cached(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    *ret_block = request->policy->find(request);
    if (*ret_block != NULL || !heap->allocator->has_free_callbacks) {
        return PLIM_OK;
    }
    plim_world_resume(heap, NULL);
    const bool has_freed = call_back(heap);
    plim_world_stop(heap);
    PLIM_TRY(prepare(request, err)); /* the heap may have changed meanwhile */
    if (has_freed) {
        *ret_block = request->policy->find(request);
    }
    return PLIM_OK;
}

/* Notes the stream of a block to be, where its shelf does not say it. */
static plim_status note_home(const plim_request *request, const plim_heap_block *block,
                             plim_error *err)
{
    if (request->stream == plim_shelf_of(block)->stream) {
        return PLIM_OK;
    }
    if (request->stream == PLIM_MAP_ABSENT) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "no stream has the handle 0x%" PRIx64,
                         request->stream);
    }
    return plim_map_put(&request->heap->homes, block->addr, request->stream)
               ? PLIM_OK
               : plim_fail_memory(err, "handing out a block");
}

static void give_up(const plim_request *request, plim_heap_block *block)
{
    (void)plim_map_take(&request->heap->homes, block->addr);
    if (request->policy->put_back != NULL) {
        request->policy->put_back(block);
    } else {
        plim_put_free(block);
    }
}

/* Hands out what was found or obtained; takes care of a failure to. */
static plim_status hand_out(plim_request *request, plim_heap_block *block, plim_addr *ret_addr,
                            plim_error *err)
{
    plim_heap *heap = request->heap;
    plim_allocator *allocator = heap->allocator;
    const uint64_t split_bytes = request->policy->split(request, block);
    const plim_status noted = note_home(request, block, err);
    if (noted != PLIM_OK) {
        give_up(request, block);
        return noted;
    }
    plim_ledger_change change;
    plim_change_of_hand_out(block, split_bytes, request->requested_bytes, &change);
    plim_heap_block *given = NULL;
    if (split_bytes == 0 || plim_slab_fill(&allocator->blocks, &heap->spare, 1)) {
        given = plim_hand_out(allocator, block, split_bytes, &heap->spare);
    }
    if (given == NULL) {
        give_up(request, block);
        return plim_fail_memory(err, "handing out a block");
    }
    const plim_pool *pool = plim_shelf_of(given)->pool;
    given->requested_bytes = request->requested_bytes;
    given->stack = request->stack;
    plim_ledger_count(&heap->ledger, pool->is_small, &change);
    if (given->bytes >= allocator->settings.max_split_bytes) {
        plim_stat_increase(&heap->stats.oversize_allocations, 1);
    }
    plim_emit(heap, pool,
              &(plim_event){ .action = PLIM_ALLOC,
                             .addr = given->addr,
                             .bytes = given->requested_bytes,
                             .block_bytes = given->bytes,
                             .stream = request->stream,
                             .stack = given->stack });
    plim_harden_given(heap, given);
    *ret_addr = given->addr;
    return PLIM_OK;
}

static plim_status serve(plim_request *request, plim_oom_facts *ret_facts, plim_addr *ret_addr,
                         plim_error *err)
{
    plim_heap *heap = request->heap;
    if (heap->routings.count == 0) {
        PLIM_TRY(failed_call(plim_events_process(heap, request->stack, err), err));
    }
    PLIM_TRY(prepare(request, err));
    plim_heap_block *block = NULL;
    PLIM_TRY(find_cached(request, &block, err));
    if (block == NULL) {
        plim_error why = { .status = PLIM_OK };
        switch (request->policy->obtain(request, &block, &why)) {
        case PLIM_ATTEMPT_DONE:
            break;
        case PLIM_ATTEMPT_NO_MEMORY:
            PLIM_TRY(failed_call(plim_oom_gather(request, ret_facts, err), err));
            return PLIM_OUT_OF_DEVICE_MEMORY;
        case PLIM_ATTEMPT_FAILED:
            if (err != NULL) {
                *err = why;
            }
            return why.status == PLIM_OK ? PLIM_IO : failed_call(why.status, err);
        }
    }
    return hand_out(request, block, ret_addr, err);
}

static plim_status allocate(plim_heap *heap, uint64_t bytes, plim_stream stream, uint32_t stack,
                            plim_addr *ret_addr, plim_error *err)
{
    plim_request request = {
        .heap = heap, .stream = stream, .requested_bytes = bytes, .stack = stack
    };
    plim_oom_facts facts;
    plim_world_stop(heap);
    plim_status status = serve(&request, &facts, ret_addr, err);
    if (status == PLIM_OK) {
        status = plim_harden_check(heap, err);
    }
    plim_world_resume(heap, plim_lane_find(heap, stream));
    return status == PLIM_OUT_OF_DEVICE_MEMORY ? plim_oom_fail(heap->allocator, &facts, err)
                                               : status;
}

/* --- the way in --- */

/* The lane this thread used last, to be tried first. */
#if defined(__GNUC__)
__attribute__((tls_model("initial-exec")))
#endif
static _Thread_local struct {
    uint64_t serial; /* of its allocator */
    plim_lane *lane;
} last_used;

static plim_lane *lane_for(plim_heap *heap, plim_stream stream)
{
    if (last_used.serial == heap->allocator->serial && last_used.lane->heap == heap &&
        last_used.lane->stream == stream) {
        return last_used.lane;
    }
    plim_lane *lane = plim_lane_find(heap, stream);
    if (lane != NULL) {
        last_used.serial = heap->allocator->serial;
        last_used.lane = lane;
    }
    return lane;
}

static uint32_t stack_from(plim_allocator *allocator, plim_stack_level level)
{
    return atomic_load_explicit(&allocator->is_listening, memory_order_relaxed)
               ? plim_take_stack(allocator, level)
               : PLIM_NONE;
}

static plim_status malloc_uncached(plim_heap *heap, uint64_t bytes, plim_addr *ret_addr,
                                   plim_error *err)
{
    plim_allocator *allocator = heap->allocator;
    pthread_mutex_lock(&allocator->lock);
    plim_status status = PLIM_OK;
    if (!PLIM_VEC_PUSH(allocator->mem, &allocator->uncached, ((plim_uncached_row){ 0, heap }))) {
        status = plim_fail_memory(err, "allocating without the cache");
    } else {
        plim_uncached_row *row = &allocator->uncached.items[allocator->uncached.count - 1];
        status = heap->device.ops->memory_alloc(heap->device.self, bytes, &row->addr, err);
        if (status == PLIM_OK) {
            *ret_addr = row->addr;
        } else {
            allocator->uncached.count--;
        }
    }
    pthread_mutex_unlock(&allocator->lock);
    return status;
}

plim_status plim_malloc(plim_allocator *allocator, int32_t device, uint64_t bytes,
                        plim_stream stream, plim_addr *ret_addr, plim_error *err)
{
    plim_heap *heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    if (bytes == 0) {
        *ret_addr = 0;
        return PLIM_OK;
    }
    if (bytes >= PLIM_REQUEST_BYTES_MAX) {
        return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                         "device %d is out of memory: more than 1 EiB wanted; is the size "
                         "computed from a negative number?",
                         (int)device);
    }
    const uint32_t stack = stack_from(allocator, PLIM_STACKS_STATE);
    plim_lane *lane = lane_for(heap, stream);
    if (lane != NULL && plim_lane_malloc(lane, bytes, stack, ret_addr)) {
        return PLIM_OK;
    }
    if (!atomic_load_explicit(&allocator->is_caching, memory_order_relaxed)) {
        return malloc_uncached(heap, bytes, ret_addr, err);
    }
    return allocate(heap, bytes, stream, stack, ret_addr, err);
}

/* --- giving back --- */

static plim_status not_ours(plim_allocator *allocator, plim_addr addr, plim_error *err)
{
    plim_segment_record *segment = plim_directory_find(&allocator->directory, addr);
    if (segment == NULL || plim_shelf_of_segment(segment) == NULL) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "invalid device pointer: 0x%" PRIx64 " is in no memory of this allocator",
                         addr);
    }
    const char *why = "it was freed already, or never handed out";
    plim_heap *heap = atomic_load(&segment->heap);
    plim_world_stop(heap);
    const bool is_still_there = atomic_load(&segment->heap) == heap;
    const plim_heap_block *block = is_still_there ? segment->head : NULL;
    for (; block != NULL; block = block->next) {
        if (addr > block->addr && addr - block->addr < block->bytes &&
            block->state == PLIM_BLOCK_IS_LIVE) {
            why = "it lies inside a block; free the block's own address";
        } else if (addr == block->addr && block->state == PLIM_BLOCK_IS_PENDING) {
            why = "it was freed already, and waits for another stream";
        }
    }
    plim_world_resume(heap, NULL);
    return plim_fail(err, PLIM_INVALID_ARGUMENT, "invalid device pointer: 0x%" PRIx64 ": %s", addr,
                     why);
}

static plim_status free_uncached(plim_allocator *allocator, plim_addr addr, plim_error *err)
{
    plim_status status = PLIM_OK;
    bool is_found = false;
    pthread_mutex_lock(&allocator->lock);
    for (size_t i = allocator->uncached.count; i > 0 && !is_found; i--) {
        plim_uncached_row *row = &allocator->uncached.items[i - 1];
        is_found = row->addr == addr;
        if (!is_found) {
            continue;
        }
        status = row->heap->device.ops->memory_free(row->heap->device.self, addr, err);
        if (status == PLIM_OK) { /* else it is still there, to be freed again */
            allocator->uncached.count--;
            *row = allocator->uncached.items[allocator->uncached.count];
        }
    }
    pthread_mutex_unlock(&allocator->lock);
    return is_found ? status : not_ours(allocator, addr, err);
}

static plim_status free_slowly(plim_allocator *allocator, plim_addr addr, uint32_t stack,
                               plim_error *err)
{
    plim_heap_block *block = NULL;
    plim_heap *heap = plim_stop_world_of(allocator, addr, &block);
    if (heap == NULL) {
        return free_uncached(allocator, addr, err);
    }
    plim_lane *lane = plim_shelf_of(block)->lane;
    plim_status status = plim_harden_given_back(heap, block, err);
    const plim_status freed = plim_free_request(heap, block, stack, status == PLIM_OK ? err : NULL);
    status = status == PLIM_OK ? freed : status;
    if (status == PLIM_OK) {
        status = plim_harden_check(heap, err);
    }
    plim_world_resume(heap, lane);
    return status;
}

plim_status plim_free(plim_allocator *allocator, plim_addr addr, plim_error *err)
{
    if (addr == 0) {
        return PLIM_OK;
    }
    const uint32_t stack = stack_from(allocator, PLIM_STACKS_ALL);
    plim_lane *last = last_used.serial == allocator->serial ? last_used.lane : NULL;
    if (last != NULL && plim_lane_free(last, addr, stack)) {
        return PLIM_OK;
    }
    plim_segment_record *segment = plim_directory_find(&allocator->directory, addr);
    plim_lane *lane =
        segment != NULL ? atomic_load_explicit(&segment->lane, memory_order_relaxed) : NULL;
    if (lane != NULL && lane != last && plim_lane_free(lane, addr, stack)) {
        return PLIM_OK;
    }
    return free_slowly(allocator, addr, stack, err);
}
