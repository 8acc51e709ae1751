/*
 * restore.c - from a recorded state to a heap that could have come to it by itself. See restore.h.
 *
 * Everything is checked first. Then segments are made in the order of their addresses:
 *
 *   plain        memory of the device, cut into its blocks
 *   expandable   one range for all runs of a shelf that follow each other and fit it
 *
 * Where a range began is not recorded: below its first run nothing is mapped. It begins there, or
 * further down where what comes next leaves no room for all of it:
 *
 *   recorded             [run] [run]        [run of another shelf]
 *   restored     |<------- range -------->|<------- range ------->
 */
#include "alloc/restore.h"

#include "alloc/core/check.h"
#include "alloc/core/ledger.h"
#include "alloc/core/place.h"
#include "alloc/core/pools.h"
#include "alloc/core/world.h"
#include "alloc/vm/expandable.h"
#include "alloc/vm/segments.h"
#include "base/assert.h"
#include "base/error.h"
#include "settings/rounding.h"

#include <inttypes.h>

/* A segment to be restored. */
typedef struct free_piece {
    const plim_segment *from;
    plim_shelf *shelf;
    size_t run_count; /* of the range that begins with it; 0: it is plain, or not the first */
    plim_addr start;  /* where that range began */
    uint64_t shift;   /* what was added to its addresses */
} free_piece;

typedef struct restoring {
    plim_heap *heap;
    const plim_heap_state *state;
    free_piece *pieces;
} restoring;

/* --- what was recorded --- */

static plim_status malformed(plim_error *err, plim_addr addr, const char *what)
{
    return plim_fail(err, PLIM_INVALID_ARGUMENT,
                     "the state to be restored is wrong at 0x%" PRIx64 ": %s", addr, what);
}

static plim_status check_block(const plim_block *block, plim_addr addr, plim_addr end,
                               plim_error *err)
{
    if (block->addr != addr || block->bytes == 0 || block->bytes > end - addr) {
        return malformed(err, addr, "blocks do not tile their segment");
    }
    if (block->bytes % PLIM_BLOCK_BYTES_MIN != 0) {
        return malformed(err, addr, "a block is no multiple of 512 bytes");
    }
    if (block->state != PLIM_BLOCK_INACTIVE && block->state != PLIM_BLOCK_ACTIVE_ALLOCATED) {
        return malformed(err, addr, "a block is neither live nor free");
    }
    if (block->state == PLIM_BLOCK_ACTIVE_ALLOCATED && block->requested_bytes > block->bytes) {
        return malformed(err, addr, "a block is smaller than its request");
    }
    return PLIM_OK;
}

static plim_status check_segment(const plim_heap_state *state, const plim_segment *segment,
                                 plim_addr free_from, plim_error *err)
{
    if (segment->addr < free_from) {
        return malformed(err, segment->addr, "segments overlap, or are in no order");
    }
    if (segment->addr < PLIM_BLOCK_BYTES_MIN || segment->bytes == 0 ||
        segment->bytes > UINT64_MAX - segment->addr) {
        return malformed(err, segment->addr, "a segment is nowhere");
    }
    if (segment->block_first > state->block_count ||
        segment->block_count > state->block_count - segment->block_first) {
        return malformed(err, segment->addr, "a segment's blocks are not there");
    }
    plim_addr addr = segment->addr;
    const plim_addr end = addr + segment->bytes;
    for (uint64_t i = 0; i < segment->block_count; i++) {
        const plim_block *const block = &state->blocks[segment->block_first + i];
        PLIM_TRY(check_block(block, addr, end, err));
        addr += block->bytes;
    }
    return addr == end ? PLIM_OK : malformed(err, addr, "blocks do not tile their segment");
}

static plim_status check_state(const plim_heap *heap, const plim_heap_state *state, plim_error *err)
{
    plim_addr free_from = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < state->segment_count; i++) {
        const plim_segment *const segment = &state->segments[i];
        PLIM_TRY(check_segment(state, segment, free_from, err));
        free_from = segment->addr + segment->bytes;
        bytes += segment->bytes;
    }
    if (bytes <= heap->limit_bytes) {
        return PLIM_OK;
    }
    return plim_fail(err, PLIM_OUT_OF_DEVICE_MEMORY,
                     "device %d: %" PRIu64 " bytes are to be restored, and no more than %" PRIu64
                     " may be reserved",
                     (int)heap->index, bytes, heap->limit_bytes);
}

