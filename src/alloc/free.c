/*
 * free.c - giving blocks back. See free.h.
 */
#include "alloc/free.h"

#include "alloc/complete.h"
#include "alloc/policy.h"
#include "alloc/stat.h"
#include "alloc/streams.h"
#include "alloc/tell.h"

plim_status plim_free_request(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                              plim_error *err)
{
    plim_ledger_change change = { { 0 } };
    change.by[PLIM_STAT_ALLOCATION] = -1;
    change.by[PLIM_STAT_ALLOCATED_BYTES] = -(int64_t)block->bytes;
    plim_ledger_count(&heap->ledger, plim_shelf_of(block)->pool->is_small, &change);
    block->state = PLIM_BLOCK_IS_PENDING;
    plim_tell_freed(heap, PLIM_FREE_REQUESTED, block, stack);
    if (block->bytes >= heap->allocator->settings.max_split_bytes) {
        plim_stat_decrease(&heap->stats.oversize_allocations, 1);
    }
    const plim_policy *policy = plim_policy_of_shelf(plim_shelf_of(block));
    plim_status status = PLIM_OK;
    if (policy->freed != NULL) {
        status = policy->freed(heap, block, plim_home_of(heap, block), err);
        err = status == PLIM_OK ? err : NULL;
    }
    const plim_status ended = block->as.uses != NULL ? plim_uses_wait(heap, block, err)
                                                     : plim_free_complete(heap, block, stack, err);
    return status == PLIM_OK ? ended : status;
}
