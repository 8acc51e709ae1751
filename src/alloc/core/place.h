/*
 * place.h - handing out a free block and taking it back: the mechanism, whatever the policy.
 *
 * Each fills a plim_ledger_change with what it does to the statistics; the caller counts it.
 * The caller has the lock of the block's lane, or the world stopped.
 */
#ifndef PLIMSOLL_ALLOC_PLACE_H
#define PLIMSOLL_ALLOC_PLACE_H

#include "alloc/core/heap.h"

/*
 * Hands out `block`, which is free and no longer in its set: all of it, or, split, its first
 * `split_bytes` (0: do not split). Returns the block handed out; NULL when there was no host
 * memory, and then nothing changed. Splitting wants a record in `spare`.
 */
plim_heap_block *plim_hand_out(plim_allocator *allocator, plim_heap_block *block,
                               uint64_t split_bytes, plim_slab_list *spare);

/* The same for a block that is at `cursor` in its set. */
plim_heap_block *plim_hand_out_at(plim_allocator *allocator, plim_free_cursor cursor,
                                  uint64_t split_bytes, plim_slab_list *spare);

/* The change by handing out; call it before plim_hand_out(). */
void plim_change_of_hand_out(const plim_heap_block *block, uint64_t split_bytes,
                             uint64_t requested_bytes, plim_ledger_change *ret_change);
/* The change by taking back; call it before plim_take_back(). `by` of allocation and
 * allocated_bytes are left 0: they fall when the free is requested. */
void plim_change_of_take_back(const plim_heap_block *block, plim_ledger_change *ret_change);

/* Makes a live or pending block free, merged with its free neighbours, and puts it in its set.
 * Needs no memory. Records of merged blocks go to `spare`. */
void plim_take_back(plim_heap_block *block, plim_slab_list *spare);

/* The same but for merging and the set: the block is free, in no set. */
void plim_take_back_alone(plim_heap_block *block);

/* Joins `block`, which is in no set, with a neighbour that is free and equally mapped; returns the
 * neighbour's bytes, or 0. */
uint64_t plim_merge(plim_heap_block *block, plim_heap_block *neighbour, plim_slab_list *spare);

/* Puts a free block in the set it belongs to. */
void plim_put_free(plim_heap_block *block);
/* Takes it out. */
void plim_take_free(plim_heap_block *block);

/* Links a block between two neighbours, either of which may be NULL. */
void plim_splice(plim_heap_block *block, plim_heap_block *prev, plim_heap_block *next);

#endif