static plim_status check_heap(plim_heap *heap, plim_error *err)
{
    plim_world_stop(heap);
    const bool is_empty =
        heap->segments == NULL && heap->private_pools.count == 0 && heap->routings.count == 0;
    plim_world_resume(heap, NULL);
    if (!is_empty) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "device %d is in use already: only one that is not can be restored",
                         (int)heap->index);
    }
    if (plim_harden_room(heap, 0) > 0) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "device %d: what is restored has no canaries; make the allocator without",
                         (int)heap->index);
    }
    return PLIM_OK;
}

/* --- pools and shelves --- */

static bool is_private(const plim_segment *segment)
{
    return !plim_pool_is_default(segment->pool);
}

/* Neighbours are mostly of one pool. */
static bool is_of_same_pool(const plim_segment *segment, size_t i)
{
    return i > 0 && plim_pool_ids_equal(segment->pool, segment[-1].pool);
}

/* A user for each private pool. */
static plim_status make_pools(plim_heap *heap, const plim_heap_state *state, plim_error *err)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        const plim_segment *const segment = &state->segments[i];
        if (is_private(segment) && !is_of_same_pool(segment, i) &&
            plim_pool_use_count(heap->allocator, heap->index, segment->pool) == 0) {
            PLIM_TRY(plim_pool_retain(heap->allocator, heap->index, segment->pool, NULL, err));
        }
    }
    return PLIM_OK;
}

/* Identities that are given out from now on are others. */
static void pass_pool_ids(plim_allocator *allocator, const plim_heap_state *state)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        const plim_pool_id id = state->segments[i].pool;
        for (int is_capture = 0; is_capture < 2; is_capture++) {
            const uint64_t n = is_capture == 0 ? id.b : id.a;
            if (n > atomic_load(&allocator->pool_ids[is_capture])) {
                atomic_store(&allocator->pool_ids[is_capture], n);
            }
        }
    }
}

static plim_status find_shelves(restoring *to, plim_error *err)
{
    plim_heap *const heap = to->heap;
    plim_private_pool *owner = NULL;
    for (size_t i = 0; i < to->state->segment_count; i++) {
        const plim_segment *const from = &to->state->segments[i];
        if (!is_of_same_pool(from, i)) {
            owner = is_private(from) ? plim_private_pool_find(heap, from->pool) : NULL;
            PLIM_ASSERT(owner != NULL || !is_private(from));
        }
        plim_pool *const large = owner != NULL ? &owner->large : &heap->large;
        plim_pool *const small = owner != NULL ? &owner->small : &heap->small;
        plim_shelf *const shelf =
            plim_shelf_for(heap, from->is_large ? large : small, to->state->streams[from->stream]);
        if (shelf == NULL) {
            return plim_fail_memory(err, "restoring pools");
        }
        if (from->is_expandable && from->bytes % plim_expandable_handle_bytes(shelf) != 0) {
            return plim_fail(err, PLIM_UNSUPPORTED,
                             "the expandable segment at 0x%" PRIx64 " of %" PRIu64
                             " bytes cannot be restored of handles of %" PRIu64,
                             from->addr, from->bytes, plim_expandable_handle_bytes(shelf));
        }
        to->pieces[i] = (free_piece){ .from = from, .shelf = shelf };
    }
    return PLIM_OK;
}

/* --- ranges --- */

static plim_addr end_of(const plim_segment *segment)
{
    return segment->addr + segment->bytes;
}

/* The number of pieces from this one on that lie in one range. */
static size_t count_runs(const free_piece *first, size_t left)
{
    const uint64_t handle_bytes = plim_expandable_handle_bytes(first->shelf);
    const uint64_t range_bytes = plim_expandable_range_bytes(first->shelf);
    size_t count = 1;
    for (; count < left; count++) {
        const free_piece *const next = &first[count];
        if (!next->from->is_expandable || next->shelf != first->shelf ||
            (next->from->addr - first->from->addr) % handle_bytes != 0 ||
            end_of(next->from) - first->from->addr > range_bytes) {
            break;
        }
    }
    return count;
}

static plim_status find_ranges(restoring *to, plim_error *err)
{
    const size_t count = to->state->segment_count;
    for (size_t i = 0; i < count;) {
        free_piece *const first = &to->pieces[i];
        if (!first->from->is_expandable) {
            i++;
            continue;
        }
        if (first->from->bytes > plim_expandable_range_bytes(first->shelf)) {
            return plim_fail(err, PLIM_UNSUPPORTED,
                             "the expandable segment at 0x%" PRIx64 " of %" PRIu64
                             " bytes cannot be restored in a range of %" PRIu64,
                             first->from->addr, first->from->bytes,
                             plim_expandable_range_bytes(first->shelf));
        }
        first->run_count = count_runs(first, count - i);
        i += first->run_count;
    }
    return PLIM_OK;
}

