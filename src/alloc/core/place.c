/*
 * place.c - splitting, merging, and the bookkeeping of both. See place.h.
 */
#include "alloc/core/place.h"

#include "base/assert.h"

void plim_splice(plim_heap_block *block, plim_heap_block *prev, plim_heap_block *next)
{
    block->prev = prev;
    block->next = next;
    if (prev != NULL) {
        prev->next = block;
    } else {
        block->segment->head = block;
    }
    if (next != NULL) {
        next->prev = block;
    }
}

void plim_put_free(plim_heap_block *block)
{
    plim_shelf *shelf = plim_shelf_of(block);
    block->state = PLIM_BLOCK_IS_FREE;
    if (block->is_mapped) {
        block->as.gc_base = shelf->pool->lookups;
        plim_free_set_put(&shelf->blocks, block);
    } else {
        block->as.gc_base = 0;
        plim_free_set_put(&shelf->unmapped, block);
    }
}

void plim_take_free(plim_heap_block *block)
{
    plim_shelf *shelf = plim_shelf_of(block);
    plim_free_set_take(block->is_mapped ? &shelf->blocks : &shelf->unmapped, block);
}

/* --- handing out --- */

void plim_change_of_hand_out(const plim_heap_block *block, uint64_t split_bytes,
                             uint64_t requested_bytes, plim_ledger_change *ret_change)
{
    const int64_t bytes = (int64_t)(split_bytes > 0 ? split_bytes : block->bytes);
    int64_t *by = ret_change->by;
    by[PLIM_STAT_ALLOCATION] = 1;
    by[PLIM_STAT_ALLOCATED_BYTES] = bytes;
    by[PLIM_STAT_ACTIVE] = 1;
    by[PLIM_STAT_ACTIVE_BYTES] = bytes;
    by[PLIM_STAT_REQUESTED_BYTES] = (int64_t)requested_bytes;
    by[PLIM_STAT_INACTIVE_SPLIT] = 0;
    by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = 0;
    if (plim_block_is_expandable(block)) {
        return;
    }
    const bool was_split = plim_block_is_split(block);
    if (split_bytes > 0) {
        by[PLIM_STAT_INACTIVE_SPLIT] = was_split ? 0 : 1;
        by[PLIM_STAT_INACTIVE_SPLIT_BYTES] =
            was_split ? -bytes : (int64_t)(block->bytes - split_bytes);
    } else if (was_split) {
        by[PLIM_STAT_INACTIVE_SPLIT] = -1;
        by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = -bytes;
    }
}

static bool index_live(plim_allocator *allocator, plim_heap_block *block)
{
    plim_segment_record *segment = block->segment;
    block->state = PLIM_BLOCK_IS_LIVE;
    block->as.uses = NULL;
    block->event_count = 0;
    return plim_page_index_put(&segment->pages, segment->addr, block, &allocator->nodes);
}

static plim_heap_block *hand_out_whole(plim_allocator *allocator, plim_heap_block *block)
{
    const uint64_t gc_base = block->as.gc_base;
    if (!index_live(allocator, block)) {
        block->state = PLIM_BLOCK_IS_FREE;
        block->as.gc_base = gc_base;
        return NULL;
    }
    return block;
}

/* Cuts the front off a free block, whose place in its set is left to the caller. */
static plim_heap_block *hand_out_front(plim_allocator *allocator, plim_heap_block *block,
                                       uint64_t split_bytes, plim_slab_list *spare)
{
    plim_heap_block *front = plim_block_new(spare);
    if (front == NULL) {
        return NULL;
    }
    *front = (plim_heap_block){ .addr = block->addr,
                                .bytes = split_bytes,
                                .segment = block->segment,
                                .stack = PLIM_NONE,
                                .is_mapped = true };
    if (!index_live(allocator, front)) {
        plim_block_free(spare, front);
        return NULL;
    }
    plim_splice(front, block->prev, block);
    block->addr += split_bytes;
    block->bytes -= split_bytes;
    return front;
}

plim_heap_block *plim_hand_out(plim_allocator *allocator, plim_heap_block *block,
                               uint64_t split_bytes, plim_slab_list *spare)
{
    if (split_bytes == 0) {
        return hand_out_whole(allocator, block);
    }
    plim_heap_block *front = hand_out_front(allocator, block, split_bytes, spare);
    if (front != NULL) {
        plim_put_free(block);
    }
    return front;
}

