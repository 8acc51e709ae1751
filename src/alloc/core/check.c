/*
 * check.c - every invariant of a heap; canaries and poison. See check.h.
 */
#include "alloc/core/check.h"

#include "alloc/core/policy.h"
#include "alloc/core/world.h"
#include "base/error.h"

#include <inttypes.h>

/* The sums of the heap itself, to be compared with the statistics. */
typedef struct check_sums {
    int64_t by[PLIM_STAT_COUNT][PLIM_SLOT_COUNT];
    uint64_t free_blocks;     /* mapped, that must be in a set */
    uint64_t unmapped_blocks; /* likewise */
    uint64_t reserved_bytes;
} check_sums;

static void add(check_sums *sum, plim_stat_family family, bool is_small, int64_t n)
{
    sum->by[family][PLIM_SLOT_ALL] += n;
    sum->by[family][plim_slot_of(is_small)] += n;
}

static plim_status wrong(plim_error *err, plim_addr addr, const char *what)
{
    return plim_fail(err, PLIM_CORRUPT, "the heap is damaged: the block at 0x%" PRIx64 " %s", addr,
                     what);
}

static bool is_in_set(const plim_heap_block *block)
{
    const plim_shelf *shelf = plim_shelf_of(block);
    const plim_free_set *set = block->is_mapped ? &shelf->blocks : &shelf->unmapped;
    const plim_free_cursor at =
        plim_free_set_at_least(set, set->is_by_address ? 0 : block->bytes, block->addr);
    return set->waiting != NULL || plim_free_cursor_block(at) == block;
}

/* True if the policy keeps a block apart from the one before it. */
static bool is_border(const plim_heap_block *block)
{
    const plim_policy *policy = plim_shelf_of(block)->pool->policy;
    return policy->is_border != NULL && policy->is_border(block);
}

static plim_status check_free(const plim_heap_block *block, check_sums *sum, plim_error *err)
{
    const plim_heap_block *next = block->next;
    const bool is_small = plim_shelf_of(block)->pool->is_small;
    *(block->is_mapped ? &sum->free_blocks : &sum->unmapped_blocks) += 1;
    if (!is_in_set(block)) {
        return wrong(err, block->addr, "is free but not to be found");
    }
    if (next != NULL && next->state == PLIM_BLOCK_IS_FREE && next->is_mapped == block->is_mapped &&
        !is_border(next)) {
        return wrong(err, block->addr, "is free beside a free one");
    }
    if (block->is_mapped && !plim_block_is_expandable(block) && plim_block_is_split(block)) {
        add(sum, PLIM_STAT_INACTIVE_SPLIT, is_small, 1);
        add(sum, PLIM_STAT_INACTIVE_SPLIT_BYTES, is_small, (int64_t)block->bytes);
    }
    return PLIM_OK;
}

static plim_status check_held(const plim_heap_block *block, check_sums *sum, plim_error *err)
{
    const plim_segment_record *segment = block->segment;
    const bool is_small = plim_shelf_of(block)->pool->is_small;
    add(sum, PLIM_STAT_ACTIVE, is_small, 1);
    add(sum, PLIM_STAT_ACTIVE_BYTES, is_small, (int64_t)block->bytes);
    add(sum, PLIM_STAT_REQUESTED_BYTES, is_small, (int64_t)block->requested_bytes);
    if (!block->is_mapped) {
        return wrong(err, block->addr, "is held but has no memory");
    }
    if (block->state == PLIM_BLOCK_IS_PENDING) {
        return block->event_count > 0 || block->as.uses != NULL
                   ? PLIM_OK
                   : wrong(err, block->addr, "waits for nothing");
    }
    if (block->requested_bytes > block->bytes) {
        return wrong(err, block->addr, "is smaller than its request");
    }
    add(sum, PLIM_STAT_ALLOCATION, is_small, 1);
    add(sum, PLIM_STAT_ALLOCATED_BYTES, is_small, (int64_t)block->bytes);
    return plim_page_index_find(&segment->pages, segment->addr, block->addr) == block
               ? PLIM_OK
               : wrong(err, block->addr, "is held but not found by its address");
}