/* The highest start from which a range ends before `limit`; where there is no such start, that of
 * its first run. `free_from` is where what lies below it ends. */
static plim_addr start_of(const free_piece *first, plim_addr free_from, plim_addr limit)
{
    const uint64_t handle_bytes = plim_expandable_handle_bytes(first->shelf);
    const uint64_t range_bytes = plim_expandable_range_bytes(first->shelf);
    const plim_addr addr = first->from->addr;
    const uint64_t used_bytes = end_of(first[first->run_count - 1].from) - addr;
    const uint64_t room = limit - addr;
    if (room >= range_bytes) {
        return addr;
    }
    const uint64_t missing = (range_bytes - room + handle_bytes - 1) / handle_bytes * handle_bytes;
    const bool may = missing <= range_bytes - used_bytes && missing <= addr - free_from;
    return may ? addr - missing : addr;
}

/* From the last one down: each limits the one below it. */
static void place_ranges(restoring *to)
{
    plim_addr limit = UINT64_MAX;
    for (size_t i = to->state->segment_count; i > 0; i--) {
        free_piece *const now = &to->pieces[i - 1];
        if (!now->from->is_expandable) {
            limit = now->from->addr;
        } else if (now->run_count > 0) {
            now->start = start_of(now, i > 1 ? end_of(now[-1].from) : PLIM_BLOCK_BYTES_MIN, limit);
            limit = now->start;
        }
    }
}

/* --- blocks --- */

/*
 * Makes the first `bytes` of the rest of a segment a block: free ones are joined with a free one
 * before them. *rest is NULL when nothing is left. The heap has a spare record.
 */
static plim_heap_block *cut(plim_heap_block **rest, uint64_t bytes, bool is_free, bool is_mapped)
{
    plim_heap_block *const whole = *rest;
    PLIM_ASSERT(whole != NULL); /* blocks tile their segment, and runs fit their range */
    PLIM_ASSERT(bytes <= whole->bytes);
    plim_slab_list *const spare = &plim_shelf_of(whole)->heap->spare;
    plim_heap_block *block = whole->prev;
    if (is_free && plim_block_is_free(block) && block->is_mapped == is_mapped) {
        block->bytes += bytes;
    } else if (bytes == whole->bytes) {
        *rest = NULL;
        whole->is_mapped = is_mapped;
        return whole;
    } else {
        block = plim_block_new(spare);
        PLIM_ASSERT(block != NULL);
        *block = (plim_heap_block){ .addr = whole->addr,
                                    .bytes = bytes,
                                    .segment = whole->segment,
                                    .stack = PLIM_NONE,
                                    .state = PLIM_BLOCK_IS_FREE,
                                    .is_mapped = is_mapped };
        plim_splice(block, whole->prev, whole);
    }
    whole->addr += bytes;
    whole->bytes -= bytes;
    if (whole->bytes == 0) {
        block->next = NULL;
        plim_block_free(spare, whole);
        *rest = NULL;
    }
    return block;
}

/* The recorded blocks of a segment, from where its rest begins. */
static plim_status cut_blocks(restoring *to, const plim_segment *from, plim_heap_block **rest,
                              plim_error *err)
{
    plim_heap *const heap = to->heap;
    plim_allocator *const allocator = heap->allocator;
    PLIM_ASSERT(*rest != NULL);
    plim_segment_record *const segment = (*rest)->segment;
    for (uint64_t i = 0; i < from->block_count; i++) {
        const plim_block *const recorded = &to->state->blocks[from->block_first + i];
        const bool is_free = recorded->state == PLIM_BLOCK_INACTIVE;
        if (!plim_slab_fill(&allocator->blocks, &heap->spare, 1)) {
            return plim_fail_memory(err, "restoring blocks");
        }
        plim_heap_block *const block = cut(rest, recorded->bytes, is_free, true);
        block->requested_bytes = recorded->requested_bytes;
        if (is_free) {
            continue;
        }
        if (!plim_page_index_put(&segment->pages, segment->addr, block, &allocator->nodes)) {
            return plim_fail_memory(err, "restoring blocks");
        }
        block->state = PLIM_BLOCK_IS_LIVE;
        block->as.uses = NULL;
    }
    return PLIM_OK;
}

