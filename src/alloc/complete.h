/*
 * complete.h - nobody uses a block any more: it is free.
 */
#ifndef PLIMSOLL_ALLOC_COMPLETE_H
#define PLIMSOLL_ALLOC_COMPLETE_H

#include "alloc/heap.h"

/* Takes a block back that was let go of (free_block), whatever is returned. The world is stopped.
 * errors   those of the policy: PyTorch's has none */
plim_status plim_free_complete(plim_heap *heap, plim_heap_block *block, uint32_t stack,
                               plim_error *err);

#endif