plim_heap_block *plim_hand_out_at(plim_allocator *allocator, plim_free_cursor cursor,
                                  uint64_t split_bytes, plim_slab_list *spare)
{
    plim_heap_block *block = plim_free_cursor_block(cursor);
    plim_shelf *shelf = plim_shelf_of(block);
    if (split_bytes == 0) {
        plim_heap_block *whole = hand_out_whole(allocator, block);
        if (whole != NULL) {
            plim_free_set_take_at(&shelf->blocks, cursor);
        }
        return whole;
    }
    plim_heap_block *front = hand_out_front(allocator, block, split_bytes, spare);
    if (front != NULL) {
        block->as.gc_base = shelf->pool->lookups;
        plim_free_set_move(&shelf->blocks, cursor, block);
    }
    return front;
}

/* --- taking back --- */

static bool can_merge(const plim_heap_block *block, const plim_heap_block *neighbour)
{
    return plim_block_is_free(neighbour) && neighbour->is_mapped == block->is_mapped;
}

void plim_change_of_take_back(const plim_heap_block *block, plim_ledger_change *ret_change)
{
    int64_t *by = ret_change->by;
    by[PLIM_STAT_ALLOCATION] = 0;
    by[PLIM_STAT_ALLOCATED_BYTES] = 0;
    by[PLIM_STAT_ACTIVE] = -1;
    by[PLIM_STAT_ACTIVE_BYTES] = -(int64_t)block->bytes;
    by[PLIM_STAT_REQUESTED_BYTES] = -(int64_t)block->requested_bytes;
    by[PLIM_STAT_INACTIVE_SPLIT] = 0;
    by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = 0;
    if (plim_block_is_expandable(block)) {
        return;
    }
    const plim_heap_block *prev = can_merge(block, block->prev) ? block->prev : NULL;
    const plim_heap_block *next = can_merge(block, block->next) ? block->next : NULL;
    const bool stays_split = (prev != NULL ? prev->prev : block->prev) != NULL ||
                             (next != NULL ? next->next : block->next) != NULL;
    /* Each one absorbed is one less; what comes out is one more where it is still a part. */
    by[PLIM_STAT_INACTIVE_SPLIT] =
        (stays_split ? 1 : 0) - (prev != NULL ? 1 : 0) - (next != NULL ? 1 : 0);
    by[PLIM_STAT_INACTIVE_SPLIT_BYTES] =
        stays_split
            ? (int64_t)block->bytes
            : -(int64_t)((prev != NULL ? prev->bytes : 0) + (next != NULL ? next->bytes : 0));
}

/* Joins a block with a neighbour, whose place in its set is left to the caller. */
static void absorb(plim_heap_block *block, plim_heap_block *neighbour, plim_slab_list *spare)
{
    PLIM_ASSERT_DEBUG(neighbour->segment == block->segment);
    if (neighbour == block->prev) {
        block->addr = neighbour->addr;
        block->cause = neighbour->cause;
        plim_splice(block, neighbour->prev, block->next);
    } else {
        plim_splice(block, block->prev, neighbour->next);
    }
    block->bytes += neighbour->bytes;
    plim_block_free(spare, neighbour);
}

uint64_t plim_merge(plim_heap_block *block, plim_heap_block *neighbour, plim_slab_list *spare)
{
    if (!can_merge(block, neighbour)) {
        return 0;
    }
    const uint64_t bytes = neighbour->bytes;
    plim_take_free(neighbour);
    absorb(block, neighbour, spare);
    return bytes;
}

static inline void forget_live(plim_heap_block *block)
{
    plim_segment_record *segment = block->segment;
    plim_page_index_take(&segment->pages, segment->addr, block,
                         &plim_shelf_of(block)->heap->allocator->nodes);
    block->stack = PLIM_NONE;
}

void plim_take_back_alone(plim_heap_block *block)
{
    forget_live(block);
    block->state = PLIM_BLOCK_IS_FREE;
}

void plim_take_back(plim_heap_block *block, plim_slab_list *spare)
{
    forget_live(block);
    plim_heap_block *neighbour = block->next;
    if (can_merge(block, neighbour)) {
        (void)plim_merge(block, block->prev, spare);
    } else if (can_merge(block, block->prev)) {
        neighbour = block->prev;
    } else {
        plim_put_free(block);
        return;
    }
    /* Takes over the neighbour's place in the set, which is often where it stays. */
    plim_shelf *shelf = plim_shelf_of(block);
    const plim_free_cursor place =
        plim_free_set_at_least(&shelf->blocks, neighbour->bytes, neighbour->addr);
    if (plim_free_cursor_block(place) != neighbour) { /* it waits for host memory */
        (void)plim_merge(block, neighbour, spare);
        plim_put_free(block);
        return;
    }
    absorb(block, neighbour, spare);
    block->state = PLIM_BLOCK_IS_FREE;
    block->as.gc_base = shelf->pool->lookups;
    plim_free_set_move(&shelf->blocks, place, block);
}
