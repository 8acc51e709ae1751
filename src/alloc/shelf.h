/*
 * shelf.h - shelves: the free blocks of one pool, size class and stream.
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_SHELF_H
#define PLIMSOLL_ALLOC_SHELF_H

#include "alloc/heap.h"

/* Makes an empty shelf and enters it in its pool, by stream; false: no host memory. `lane` is NULL
 * in private pools. */
bool plim_shelf_init(plim_shelf *shelf, plim_pool *pool, plim_heap *heap, plim_lane *lane,
                     plim_stream stream);
/* A zeroed shelf is allowed. */
void plim_shelf_deinit(plim_shelf *shelf);
/* The shelf of a pool for a stream, or NULL when there is none. */
plim_shelf *plim_shelf_find(const plim_pool *pool, plim_stream stream);

#endif
