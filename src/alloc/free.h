/*
 * free.h - the program lets go of a block.
 */
#ifndef PLIMSOLL_ALLOC_FREE_H
#define PLIMSOLL_ALLOC_FREE_H

#include "alloc/heap.h"

/* A live block is given back: at once, or when other streams are done with it (free). The world is
 * stopped. */
plim_status plim_free_request(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                              plim_error *err);

#endif
