/*
 * check.h - every invariant of a heap, and what plim_hardening adds to requests.
 */
#ifndef PLIMSOLL_ALLOC_CHECK_H
#define PLIMSOLL_ALLOC_CHECK_H

#include "alloc/core/heap.h"

/* PLIM_CORRUPT: the message says what does not hold. The world is stopped. */
plim_status plim_heap_check(plim_heap *heap, plim_error *err);

/* --- what plim_hardening adds: canaries, poison, and all invariants after each operation --- */

/* Room for canaries after each request, where they are wanted. */
#define PLIM_CANARY_ROOM_BYTES 16

/* Bytes a request takes with what hardening adds. */
uint64_t plim_harden_room(const plim_heap *heap, uint64_t bytes);
/* A block was handed out: fills the bytes after the request. */
void plim_harden_given(plim_heap *heap, const plim_heap_block *block);
/* A block is about to be given back: compares them. PLIM_CORRUPT: the program wrote there.
 */
plim_status plim_harden_given_back(plim_heap *heap, const plim_heap_block *block, plim_error *err);
/* All invariants of the heap, if they are to be checked after each operation. */
plim_status plim_harden_check(plim_heap *heap, plim_error *err);

#endif