static plim_status check_block(const plim_segment_record *segment, const plim_heap_block *block,
                               check_sums *sum, plim_error *err)
{
    if (block->segment != segment || block->bytes == 0 ||
        (block->next != NULL &&
         (block->next->prev != block || block->next->addr != block->addr + block->bytes))) {
        return wrong(err, block->addr, "does not border on its neighbours");
    }
    if (block->cause > segment->causes.count) {
        return wrong(err, block->addr, "has a stack that its segment does not have");
    }
    if (block->is_mapped) {
        sum->reserved_bytes += block->bytes;
        add(sum, PLIM_STAT_RESERVED_BYTES, plim_shelf_of(block)->pool->is_small,
            (int64_t)block->bytes);
    }
    switch ((plim_block_is)block->state) {
    case PLIM_BLOCK_IS_FREE:
        return check_free(block, sum, err);
    case PLIM_BLOCK_IS_LIVE:
    case PLIM_BLOCK_IS_PENDING:
        return check_held(block, sum, err);
    case PLIM_BLOCK_IS_SPARE:
    case PLIM_BLOCK_IS_PARKED:
        break;
    }
    return wrong(err, block->addr, "is in no state");
}

/* True if each block has memory exactly where handles are mapped. */
static plim_status check_handles(const plim_segment_record *segment, plim_error *err)
{
    const plim_expandable *expandable = segment->expandable;
    uint64_t mapped = 0;
    for (const plim_heap_block *block = segment->head; block != NULL; block = block->next) {
        const uint64_t first = (block->addr - segment->addr) / expandable->handle_bytes;
        const uint64_t last =
            (block->addr + block->bytes - 1 - segment->addr) / expandable->handle_bytes;
        for (uint64_t i = first; i <= last && block->is_mapped; i++) {
            if (expandable->handles[i] == 0) {
                return wrong(err, block->addr, "has no handle mapped");
            }
        }
        mapped += block->is_mapped ? block->bytes : 0;
    }
    return mapped == expandable->mapped_bytes
               ? PLIM_OK
               : wrong(err, segment->addr, "starts a segment whose mapped bytes do not add up");
}

static plim_status check_segment(const plim_heap *heap, const plim_segment_record *segment,
                                 check_sums *sum, plim_error *err)
{
    const plim_heap_block *block = segment->head;
    if (block == NULL || block->prev != NULL || block->addr != segment->addr) {
        return wrong(err, segment->addr, "does not start its segment");
    }
    uint64_t bytes = 0;
    for (; block != NULL; block = block->next) {
        PLIM_TRY(check_block(segment, block, sum, err));
        bytes += block->bytes;
    }
    if (bytes != segment->bytes) {
        return wrong(err, segment->addr, "starts a segment that its blocks do not fill");
    }
    if (plim_directory_find(&heap->allocator->directory, segment->addr) != segment ||
        plim_directory_find(&heap->allocator->directory, segment->addr + segment->bytes - 1) !=
            segment) {
        return wrong(err, segment->addr, "starts a segment that is not in the directory");
    }
    if (segment->expandable != NULL) {
        return check_handles(segment, err);
    }
    add(sum, PLIM_STAT_SEGMENT, plim_shelf_of_segment(segment)->pool->is_small, 1);
    return PLIM_OK;
}

static bool pool_is_sound(const plim_pool *pool, check_sums *sum)
{
    for (size_t i = 0; i < pool->shelves.count; i++) {
        const plim_shelf *shelf = pool->shelves.items[i];
        if (shelf->pool != pool || !plim_free_set_is_sound(&shelf->blocks) ||
            !plim_free_set_is_sound(&shelf->unmapped)) {
            return false;
        }
        sum->free_blocks -= shelf->blocks.count;
        sum->unmapped_blocks -= shelf->unmapped.count;
    }
    return true;
}

static plim_status check_sets(const plim_heap *heap, check_sums *sum, plim_error *err)
{
    bool is_sound = pool_is_sound(&heap->small, sum) && pool_is_sound(&heap->large, sum);
    for (size_t i = 0; i < heap->private_pools.count; i++) {
        is_sound = is_sound && pool_is_sound(&heap->private_pools.items[i]->small, sum) &&
                   pool_is_sound(&heap->private_pools.items[i]->large, sum);
    }
    if (!is_sound || sum->free_blocks != 0 || sum->unmapped_blocks != 0) {
        return plim_fail(err, PLIM_CORRUPT,
                         "the heap of device %d is damaged: its sets of free blocks do not agree "
                         "with its blocks",
                         (int)heap->index);
    }
    return PLIM_OK;
}

