/*
 * restore.c - from a recorded state to a heap that could have come to it by itself. See restore.h.
 *
 * Everything is checked first. Then segments are made in the order of their addresses:
 *
 *   plain        memory of the device, cut into its blocks
 *   expandable   one range for all runs of a shelf that fit it, what is between them unmapped
 *
 * Where a range began is not recorded: below its first run nothing is mapped. It begins there, or
 * further down where the segment that comes next leaves no room for all of it.
 */
#include "alloc/restore.h"

#include "alloc/harden.h"
#include "alloc/place.h"
#include "alloc/pools.h"
#include "alloc/rounding.h"
#include "alloc/segments.h"
#include "alloc/stat.h"
#include "alloc/world.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"

#include <inttypes.h>

#define NONE SIZE_MAX

/* A segment to be restored. */
typedef struct piece {
    const plim_segment *from;
    plim_shelf *shelf;
    size_t next_run;     /* the next expandable one of this shelf, by address, or NONE */
    size_t next_foreign; /* the next that is not of this shelf, or the count of pieces */
    uint64_t shift;      /* what was added to its addresses */
    bool is_restored;
} piece;

typedef struct restoring {
    plim_heap *heap;
    const plim_heap_state *state;
    piece *pieces;
    plim_addr ranges_end; /* of the ranges so far, as they were recorded */
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
    if (segment->bytes == 0 || segment->bytes > UINT64_MAX - segment->addr ||
        segment->addr % PLIM_BLOCK_BYTES_MIN != 0) {
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

static plim_pool_id id_of(const plim_segment *segment)
{
    return (plim_pool_id){ segment->pool[0], segment->pool[1] };
}

static bool is_private(const plim_segment *segment)
{
    return segment->pool[0] != 0 || segment->pool[1] != 0;
}

/* Neighbours are mostly of one pool. */
static bool is_of_same_pool(const plim_segment *segment, size_t i)
{
    return i > 0 && plim_pool_ids_equal(id_of(segment), id_of(segment - 1));
}

/* A user for each private pool. */
static plim_status make_pools(plim_heap *heap, const plim_heap_state *state, plim_error *err)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        const plim_segment *const segment = &state->segments[i];
        if (is_private(segment) && !is_of_same_pool(segment, i) &&
            plim_pool_use_count(heap->allocator, heap->index, id_of(segment)) == 0) {
            PLIM_TRY(plim_pool_retain(heap->allocator, heap->index, id_of(segment), NULL, err));
        }
    }
    return PLIM_OK;
}

