/*
 * lane.c - the fast path. See lane.h, and heap.h for parking.
 */
#include "alloc/core/lane.h"

#include "alloc/core/events.h"
#include "alloc/core/place.h"
#include "alloc/core/policy.h"
#include "settings/rounding.h"

#include <string.h>

#define SPARE_FILL 32  /* block records taken from the slab at a time */
#define SPARE_MAX  256 /* … and kept at most */

static void emit_always(plim_lane *lane, plim_action action, const plim_heap_block *block,
                        uint32_t stack, uint64_t ticks)
{
    plim_emit_always(lane->heap, plim_shelf_of(block)->pool,
                     &(plim_event){ .action = action,
                                    .addr = block->addr,
                                    .bytes = block->requested_bytes,
                                    .block_bytes = block->bytes,
                                    .stream = lane->stream,
                                    .stack = stack },
                     ticks);
}

static void emit_alloc(plim_lane *lane, const plim_heap_block *block)
{
    if (plim_is_listening(lane->heap)) {
        emit_always(lane, PLIM_ALLOC, block, block->stack, plim_ticks_now());
    }
}

static void emit_free(plim_lane *lane, const plim_heap_block *block, uint32_t stack)
{
    if (plim_is_listening(lane->heap)) {
        const uint32_t cause = stack != PLIM_NONE ? stack : block->stack;
        const uint64_t ticks = plim_ticks_now(); /* reading the clock is most of the cost */
        emit_always(lane, PLIM_FREE_REQUESTED, block, cause, ticks);
        emit_always(lane, PLIM_FREE_COMPLETED, block, cause, ticks);
    }
}

/* --- undoing --- */

/*
 * A block that is freed and requested again and again, which is what temporary tensors are, is
 * counted late: parking leaves the statistics as they were, but for inactive_split, which may rise
 * by it, and so does unparking. What that hides is only that counts went down and up again. Before
 * anything else is counted, all of it is (count_late), so that no peak is missed and none is made
 * up.
 */

static plim_ledger_change reverse(const plim_ledger_change *change)
{
    plim_ledger_change back;
    for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
        back.by[f] = -change->by[f];
    }
    return back;
}

static void count_late(plim_lane *lane)
{
    if (!lane->has_uncounted) {
        return;
    }
    lane->has_uncounted = false;
    for (int is_small = 0; is_small < 2; is_small++) {
        plim_undo *undo = &lane->undo[is_small];
        for (uint32_t i = 0; i < undo->count; i++) {
            plim_undo_entry *entry = &undo->entries[i];
            plim_ledger_cycle(&lane->ledger, is_small == 1, &entry->change, entry->cycles);
            entry->cycles = 0;
            if (i >= undo->live && entry->is_counted) {
                plim_ledger_count_deferred(&lane->ledger, is_small == 1, &entry->change);
                entry->is_counted = false;
            }
        }
    }
}

/* Frees the parked blocks of a shelf for good, the newest first: each step goes back to what the
 * shelf was before that block was handed out. */
static void settle(plim_lane *lane, plim_undo *undo)
{
    while (undo->count > undo->live) {
        undo->count--;
        plim_take_back(undo->entries[undo->count].block, &lane->spare);
    }
}

void plim_lane_settle(plim_lane *lane)
{
    count_late(lane);
    for (int is_small = 0; is_small < 2; is_small++) {
        settle(lane, &lane->undo[is_small]);
        lane->undo[is_small].live = 0;
        lane->undo[is_small].count = 0;
    }
    if (lane->spare.count > SPARE_MAX) {
        plim_slab_drain(&lane->heap->allocator->blocks, &lane->spare, SPARE_FILL);
    }
}

/* Room for one entry more after the live ones; nothing is parked. */
static plim_undo_entry *next_undo(plim_undo *undo)
{
    if (undo->live == PLIM_UNDO_MAX) { /* the older half is not undone any more */
        undo->live = PLIM_UNDO_MAX / 2;
        undo->count = undo->live;
        memmove(undo->entries, &undo->entries[PLIM_UNDO_MAX - undo->live],
                undo->live * sizeof undo->entries[0]);
    }
    return &undo->entries[undo->live];
}

