/*
 * check.h - every invariant of a heap, at once.
 */
#ifndef PLIMSOLL_ALLOC_CHECK_H
#define PLIMSOLL_ALLOC_CHECK_H

#include "alloc/heap.h"

/* PLIM_CORRUPT: the message says what does not hold. The world is stopped. */
plim_status plim_heap_check(plim_heap *heap, plim_error *err);

#endif