/* Identities that are given out from now on are others. */
static void pass_pool_ids(plim_allocator *allocator, const plim_heap_state *state)
{
    for (size_t i = 0; i < state->segment_count; i++) {
        const uint64_t *const id = state->segments[i].pool;
        for (int is_capture = 0; is_capture < 2; is_capture++) {
            const uint64_t n = id[!is_capture];
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
            owner = is_private(from) ? plim_private_pool_find(heap, id_of(from)) : NULL;
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
        to->pieces[i] = (piece){ .from = from, .shelf = shelf, .next_run = NONE };
    }
    return PLIM_OK;
}

static bool are_runs_of_one_shelf(const piece *a, const piece *b)
{
    return a->shelf == b->shelf && a->from->is_expandable && b->from->is_expandable;
}

static plim_status link_runs(restoring *to, plim_error *err)
{
    const size_t count = to->state->segment_count;
    plim_map last; /* shelf -> the run that comes next */
    plim_map_init(&last, to->heap->allocator->mem);
    plim_status status = PLIM_OK;
    for (size_t i = count; i > 0 && status == PLIM_OK; i--) {
        piece *const now = &to->pieces[i - 1];
        const bool goes_on = i < count && are_runs_of_one_shelf(now, now + 1);
        now->next_foreign = goes_on ? now[1].next_foreign : i;
        if (now->from->is_expandable) {
            const uint64_t key = (uint64_t)(uintptr_t)now->shelf;
            const uint64_t next = plim_map_get(&last, key);
            now->next_run = next != PLIM_MAP_ABSENT ? (size_t)next : NONE;
            if (!plim_map_put(&last, key, i - 1)) {
                status = plim_fail_memory(err, "restoring segments");
            }
        }
    }
    plim_map_deinit(&last);
    return status;
}

/* --- blocks --- */

/*
 * Makes the first `bytes` of the rest of a segment a block: free ones are joined with a free one
 * before them. *rest is NULL when nothing is left. The heap has a spare record.
 */
static plim_heap_block *cut(plim_heap_block **rest, uint64_t bytes, bool is_free, bool is_mapped)
{
    plim_heap_block *const whole = *rest;
    plim_line_list *const spare = &plim_shelf_of(whole)->heap->spare;
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
    plim_segment_record *const segment = (*rest)->segment;
    for (uint64_t i = 0; i < from->block_count; i++) {
        const plim_block *const recorded = &to->state->blocks[from->block_first + i];
        const bool is_free = recorded->state == PLIM_BLOCK_INACTIVE;
        if (!plim_line_slab_fill(&allocator->blocks, &heap->spare, 1)) {
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
    plim_change change = { { 0 } };
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

/* What the device gave for a plain segment or a run. */
static void count_memory(plim_shelf *shelf, uint64_t bytes)
{
    if (shelf->pool->owner != NULL) {
        shelf->pool->owner->driver_allocations++;
    }
    plim_segment_count(shelf, (int64_t)bytes);
    shelf->heap->stats.num_device_alloc++;
}

static plim_status restore_plain(restoring *to, piece *now, plim_error *err)
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

/* Where the range that a run belongs to began, as far as that can be told. */
static plim_addr range_start(const restoring *to, size_t first, uint64_t range_bytes)
{
    const piece *const run = &to->pieces[first];
    const plim_addr start = run->from->addr;
    if (run->next_foreign == to->state->segment_count) {
        return start;
    }
    const uint64_t room = to->pieces[run->next_foreign].from->addr - start;
    if (room >= range_bytes) {
        return start;
    }
    const uint64_t handle_bytes = plim_expandable_handle_bytes(run->shelf);
    const uint64_t missing = (range_bytes - room + handle_bytes - 1) / handle_bytes * handle_bytes;
    const plim_segment *const before = first > 0 ? run[-1].from : NULL;
    const plim_addr before_end = before != NULL ? before->addr + before->bytes : handle_bytes;
    const plim_addr lowest = before_end > to->ranges_end ? before_end : to->ranges_end;
    return start >= lowest && start - lowest >= missing ? start - missing : start;
}

/* One run of a range, behind those before it. */
static plim_status restore_run(restoring *to, piece *run, plim_heap_block **rest, plim_error *err)
{
    plim_heap *const heap = to->heap;
    const plim_addr addr = run->from->addr + run->shift;
    const uint64_t bytes = run->from->bytes;
    if (addr > (*rest)->addr) {
        if (!plim_line_slab_fill(&heap->allocator->blocks, &heap->spare, 1)) {
            return plim_fail_memory(err, "restoring a range");
        }
        (void)cut(rest, addr - (*rest)->addr, true, false);
    }
    PLIM_TRY(plim_expandable_map((*rest)->segment, addr, bytes, err));
    count_memory(run->shelf, bytes);
    run->is_restored = true;
    return cut_blocks(to, run->from, rest, err);
}

/* A range, for as many runs of its shelf as fit it. */
static plim_status restore_range(restoring *to, size_t first, plim_error *err)
{
    plim_shelf *const shelf = to->pieces[first].shelf;
    const uint64_t handle_bytes = plim_expandable_handle_bytes(shelf);
    const uint64_t range_bytes = plim_expandable_range_bytes(shelf);
    const plim_addr start = range_start(to, first, range_bytes);
    if (to->pieces[first].from->bytes > range_bytes) {
        return plim_fail(err, PLIM_UNSUPPORTED,
                         "the expandable segment at 0x%" PRIx64 " of %" PRIu64
                         " bytes cannot be restored in a range of %" PRIu64,
                         start, to->pieces[first].from->bytes, range_bytes);
    }
    plim_segment_record *segment = NULL;
    want(to, start);
    PLIM_TRY(plim_expandable_reserve(shelf, &segment, err));
    to->ranges_end = start + range_bytes;
    plim_heap_block *rest = segment->head;
    plim_status status = PLIM_OK;
    for (size_t i = first; i != NONE && status == PLIM_OK; i = to->pieces[i].next_run) {
        piece *const run = &to->pieces[i];
        const uint64_t offset = run->from->addr - start;
        if (offset % handle_bytes != 0 || offset > range_bytes ||
            run->from->bytes > range_bytes - offset) {
            break;
        }
        run->shift = segment->addr - start;
        status = restore_run(to, run, &rest, err);
    }
    const plim_status put = put_blocks(segment, status == PLIM_OK ? err : NULL);
    return status == PLIM_OK ? put : status;
}

static plim_status restore_all(restoring *to, plim_error *err)
{
    PLIM_TRY(find_shelves(to, err));
    PLIM_TRY(link_runs(to, err));
    for (size_t i = 0; i < to->state->segment_count; i++) {
        piece *const now = &to->pieces[i];
        if (!now->from->is_expandable) {
            PLIM_TRY(restore_plain(to, now, err));
        } else if (!now->is_restored) {
            PLIM_TRY(restore_range(to, i, err));
        }
    }
    return PLIM_OK;
}

/* --- failing --- */

static void forget_segment(plim_heap *heap, plim_segment_record *segment)
{
    plim_heap_block *const head = segment->head;
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