static void count_block(plim_heap *heap, const plim_heap_block *block)
{
    const int64_t bytes = (int64_t)block->bytes;
    plim_ledger_change change = { { 0 } };
    if (block->state == PLIM_BLOCK_IS_LIVE) {
        change.by[PLIM_STAT_ALLOCATION] = 1;
        change.by[PLIM_STAT_ALLOCATED_BYTES] = bytes;
        change.by[PLIM_STAT_ACTIVE] = 1;
        change.by[PLIM_STAT_ACTIVE_BYTES] = bytes;
        change.by[PLIM_STAT_REQUESTED_BYTES] = (int64_t)block->requested_bytes;
        if (block->bytes >= heap->allocator->settings.max_split_bytes) {
            plim_stat_increase(&heap->stats.oversize_allocations, 1);
        }
    } else if (!plim_block_is_expandable(block) && plim_block_is_split(block)) {
        change.by[PLIM_STAT_INACTIVE_SPLIT] = 1;
        change.by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = bytes;
    }
    plim_ledger_count(&heap->ledger, plim_shelf_of(block)->pool->is_small, &change);
}

/* Counts a segment's blocks and puts the free ones in their sets, also those of half a segment:
 * forget_all() finds them there. */
static plim_status put_blocks(plim_segment_record *segment, plim_error *err)
{
    plim_shelf *const shelf = plim_shelf_of_segment(segment);
    for (plim_heap_block *block = segment->head; block != NULL; block = block->next) {
        count_block(shelf->heap, block);
        if (block->state == PLIM_BLOCK_IS_FREE) {
            plim_put_free(block);
        }
    }
    const bool is_settled =
        plim_free_set_settle(&shelf->blocks) && plim_free_set_settle(&shelf->unmapped);
    return is_settled ? PLIM_OK : plim_fail_memory(err, "restoring free blocks");
}

/* --- segments --- */

static void want(const restoring *to, plim_addr addr)
{
    if (to->state->place != NULL) {
        to->state->place(to->state->place_ctx, addr);
    }
}

/* The memory of a plain segment or a run. */
static void count_memory(plim_shelf *shelf, uint64_t bytes)
{
    if (shelf->pool->owner != NULL) {
        shelf->pool->owner->driver_allocations++;
    }
    plim_segment_count(shelf, (int64_t)bytes);
    shelf->heap->stats.num_device_alloc++;
}

static plim_status restore_plain(restoring *to, free_piece *now, plim_error *err)
{
    plim_heap *const heap = to->heap;
    plim_shelf *const shelf = now->shelf;
    const uint64_t bytes = now->from->bytes;
    plim_addr addr = 0;
    want(to, now->from->addr);
    PLIM_TRY(heap->device.ops->memory_alloc(heap->device.self, bytes, &addr, err));
    plim_segment_record *const segment = plim_segment_add(shelf, addr, bytes, true);
    if (segment == NULL) {
        (void)heap->device.ops->memory_free(heap->device.self, addr, NULL);
        return plim_fail_memory(err, "restoring a segment");
    }
    now->shift = addr - now->from->addr;
    count_memory(shelf, bytes);
    plim_stats_increase(&heap->stats, PLIM_STAT_SEGMENT, shelf->pool->is_small, 1);
    if (bytes >= heap->allocator->settings.max_split_bytes) {
        plim_stat_increase(&heap->stats.oversize_segments, 1);
    }
    plim_heap_block *rest = segment->head;
    const plim_status status = cut_blocks(to, now->from, &rest, err);
    const plim_status put = put_blocks(segment, status == PLIM_OK ? err : NULL);
    return status == PLIM_OK ? put : status;
}

/* One run of a range, after those before it. */
static plim_status restore_run(restoring *to, const free_piece *run, plim_heap_block **rest,
                               plim_error *err)
{
    plim_heap *const heap = to->heap;
    const plim_addr addr = run->from->addr + run->shift;
    const uint64_t bytes = run->from->bytes;
    PLIM_ASSERT(*rest != NULL);
    plim_segment_record *const segment = (*rest)->segment;
    if (addr > (*rest)->addr) {
        if (!plim_slab_fill(&heap->allocator->blocks, &heap->spare, 1)) {
            return plim_fail_memory(err, "restoring a range");
        }
        (void)cut(rest, addr - (*rest)->addr, true, false);
    }
    PLIM_TRY(plim_expandable_map(segment, addr, bytes, err));
    count_memory(run->shelf, bytes);
    return cut_blocks(to, run->from, rest, err);
}

