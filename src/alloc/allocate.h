/*
 * allocate.h - a request that the fast path left: PyTorch's DeviceCachingAllocator::malloc.
 */
#ifndef PLIMSOLL_ALLOC_ALLOCATE_H
#define PLIMSOLL_ALLOC_ALLOCATE_H

#include "alloc/heap.h"

/* No locks are held. */
plim_status plim_allocate(plim_heap *heap, uint64_t bytes, plim_stream stream, uint32_t stack,
                          plim_addr *ret_addr, plim_error *err);

#endif
