/*
 * pages.h - memory that comes and goes in whole pages, for policies that map it themselves: handles
 * of one size, each mapped or not at all, and those that are on their way from one place to
 * another.
 *
 * A pool that has pages (plim_pool.pages) maps with them instead of handles as the settings say,
 * and a mapping that fails half way is taken back. The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_PAGES_H
#define PLIMSOLL_ALLOC_PAGES_H

#include "alloc/core/heap.h"

typedef struct plim_pages {
    uint64_t page_bytes;
    PLIM_VEC(plim_handle) moving; /* unmapped, kept for another place */
} plim_pages;

/* Both default pools of a heap map with `pages`, which outlive its segments' changes. */
void plim_pages_init(plim_pages *pages, plim_heap *heap, uint64_t page_bytes);
void plim_pages_deinit(plim_pages *pages, plim_heap *heap);

/* Room to keep so many between two places; false: no host memory. */
bool plim_pages_room(plim_pages *pages, const plim_mem *mem, uint64_t count);
/* Those that found no new place go back to the driver. */
void plim_pages_drop(plim_pages *pages, const plim_heap *heap);

#endif
