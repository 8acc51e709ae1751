/*
 * allocate.c - requests with the world stopped. See allocate.h.
 */
#include "alloc/allocate.h"

#include "alloc/harden.h"
#include "alloc/lanes.h"
#include "alloc/oom.h"
#include "alloc/place.h"
#include "alloc/policy.h"
#include "alloc/stat.h"
#include "alloc/streams.h"
#include "alloc/tell.h"
#include "alloc/world.h"
#include "base/error.h"

#include <inttypes.h>

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

/* How a call to the device failed, where that does not say that the request finds no memory, nor
 * that the caller asked for something impossible: a driver may be out of memory for an event, or
 * refuse what is our doing. */
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
    request->policy = plim_policy_for(request->heap, request->stream);
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
    PLIM_TRY(prepare(request, err)); /* the heap may have changed, whoever changed it */
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
    if (split_bytes == 0 || plim_line_slab_fill(&allocator->blocks, &heap->spare, 1)) {
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
    plim_tell(heap, pool,
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
        PLIM_TRY(failed_call(plim_events_process(heap, err), err));
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

plim_status plim_allocate(plim_heap *heap, uint64_t bytes, plim_stream stream, uint32_t stack,
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
