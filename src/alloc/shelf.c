/*
 * shelf.c - making shelves and finding them. See shelf.h.
 */
#include "alloc/shelf.h"

bool plim_shelf_init(plim_shelf *shelf, plim_pool *pool, plim_heap *heap, plim_lane *lane,
                     plim_stream stream)
{
    const plim_mem *mem = heap->allocator->mem;
    *shelf = (plim_shelf){ .pool = pool, .lane = lane, .heap = heap, .stream = stream };
    plim_free_set_init(&shelf->blocks, mem, false);
    plim_free_set_init(&shelf->unmapped, mem, true);
    if (!PLIM_VEC_PUSH(mem, &pool->shelves, shelf)) {
        return false;
    }
    size_t at = pool->shelves.count - 1;
    for (; at > 0 && pool->shelves.items[at - 1]->stream > stream; at--) {
        pool->shelves.items[at] = pool->shelves.items[at - 1];
    }
    pool->shelves.items[at] = shelf;
    return true;
}

void plim_shelf_deinit(plim_shelf *shelf)
{
    if (shelf->pool == NULL) {
        return;
    }
    plim_free_set_deinit(&shelf->blocks);
    plim_free_set_deinit(&shelf->unmapped);
    plim_pool *pool = shelf->pool;
    size_t kept = 0;
    for (size_t i = 0; i < pool->shelves.count; i++) {
        if (pool->shelves.items[i] != shelf) {
            pool->shelves.items[kept] = pool->shelves.items[i];
            kept++;
        }
    }
    pool->shelves.count = kept;
}

plim_shelf *plim_shelf_find(const plim_pool *pool, plim_stream stream)
{
    for (size_t i = 0; i < pool->shelves.count; i++) {
        if (pool->shelves.items[i]->stream == stream) {
            return pool->shelves.items[i];
        }
    }
    return NULL;
}
