/*
 * oom.c - the facts of a request that failed. See oom.h.
 */
#include "alloc/text/oom.h"

#include "alloc/core/events.h"
#include "alloc/core/world.h"
#include "alloc/vm/expandable.h"
#include "base/error.h"
#include "base/numbers.h"
#include "base/size.h"

#include <unistd.h>

static void gather_free(plim_oom_facts *facts, const plim_request *request,
                        const plim_heap_block *block)
{
    const plim_shelf *shelf = plim_shelf_of(block);
    const plim_private_pool *owner = shelf->pool->owner;
    facts->free_bytes += block->bytes;
    facts->largest_hole_anywhere_bytes = plim_max(facts->largest_hole_anywhere_bytes, block->bytes);
    if (shelf == request->shelf) {
        facts->free_own_bytes += block->bytes;
        facts->largest_hole_bytes = plim_max(facts->largest_hole_bytes, block->bytes);
    } else if (shelf->pool == request->shelf->pool) {
        facts->free_other_stream_bytes += block->bytes;
    }
    if (owner != NULL) {
        facts->private_pools_free_bytes += block->bytes;
    }
    const bool may_release = owner == NULL || owner->use_count == 0;
    if (!may_release) {
        return;
    }
    if (plim_block_is_expandable(block)) {
        facts->releasable_bytes += plim_expandable_releasable(block);
    } else if (plim_block_is_split(block)) {
        facts->pinned_by_split_bytes += block->bytes;
    } else {
        facts->releasable_bytes += block->bytes;
    }
}

/* Bytes of a segment that are live or pending. */
static uint64_t gather_segment(plim_oom_facts *facts, const plim_request *request,
                               const plim_segment_record *segment)
{
    uint64_t held = 0;
    for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
        if (!block->is_mapped) {
            continue;
        }
        if (block->state == PLIM_BLOCK_IS_FREE) {
            gather_free(facts, request, block);
            continue;
        }
        held += block->bytes;
        if (block->state == PLIM_BLOCK_IS_PENDING) {
            facts->pending_bytes += block->bytes;
        }
    }
    return held;
}

static uint64_t in_whole(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* The held bytes of a shelf, packed into whole handles of one range. */
static uint64_t packed_bytes(const plim_shelf *shelf, uint64_t held)
{
    return in_whole(held, plim_expandable_handle_bytes(shelf));
}

static void gather_heap(plim_oom_facts *facts, const plim_request *request)
{
    const plim_heap *heap = request->heap;
    /* Segments stand in no order; shelves are few, so each is walked for once. */
    const plim_pool *pools[] = { &heap->small, &heap->large };
    for (size_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < pools[p]->shelves.count; i++) {
            const plim_shelf *shelf = pools[p]->shelves.items[i];
            uint64_t held = 0;
            for (const plim_segment_record *segment = heap->segments; segment != NULL;
                 segment = segment->next) {
                if (plim_shelf_of_segment(segment) == shelf) {
                    held += gather_segment(facts, request, segment);
                }
            }
            facts->expandable_reserved_bytes += packed_bytes(shelf, held);
        }
    }
    for (const plim_segment_record *segment = heap->segments; segment != NULL;
         segment = segment->next) {
        if (plim_shelf_of_segment(segment)->pool->owner != NULL) {
            const uint64_t held = gather_segment(facts, request, segment);
            facts->expandable_reserved_bytes += packed_bytes(plim_shelf_of_segment(segment), held);
        }
    }
}

plim_status plim_oom_gather(const plim_request *request, plim_oom_facts *ret_facts, plim_error *err)
{
    plim_heap *heap = request->heap;
    const plim_device_ops *ops = heap->device.ops;
    plim_oom_facts *facts = ret_facts;
    *facts = (plim_oom_facts){
        .device = heap->index,
        .stream = request->stream,
        .is_small = request->shelf->pool->is_small,
        .is_rejection = request->is_rejected,
        .has_expandable_segments = heap->allocator->settings.expandable_segments,
        .requested_bytes = request->requested_bytes,
        .rounded_bytes = request->rounded_bytes,
        .segment_bytes = request->segment_bytes,
        .device_total_bytes = heap->properties.total_bytes,
        .allowed_bytes = heap->limit_bytes,
        .pid = (int64_t)getpid(),
    };
    const plim_private_pool *owner = request->shelf->pool->owner;
    if (owner != NULL) {
        facts->pool = owner->id;
    }
    if (owner == NULL || !owner->has_source) {
        facts->handle_bytes = plim_expandable_handle_bytes(request->shelf);
    }
    if (!request->is_rejected) {
        PLIM_TRY(ops->info(heap->device.self, &facts->device_free_bytes, &facts->device_total_bytes,
                           err));
        if (ops->processes != NULL) {
            facts->process_count =
                ops->processes(heap->device.self, facts->processes, PLIM_OOM_PROCESSES_MAX);
        }
        plim_emit(heap, request->shelf->pool,
                  &(plim_event){ .action = PLIM_OOM,
                                 .addr = facts->device_free_bytes,
                                 .bytes = request->rounded_bytes,
                                 .stream = request->stream,
                                 .stack = request->stack });
        heap->stats.num_ooms++;
    }
    plim_world_settle(heap);
    facts->allocated_bytes =
        (uint64_t)heap->stats.families[PLIM_STAT_ALLOCATED_BYTES][PLIM_SLOT_ALL].current;
    facts->reserved_bytes = heap->reserved_bytes;
    gather_heap(facts, request);
    heap->has_oom = true;
    heap->last_oom = *facts;
    return PLIM_OK;
}

plim_status plim_oom_fail(plim_allocator *allocator, const plim_oom_facts *facts, plim_error *err)
{
    for (size_t i = 0;; i++) {
        pthread_mutex_lock(&allocator->lock);
        const bool is_there = i < allocator->observers.count;
        const plim_observer_row row =
            is_there ? allocator->observers.items[i] : (plim_observer_row){ NULL, NULL };
        pthread_mutex_unlock(&allocator->lock);
        if (!is_there) {
            break;
        }
        row.observer(row.ctx, facts);
    }
    return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                     "device %d is out of memory: %s wanted, %s free on the device%s",
                     (int)facts->device, plim_format_bytes(facts->segment_bytes).text,
                     plim_format_bytes(facts->device_free_bytes).text,
                     facts->is_rejection ? "; refused by throw_on_cudamalloc_oom" : "");
}
