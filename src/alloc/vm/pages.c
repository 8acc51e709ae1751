/*
 * pages.c - the pages of a heap's default pools. See pages.h.
 */
#include "alloc/vm/pages.h"

void plim_pages_init(plim_pages *pages, plim_heap *heap, uint64_t page_bytes)
{
    *pages = (plim_pages){ .page_bytes = page_bytes };
    heap->small.pages = pages;
    heap->large.pages = pages;
}

void plim_pages_deinit(plim_pages *pages, plim_heap *heap)
{
    heap->small.pages = NULL;
    heap->large.pages = NULL;
    PLIM_VEC_FREE(heap->allocator->mem, &pages->moving);
}

bool plim_pages_room(plim_pages *pages, const plim_mem *mem, uint64_t count)
{
    return count == 0 || plim_vec_room(mem, &pages->moving.items, &pages->moving.capacity,
                                       count - 1, sizeof *pages->moving.items);
}

void plim_pages_drop(plim_pages *pages, const plim_heap *heap)
{
    while (pages->moving.count > 0) {
        pages->moving.count--;
        (void)heap->device.ops->handle_release(heap->device.self,
                                               pages->moving.items[pages->moving.count], NULL);
    }
}
