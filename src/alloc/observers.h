/*
 * observers.h - the stack of a calling thread, where recording takes it.
 */
#ifndef PLIMSOLL_ALLOC_OBSERVERS_H
#define PLIMSOLL_ALLOC_OBSERVERS_H

#include "alloc/core/heap.h"

/* The calling thread's stack, if recording takes stacks from `level` on; before any lock is taken.
 */
uint32_t plim_take_stack(plim_allocator *allocator, plim_stack_level level);

#endif
