/*
 * torch.h - which cached block PyTorch hands out, and how much of it: for the slow path
 * (torch.c) and the fast one (lane.c).
 */
#ifndef PLIMSOLL_ALLOC_TORCH_H
#define PLIMSOLL_ALLOC_TORCH_H

#include "alloc/core/heap.h"
#include "settings/rounding.h"

/* What a free block is worth: next to address space it can grow into, as much as it could grow. */
static inline uint64_t plim_torch_grown(const plim_heap_block *block)
{
    const plim_heap_block *next = block->next;
    return block->bytes + (next != NULL && !next->is_mapped ? next->bytes : 0);
}

/* Slow path of plim_torch_find(): the candidate lies in an expandable segment. */
plim_free_cursor plim_torch_skip(plim_free_cursor cursor, bool is_expandable);

/* Best fit with its filters (get_free_block): the place of the block, still in the set. */
static inline plim_free_cursor plim_torch_find(const plim_settings *settings,
                                               const plim_shelf *shelf, uint64_t rounded_bytes,
                                               bool is_expandable)
{
    const plim_free_cursor none = { NULL, 0 };
    plim_free_cursor cursor = plim_free_set_at_least(&shelf->blocks, rounded_bytes, 0);
    if (shelf->had_expandable && cursor.leaf != NULL &&
        plim_block_is_expandable(plim_free_cursor_block(cursor))) {
        cursor = plim_torch_skip(cursor, is_expandable);
    }
    if (cursor.leaf == NULL) {
        return none;
    }
    const uint64_t bytes = cursor.leaf->entries[cursor.index].bytes;
    const uint64_t oversize = settings->max_split_bytes;
    if (rounded_bytes < oversize && bytes >= oversize) {
        return none; /* an oversize block is not for small requests */
    }
    if (rounded_bytes >= oversize &&
        bytes >= rounded_bytes + settings->max_non_split_rounding_bytes) {
        return none; /* nor one that would waste too much */
    }
    return cursor;
}

/* How much is cut off a block; 0: it is handed out whole (should_split). */
static inline uint64_t plim_torch_split(const plim_settings *settings, const plim_shelf *shelf,
                                        uint64_t block_bytes, uint64_t rounded_bytes,
                                        bool is_expandable)
{
    const uint64_t rest = block_bytes - rounded_bytes;
    if (shelf->pool->is_small || is_expandable) {
        return rest >= PLIM_BLOCK_BYTES_MIN ? rounded_bytes : 0;
    }
    const bool may = rounded_bytes < settings->max_split_bytes && rest > PLIM_SMALL_BYTES_MAX;
    return may ? rounded_bytes : 0;
}

#endif