/* Counts the request that unparks a block, if it is to be; false: no room for it. */
static bool count_unparking(plim_lane *lane, plim_undo_entry *entry, bool is_small, uint64_t bytes)
{
    int64_t *requested = &entry->change.by[PLIM_STAT_REQUESTED_BYTES];
    if (entry->is_counted && *requested == (int64_t)bytes &&
        plim_ledger_undefer(&lane->ledger, is_small, &entry->change)) {
        entry->cycles++;
        return true;
    }
    count_late(lane);
    *requested = (int64_t)bytes;
    if (!plim_ledger_has_room(&lane->ledger, is_small, &entry->change)) {
        return false;
    }
    plim_ledger_count(&lane->ledger, is_small, &entry->change);
    return true;
}

/* The request that made the oldest parked block, again. */
static bool unpark(plim_lane *lane, plim_undo *undo, bool is_small, uint64_t bytes, uint32_t stack,
                   plim_addr *ret_addr)
{
    plim_undo_entry *entry = &undo->entries[undo->live];
    if (!count_unparking(lane, entry, is_small, bytes)) {
        return false;
    }
    plim_heap_block *block = entry->block;
    block->state = PLIM_BLOCK_IS_LIVE;
    block->requested_bytes = bytes;
    block->stack = stack;
    undo->live++;
    *ret_addr = block->addr;
    emit_alloc(lane, block);
    return true;
}

/* Counts the free that parks a block, or leaves that for later; false: no room for it. */
static bool count_parking(plim_lane *lane, plim_undo_entry *entry, bool is_small)
{
    /* Freeing raises inactive_split again where handing out lowered it; that alone needs room. */
    if (plim_ledger_defer(&lane->ledger, is_small, &entry->change)) {
        entry->is_counted = true;
        lane->has_uncounted = true;
        return true;
    }
    count_late(lane);
    const plim_ledger_change back = reverse(&entry->change);
    if (!plim_ledger_has_room(&lane->ledger, is_small, &back)) {
        return false;
    }
    plim_ledger_count(&lane->ledger, is_small, &back);
    entry->is_counted = false;
    return true;
}

/* A parked block that was split off is to be joined with the rest, whose cause is then gone. */
static void drop_cause_of_next(const plim_heap_block *block)
{
    plim_heap_block *const next = block->next;
    if (next != NULL && next->is_mapped &&
        (next->state == PLIM_BLOCK_IS_FREE || next->state == PLIM_BLOCK_IS_PARKED)) {
        next->cause = 0;
    }
}

/* Parks the newest block of a shelf, if `addr` is it. */
static bool park(plim_lane *lane, bool is_small, plim_addr addr, uint32_t stack)
{
    plim_undo *undo = &lane->undo[is_small];
    if (undo->live == 0 || undo->entries[undo->live - 1].block->addr != addr) {
        return false;
    }
    plim_undo_entry *entry = &undo->entries[undo->live - 1];
    if (!count_parking(lane, entry, is_small)) {
        return false;
    }
    emit_free(lane, entry->block, stack);
    entry->block->state = PLIM_BLOCK_IS_PARKED;
    if (atomic_load_explicit(&lane->heap->allocator->has_causes, memory_order_relaxed)) {
        drop_cause_of_next(entry->block);
    }
    undo->live--;
    return true;
}

/* --- the ordinary way --- */

