/*
 * complete.c - the end of a free. See complete.h.
 */
#include "alloc/complete.h"

#include "alloc/place.h"
#include "alloc/tell.h"

void plim_free_complete(plim_heap *heap, plim_heap_block *block, uint32_t stack)
{
    plim_tell_freed(heap, PLIM_FREE_COMPLETED, block, stack);
    plim_change change;
    plim_change_of_take_back(block, &change);
    plim_ledger_count(&heap->ledger, plim_shelf_of(block)->pool->is_small, &change);
    plim_take_back(block, &heap->spare);
}
