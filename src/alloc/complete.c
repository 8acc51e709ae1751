/*
 * complete.c - the end of a free. See complete.h.
 */
#include "alloc/complete.h"

#include "alloc/place.h"
#include "alloc/policy.h"
#include "alloc/tell.h"

plim_status plim_free_complete(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                               plim_error *err)
{
    plim_tell_freed(heap, PLIM_FREE_COMPLETED, block, stack);
    plim_ledger_change change;
    plim_change_of_take_back(block, &change);
    plim_ledger_count(&heap->ledger, plim_shelf_of(block)->pool->is_small, &change);
    const plim_policy *policy = plim_policy_of_shelf(plim_shelf_of(block));
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