static bool take(plim_lane *lane, plim_shelf *shelf, uint64_t rounded, uint64_t bytes,
                 uint32_t stack, plim_addr *ret_addr)
{
    plim_allocator *allocator = lane->heap->allocator;
    if (shelf->blocks.waiting != NULL) {
        return false;
    }
    uint64_t split_bytes = 0;
    const plim_free_cursor cursor = allocator->policy->fit(shelf, rounded, &split_bytes);
    const plim_heap_block *block = plim_free_cursor_block(cursor);
    if (block == NULL || (split_bytes > 0 ? split_bytes : block->bytes) >=
                             allocator->settings.max_split_bytes) { /* has statistics of its own */
        return false;
    }
    if (split_bytes > 0 && lane->spare.first == NULL &&
        !plim_slab_fill(&allocator->blocks, &lane->spare, SPARE_FILL)) {
        return false;
    }
    const bool is_small = shelf->pool->is_small;
    plim_undo *undo = &lane->undo[is_small];
    plim_undo_entry *entry = next_undo(undo);
    plim_change_of_hand_out(block, split_bytes, bytes, &entry->change);
    if (!plim_ledger_has_room(&lane->ledger, is_small, &entry->change)) {
        return false;
    }
    plim_heap_block *given = plim_hand_out_at(allocator, cursor, split_bytes, &lane->spare);
    if (given == NULL) {
        return false;
    }
    given->requested_bytes = bytes;
    given->stack = stack;
    plim_ledger_count(&lane->ledger, is_small, &entry->change);
    entry->block = given;
    entry->rounded_bytes = rounded;
    entry->cycles = 0;
    entry->is_counted = false;
    undo->live++;
    undo->count = undo->live;
    *ret_addr = given->addr;
    emit_alloc(lane, given);
    return true;
}

bool plim_lane_malloc(plim_lane *lane, uint64_t bytes, uint32_t stack, plim_addr *ret_addr)
{
    const bool as_owner = plim_biased_enter(&lane->lock);
    bool is_done = false;
    if (lane->is_open) {
        const plim_allocator *allocator = lane->heap->allocator;
        const uint64_t rounded =
            allocator->has_divisions
                ? plim_round_divided(allocator->settings.roundup_power2_divisions, bytes)
                : (bytes + allocator->unit_mask) & ~allocator->unit_mask;
        const bool is_small = rounded <= allocator->small_bytes_max;
        plim_undo *undo = &lane->undo[is_small];
        if (undo->live < undo->count && undo->entries[undo->live].rounded_bytes == rounded) {
            is_done = unpark(lane, undo, is_small, bytes, stack, ret_addr);
        } else {
            count_late(lane);
            settle(lane, undo);
            is_done =
                take(lane, is_small ? &lane->small : &lane->large, rounded, bytes, stack, ret_addr);
        }
    }
    plim_biased_leave(&lane->lock, as_owner);
    return is_done;
}

/* A block of this lane that starts at an address, or NULL. */
static plim_heap_block *find_block(const plim_lane *lane, plim_addr addr)
{
    plim_segment_record *segment = plim_directory_find(&lane->heap->allocator->directory, addr);
    if (segment == NULL) {
        return NULL;
    }
    const plim_shelf *shelf = plim_shelf_of_segment(segment);
    if (shelf != &lane->small && shelf != &lane->large) {
        return NULL;
    }
    return plim_page_index_find(&segment->pages, segment->addr, addr);
}

static bool give(plim_lane *lane, plim_addr addr, uint32_t stack)
{
    plim_heap_block *block = find_block(lane, addr);
    if (block == NULL || block->as.uses != NULL ||
        block->bytes >= lane->heap->allocator->settings.max_split_bytes) {
        return false;
    }
    const bool is_small = plim_shelf_of(block)->pool->is_small;
    plim_undo *undo = &lane->undo[is_small];
    count_late(lane);
    settle(lane, undo);
    undo->live = 0;
    undo->count = 0;
    plim_ledger_change change;
    plim_change_of_take_back(block, &change);
    change.by[PLIM_STAT_ALLOCATION] = -1;
    change.by[PLIM_STAT_ALLOCATED_BYTES] = -(int64_t)block->bytes;
    if (!plim_ledger_has_room(&lane->ledger, is_small, &change)) {
        return false;
    }
    plim_ledger_count(&lane->ledger, is_small, &change);
    emit_free(lane, block, stack);
    plim_take_back(block, &lane->spare);
    if (lane->spare.count > SPARE_MAX) {
        plim_slab_drain(&lane->heap->allocator->blocks, &lane->spare, SPARE_MAX / 2);
    }
    return true;
}

bool plim_lane_free(plim_lane *lane, plim_addr addr, uint32_t stack)
{
    const bool as_owner = plim_biased_enter(&lane->lock);
    const bool is_done =
        lane->is_open && (park(lane, true, addr, stack) || park(lane, false, addr, stack) ||
                          give(lane, addr, stack));
    plim_biased_leave(&lane->lock, as_owner);
    return is_done;
}