static plim_status check_stats(const plim_heap *heap, const check_sums *sum, plim_error *err)
{
    for (int family = 0; family < PLIM_STAT_COUNT; family++) {
        for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            const plim_stat *stat = &heap->stats.families[family][slot];
            if (stat->current != sum->by[family][slot] || stat->peak < stat->current) {
                return plim_fail(err, PLIM_CORRUPT,
                                 "the statistics of device %d are wrong: family %d, slot %d is "
                                 "%" PRId64 " (peak %" PRId64 "), the heap has %" PRId64,
                                 (int)heap->index, family, slot, stat->current, stat->peak,
                                 sum->by[family][slot]);
            }
        }
    }
    return sum->reserved_bytes == heap->reserved_bytes
               ? PLIM_OK
               : plim_fail(err, PLIM_CORRUPT, "device %d: reserved bytes do not add up",
                           (int)heap->index);
}

plim_status plim_heap_check(plim_heap *heap, plim_error *err)
{
    check_sums sum = { { { 0 } }, 0, 0, 0 };
    plim_world_settle(heap);
    for (const plim_segment_record *segment = heap->segments; segment != NULL;
         segment = segment->next) {
        PLIM_TRY(check_segment(heap, segment, &sum, err));
    }
    PLIM_TRY(check_sets(heap, &sum, err));
    PLIM_TRY(check_stats(heap, &sum, err));
    const plim_policy *policy = heap->allocator->policy;
    return policy->check != NULL ? policy->check(heap, err) : PLIM_OK;
}

/* --- hardening --- */

#define LOOK_BYTES 4096 /* read at a time */

static bool has_canaries(const plim_heap *heap)
{
    return heap->allocator->hardening >= PLIM_HARDENING_CANARIES &&
           heap->properties.is_host_readable;
}

uint64_t plim_harden_room(const plim_heap *heap, uint64_t bytes)
{
    return has_canaries(heap) ? bytes + PLIM_CANARY_ROOM_BYTES : bytes;
}

void plim_harden_given(plim_heap *heap, const plim_heap_block *block)
{
    if (has_canaries(heap)) {
        (void)heap->device.ops->fill(heap->device.self, block->addr + block->requested_bytes,
                                     PLIM_CANARY_BYTE, block->bytes - block->requested_bytes,
                                     plim_shelf_of(block)->stream, NULL);
    }
}

/* The first of some bytes that is no canary, or `count`. */
static size_t first_damaged(const unsigned char *bytes, size_t count)
{
    size_t i = 0;
    while (i < count && bytes[i] == PLIM_CANARY_BYTE) {
        i++;
    }
    return i;
}

static plim_status look(plim_heap *heap, const plim_heap_block *block, plim_error *err)
{
    const uint64_t end = block->bytes;
    for (uint64_t at = block->requested_bytes; at < end;) {
        unsigned char bytes[LOOK_BYTES];
        const size_t count = end - at < LOOK_BYTES ? (size_t)(end - at) : LOOK_BYTES;
        PLIM_TRY(heap->device.ops->read(heap->device.self, bytes, block->addr + at, count, err));
        const size_t damaged = first_damaged(bytes, count);
        if (damaged < count) {
            return plim_fail(err, PLIM_CORRUPT,
                             "the block at 0x%" PRIx64 " was written to %" PRIu64
                             " bytes after its %" PRIu64 " requested bytes: look for an index "
                             "that runs over",
                             block->addr, at + damaged - block->requested_bytes,
                             block->requested_bytes);
        }
        at += count;
    }
    return PLIM_OK;
}

plim_status plim_harden_given_back(plim_heap *heap, const plim_heap_block *block, plim_error *err)
{
    if (!has_canaries(heap)) {
        return PLIM_OK;
    }
    const plim_status status = look(heap, block, err);
    if (heap->allocator->hardening == PLIM_HARDENING_POISON) {
        (void)heap->device.ops->fill(heap->device.self, block->addr, PLIM_POISON_BYTE, block->bytes,
                                     plim_shelf_of(block)->stream, NULL);
    }
    return status;
}

plim_status plim_harden_check(plim_heap *heap, plim_error *err)
{
    return heap->allocator->hardening == PLIM_HARDENING_NONE ? PLIM_OK : plim_heap_check(heap, err);
}