static plim_status restore_range(restoring *to, free_piece *first, plim_error *err)
{
    plim_segment_record *segment = NULL;
    want(to, first->start);
    PLIM_TRY(plim_expandable_reserve(first->shelf, &segment, err));
    plim_heap_block *rest = segment->head;
    plim_status status = PLIM_OK;
    for (size_t i = 0; i < first->run_count && status == PLIM_OK; i++) {
        first[i].shift = segment->addr - first->start;
        status = restore_run(to, &first[i], &rest, err);
    }
    const plim_status put = put_blocks(segment, status == PLIM_OK ? err : NULL);
    return status == PLIM_OK ? put : status;
}

static plim_status restore_all(restoring *to, plim_error *err)
{
    PLIM_TRY(find_shelves(to, err));
    PLIM_TRY(find_ranges(to, err));
    place_ranges(to);
    for (size_t i = 0; i < to->state->segment_count; i++) {
        free_piece *const now = &to->pieces[i];
        if (!now->from->is_expandable) {
            PLIM_TRY(restore_plain(to, now, err));
        } else if (now->run_count > 0) {
            PLIM_TRY(restore_range(to, now, err));
        }
    }
    return PLIM_OK;
}

/* --- failing --- */

static void forget_segment(plim_heap *heap, plim_segment_record *segment)
{
    plim_heap_block *const head = segment->head;
    PLIM_ASSERT(head != NULL);
    for (plim_heap_block *block = head; block != NULL;) {
        plim_heap_block *const next = block->next;
        if (block->state == PLIM_BLOCK_IS_FREE) {
            plim_take_free(block);
        }
        if (block != head) {
            plim_block_free(&heap->spare, block);
        }
        block = next;
    }
    head->next = NULL;
    if (segment->expandable != NULL) {
        plim_expandable_destroy(segment);
    } else {
        (void)heap->device.ops->memory_free(heap->device.self, segment->addr, NULL);
    }
    plim_segment_remove(segment);
}

/* As if nothing had been restored. */
static void forget_all(plim_heap *heap, const plim_device_stats *stats)
{
    while (heap->segments != NULL) {
        forget_segment(heap, heap->segments);
    }
    while (heap->private_pools.count > 0) {
        plim_private_pool_remove(heap, heap->private_pools.items[0]);
    }
    heap->reserved_bytes = 0;
    heap->stats = *stats;
    plim_ledger_open(&heap->ledger, &heap->stats, 1);
}

/* --- all of it --- */

static void tell_addresses(const restoring *to, plim_addr *ret_addrs)
{
    for (size_t i = 0; i < to->state->segment_count; i++) {
        const plim_segment *const from = to->pieces[i].from;
        for (uint64_t b = from->block_first; b < from->block_first + from->block_count; b++) {
            if (to->state->blocks[b].state == PLIM_BLOCK_ACTIVE_ALLOCATED) {
                ret_addrs[b] = to->state->blocks[b].addr + to->pieces[i].shift;
            }
        }
    }
}

plim_status plim_allocator_restore(plim_allocator *allocator, int32_t device,
                                   const plim_heap_state *state, plim_addr *ret_addrs,
                                   plim_error *err)
{
    plim_heap *const heap = plim_heap_of(allocator, device, err);
    if (heap == NULL) {
        return PLIM_INVALID_ARGUMENT;
    }
    PLIM_TRY(check_heap(heap, err));
    PLIM_TRY(check_state(heap, state, err));
    if (state->segment_count == 0) {
        return PLIM_OK;
    }
    restoring to = { .heap = heap, .state = state };
    to.pieces = plim_mem_alloc(allocator->mem, state->segment_count, sizeof *to.pieces);
    if (to.pieces == NULL) {
        return plim_fail_memory(err, "restoring segments");
    }
    plim_status status = make_pools(heap, state, err);
    plim_world_stop(heap);
    plim_world_settle(heap);
    const plim_device_stats stats = heap->stats;
    if (status == PLIM_OK) {
        status = restore_all(&to, err);
    }
    if (status == PLIM_OK) {
        plim_world_settle(heap);
        pass_pool_ids(allocator, state);
        tell_addresses(&to, ret_addrs);
    } else {
        forget_all(heap, &stats);
    }
    plim_world_resume(heap, NULL);
    plim_mem_free(allocator->mem, to.pieces, state->segment_count, sizeof *to.pieces);
    return status;
}
