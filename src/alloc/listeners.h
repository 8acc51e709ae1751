/*
 * listeners.h - the stack of the thread that calls, where somebody wants it.
 */
#ifndef PLIMSOLL_ALLOC_LISTENERS_H
#define PLIMSOLL_ALLOC_LISTENERS_H

#include "alloc/heap.h"

/* The calling thread's stack, if recording takes stacks from `level` on; before any lock is taken.
 */
uint32_t plim_take_stack(plim_allocator *allocator, plim_stack_level level);

#endif
