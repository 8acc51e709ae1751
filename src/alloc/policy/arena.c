/*
 * arena.c - RMM's arenas: superblocks of a global arena, lent to an arena of each stream;
 * in each the lowest place that fits. See docs/design/policies.md.
 *
 *   range    | superblock | superblock | superblock … | the last: its end has no memory yet     |
 *   owner      stream 1     global       stream 2       global
 *
 * More than 1 MiB comes from the global arena. What is in one arena is not seen by the others until
 * a request fails: then all superblocks go back to the global one.
 */
#include "alloc/core/free.h"
#include "alloc/core/place.h"
#include "alloc/policy/policies.h"
#include "alloc/policy/superblocks.h"
#include "alloc/vm/expandable.h"
#include "base/assert.h"
#include "base/error.h"
#include "device/books.h"

#define UNIT_BYTES       ((uint64_t)256)
#define SUPERBLOCK_BYTES ((uint64_t)1 << 20) /* at least; and the most a stream's arena serves */
#define SPARE_BLOCKS     4 /* records a request may need: of a head, a rest, and of mapping */

typedef struct arenas {
    plim_superblocks global;
    PLIM_VEC(plim_superblocks) streams;
    plim_segment_record *segment; /* the range; NULL: nothing was requested yet */
    plim_shelf *shelf;            /* of all blocks: that of the first stream */
    plim_pages pages;
} arenas;

static plim_status init(plim_heap *heap, plim_error *err)
{
    arenas *state = plim_mem_alloc_zeroed(heap->allocator->mem, 1, sizeof *state);
    if (state == NULL) {
        return plim_fail_memory(err, "making an allocator");
    }
    plim_pages_init(&state->pages, heap, PLIM_DEVICE_GRANULARITY_BYTES);
    heap->policy_state = state;
    return PLIM_OK;
}

static void deinit(plim_heap *heap)
{
    const plim_mem *mem = heap->allocator->mem;
    arenas *state = heap->policy_state;
    if (state == NULL) {
        return;
    }
    for (size_t i = 0; i < state->streams.count; i++) {
        PLIM_VEC_FREE(mem, &state->streams.items[i].list);
    }
    PLIM_VEC_FREE(mem, &state->streams);
    PLIM_VEC_FREE(mem, &state->global.list);
    plim_pages_deinit(&state->pages, heap);
    plim_mem_free(mem, state, 1, sizeof *state);
}

/* --- preparing --- */

static plim_superblocks *arena_of(const arenas *state, plim_stream stream)
{
    for (size_t i = 0; i < state->streams.count; i++) {
        if (state->streams.items[i].stream == stream) {
            return &state->streams.items[i];
        }
    }
    return NULL;
}

/* An arena for the stream, and room for whatever the request may change. */
static plim_status prepare(plim_request *request, plim_error *err)
{
    plim_heap *heap = request->heap;
    const plim_mem *mem = heap->allocator->mem;
    arenas *state = heap->policy_state;
    request->rounded_bytes = plim_policy_round(request, UNIT_BYTES);
    request->segment_bytes = (request->rounded_bytes + PLIM_DEVICE_GRANULARITY_BYTES - 1) &
                             ~(PLIM_DEVICE_GRANULARITY_BYTES - 1);
    request->is_expandable = true;
    const plim_stream stream = state->shelf != NULL ? state->shelf->stream : request->stream;
    PLIM_TRY(plim_policy_use_shelf(request, false, stream, err));
    state->shelf = request->shelf;
    if (arena_of(state, request->stream) == NULL &&
        !PLIM_VEC_PUSH(mem, &state->streams, ((plim_superblocks){ .stream = request->stream }))) {
        return plim_fail_memory(err, "making an arena");
    }
    return plim_superblocks_room(&state->global, 2, mem) &&
                   plim_superblocks_room(arena_of(state, request->stream), 1, mem) &&
                   plim_slab_fill(&heap->allocator->blocks, &heap->spare, SPARE_BLOCKS)
               ? PLIM_OK
               : plim_fail_memory(err, "looking for a superblock");
}

static bool is_for_global(uint64_t bytes)
{
    return bytes > SUPERBLOCK_BYTES;
}

/* --- cutting --- */

/* Cuts a free block in its set in two, both free and in it. */
static plim_heap_block *cut(plim_heap *heap, plim_heap_block *block, uint64_t bytes)
{
    plim_heap_block *rest = plim_block_new(&heap->spare);
    PLIM_ASSERT(rest != NULL && bytes < block->bytes);
    *rest = (plim_heap_block){ .addr = block->addr + bytes,
                               .bytes = block->bytes - bytes,
                               .segment = block->segment,
                               .stack = PLIM_NONE,
                               .is_mapped = true };
    plim_take_free(block);
    block->bytes = bytes;
    plim_splice(rest, block, block->next);
    plim_put_free(rest);
    plim_put_free(block);
    return rest;
}

/* The front of a free block that fits: in no set, as large as the request. */
static plim_heap_block *carve(const plim_request *request, plim_heap_block *block)
{
    if (block->bytes > request->rounded_bytes) {
        (void)cut(request->heap, block, request->rounded_bytes);
    }
    plim_take_free(block);
    return block;
}

/* --- the global arena --- */

/* Maps the first bytes of an empty superblock, the last one. */
static plim_attempt map_head(const plim_request *request, plim_superblock *last, uint64_t bytes,
                             plim_error *err)
{
    plim_heap *heap = request->heap;
    const uint64_t mapped = plim_superblock_mapped(last);
    const uint64_t pages =
        (bytes - mapped + PLIM_DEVICE_GRANULARITY_BYTES - 1) / PLIM_DEVICE_GRANULARITY_BYTES;
    if (!plim_policy_may_take(heap, pages * PLIM_DEVICE_GRANULARITY_BYTES)) {
        return PLIM_ATTEMPT_NO_MEMORY;
    }
    plim_heap_block *unmapped = mapped > 0 ? last->first->next : last->first;
    const plim_attempt attempt =
        plim_expandable_map_apart(unmapped, bytes - mapped, request->stack, err);
    if (attempt == PLIM_ATTEMPT_DONE && mapped > 0) {
        plim_take_free(last->first);
        (void)plim_merge(last->first, unmapped, &heap->spare);
        plim_put_free(last->first);
    }
    return attempt;
}

/* Splits an empty superblock that is large enough for two: `at` is then as large as is wanted. */
static void split_superblock(plim_heap *heap, size_t at, uint64_t bytes)
{
    arenas *state = heap->policy_state;
    plim_superblock *head = &state->global.list.items[at];
    plim_superblock rest = { .addr = head->addr + bytes,
                             .bytes = head->bytes - bytes,
                             .most = head->bytes - bytes };
    rest.first = head->first->bytes > bytes ? cut(heap, head->first, bytes) : head->first->next;
    head->bytes = bytes;
    head->most = bytes;
    (void)plim_superblocks_put(&state->global, rest);
}

/* True if the range ends with a superblock. */
static bool is_last(const arenas *state, const plim_superblock *superblock)
{
    return superblock->addr + superblock->bytes == state->segment->addr + state->segment->bytes;
}

/* The range, all of it one empty superblock. */
static plim_attempt open_range(const plim_request *request, plim_error *err)
{
    arenas *state = request->heap->policy_state;
    plim_heap_block *all = NULL;
    const plim_attempt attempt = plim_expandable_room(request->shelf, 1, &all, err);
    if (attempt == PLIM_ATTEMPT_DONE) {
        state->segment = all->segment;
        (void)plim_superblocks_put(&state->global, (plim_superblock){ .addr = all->addr,
                                                                      .bytes = all->bytes,
                                                                      .most = all->bytes,
                                                                      .first = all });
    }
    return attempt;
}

/* A superblock of the global arena with a free block for the request: the lowest, and its head
 * only, if it is empty and leaves one. `may_map`: where there is no memory yet, it is requested. */
static plim_attempt acquire(const plim_request *request, bool may_map, size_t *ret_at,
                            plim_error *err)
{
    arenas *state = request->heap->policy_state;
    const uint64_t bytes = request->rounded_bytes;
    const uint64_t head_bytes = bytes > SUPERBLOCK_BYTES ? bytes : SUPERBLOCK_BYTES;
    size_t at = plim_superblocks_next(&state->global, 0, bytes);
    for (; at != PLIM_NO_SUPERBLOCK; at = plim_superblocks_next(&state->global, at + 1, bytes)) {
        plim_superblock *found = &state->global.list.items[at];
        if (is_last(state, found)) {
            if (found->bytes < head_bytes + SUPERBLOCK_BYTES) {
                return PLIM_ATTEMPT_NO_MEMORY;
            }
            if (plim_superblock_mapped(found) < head_bytes) {
                const plim_attempt attempt =
                    may_map ? map_head(request, found, head_bytes, err) : PLIM_ATTEMPT_NO_MEMORY;
                if (attempt != PLIM_ATTEMPT_DONE) {
                    return attempt;
                }
            }
        }
        if (plim_superblock_is_empty(found) && found->bytes >= head_bytes + SUPERBLOCK_BYTES) {
            split_superblock(request->heap, at, head_bytes);
        } else if (plim_superblock_fit(found, bytes) == NULL) {
            continue;
        }
        *ret_at = at;
        return PLIM_ATTEMPT_DONE;
    }
    return PLIM_ATTEMPT_NO_MEMORY;
}

/* Two empty superblocks side by side become one. */
static void join(plim_heap *heap, size_t at)
{
    arenas *state = heap->policy_state;
    plim_superblock *items = state->global.list.items;
    plim_superblock *low = &items[at];
    const plim_superblock *high = &items[at + 1];
    if (low->addr + low->bytes != high->addr || !plim_superblock_is_empty(low) ||
        !plim_superblock_is_empty(high)) {
        return;
    }
    if (high->first->is_mapped) {
        plim_take_free(low->first);
        (void)plim_merge(low->first, high->first, &heap->spare);
        plim_put_free(low->first);
    }
    low->bytes += high->bytes;
    low->most = low->bytes;
    (void)plim_superblocks_take(&state->global, at + 1);
}

static void coalesce(plim_heap *heap, size_t at)
{
    const arenas *state = heap->policy_state;
    if (at + 1 < state->global.list.count) {
        join(heap, at);
    }
    if (at > 0) {
        join(heap, at - 1);
    }
}

/* --- requests --- */

static plim_heap_block *fit_in_own(const plim_request *request)
{
    plim_superblocks *own = arena_of(request->heap->policy_state, request->stream);
    const uint64_t bytes = request->rounded_bytes;
    size_t at = plim_superblocks_next(own, 0, bytes);
    for (; at != PLIM_NO_SUPERBLOCK; at = plim_superblocks_next(own, at + 1, bytes)) {
        plim_heap_block *block = plim_superblock_fit(&own->list.items[at], bytes);
        if (block != NULL) {
            return block;
        }
    }
    return NULL;
}

static plim_attempt serve(const plim_request *request, bool may_map, plim_heap_block **ret_block,
                          plim_error *err)
{
    arenas *state = request->heap->policy_state;
    const bool is_global = is_for_global(request->rounded_bytes);
    plim_heap_block *block = is_global ? NULL : fit_in_own(request);
    if (block == NULL) {
        if (state->segment == NULL) {
            return PLIM_ATTEMPT_NO_MEMORY;
        }
        size_t at = 0;
        const plim_attempt attempt = acquire(request, may_map, &at, err);
        if (attempt != PLIM_ATTEMPT_DONE) {
            return attempt;
        }
        plim_superblocks *owner = &state->global;
        if (!is_global) {
            owner = arena_of(state, request->stream);
            at = plim_superblocks_put(owner, plim_superblocks_take(&state->global, at));
        }
        block = plim_superblock_fit(&owner->list.items[at], request->rounded_bytes);
        PLIM_ASSERT(block != NULL);
    }
    *ret_block = carve(request, block);
    return PLIM_ATTEMPT_DONE;
}

static plim_heap_block *find(const plim_request *request)
{
    plim_heap_block *block = NULL;
    return serve(request, false, &block, NULL) == PLIM_ATTEMPT_DONE ? block : NULL;
}

/* Waits for the device, and gives all superblocks to the global arena. */
static plim_status defragment(plim_heap *heap, uint32_t stack, plim_error *err)
{
    arenas *state = heap->policy_state;
    PLIM_TRY(plim_events_synchronize(heap, NULL, stack, err));
    PLIM_TRY(heap->device.ops->synchronize(heap->device.self, err));
    for (size_t i = 0; i < state->streams.count; i++) {
        plim_superblocks *arena = &state->streams.items[i];
        if (!plim_superblocks_room(&state->global, arena->list.count + 2, heap->allocator->mem)) {
            return plim_fail_memory(err, "collecting superblocks");
        }
        for (size_t k = 0; k < arena->list.count; k++) {
            coalesce(heap, plim_superblocks_put(&state->global, arena->list.items[k]));
        }
        arena->list.count = 0;
    }
    return PLIM_OK;
}

static plim_attempt obtain(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    const arenas *state = heap->policy_state;
    plim_attempt attempt = state->segment != NULL ? PLIM_ATTEMPT_DONE : open_range(request, err);
    if (attempt == PLIM_ATTEMPT_DONE) {
        attempt = serve(request, true, ret_block, err);
    }
    if (attempt != PLIM_ATTEMPT_NO_MEMORY || heap->routings.count > 0) {
        return attempt;
    }
    heap->stats.num_alloc_retries++;
    if (defragment(heap, request->stack, err) != PLIM_OK || prepare(request, err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    return serve(request, true, ret_block, err);
}

static uint64_t split(const plim_request *request, const plim_heap_block *block)
{
    PLIM_ASSERT(block->bytes == request->rounded_bytes);
    return 0; /* it was carved */
}

/* --- frees --- */

/* A block that is free and in no set goes to its superblock. */
static void settle(plim_heap *heap, plim_superblocks *owner, size_t at, plim_heap_block *block)
{
    const arenas *state = heap->policy_state;
    plim_superblock *home = &owner->list.items[at];
    if (block->addr > home->addr) {
        (void)plim_merge(block, block->prev, &heap->spare);
    }
    if (block->addr + block->bytes < home->addr + home->bytes) {
        (void)plim_merge(block, block->next, &heap->spare);
    }
    plim_put_free(block);
    if (block->addr == home->addr) {
        home->first = block;
    }
    home->most = block->bytes > home->most ? block->bytes : home->most;
    if (owner == &state->global && plim_superblock_is_empty(home)) {
        coalesce(heap, at);
    }
}

/* Whose superblock an address lies in: the global arena's, or a stream's. */
static plim_superblocks *owner_of(arenas *state, plim_addr addr, size_t *ret_at)
{
    *ret_at = plim_superblocks_find(&state->global, addr);
    if (*ret_at != PLIM_NO_SUPERBLOCK) {
        return &state->global;
    }
    for (size_t i = 0; i < state->streams.count; i++) {
        *ret_at = plim_superblocks_find(&state->streams.items[i], addr);
        if (*ret_at != PLIM_NO_SUPERBLOCK) {
            return &state->streams.items[i];
        }
    }
    return NULL;
}

static void put_back(plim_heap_block *block)
{
    plim_heap *heap = plim_shelf_of(block)->heap;
    size_t at = 0;
    plim_superblocks *owner = owner_of(heap->policy_state, block->addr, &at);
    PLIM_ASSERT(owner != NULL);
    settle(heap, owner, at, block);
}

/* A block that leaves the stream's own arena must be unused: the stream is waited for. */
static plim_status take_back(plim_heap *heap, plim_heap_block *block, plim_stream home,
                             plim_error *err)
{
    arenas *state = heap->policy_state;
    if (block->segment != state->segment) { /* of a recorded state that was restored */
        plim_take_back(block, &heap->spare);
        return PLIM_OK;
    }
    const plim_device *device = &heap->device;
    size_t at = PLIM_NO_SUPERBLOCK;
    plim_superblocks *own = arena_of(state, home);
    if (own != NULL) {
        at = plim_superblocks_find(own, block->addr);
    }
    plim_superblocks *owner = at != PLIM_NO_SUPERBLOCK ? own : owner_of(state, block->addr, &at);
    PLIM_ASSERT(owner != NULL);
    plim_status status = PLIM_OK;
    if (is_for_global(block->bytes) || owner != own) {
        status = device->ops->stream_synchronize(device->self, home, err);
    }
    plim_take_back_alone(block);
    settle(heap, owner, at, block);
    return status;
}

/* --- invariants --- */

static bool is_border(const plim_heap_block *block)
{
    arenas *state = plim_shelf_of(block)->heap->policy_state;
    size_t at = 0;
    const plim_superblocks *owner = owner_of(state, block->addr, &at);
    return owner != NULL && owner->list.items[at].addr == block->addr;
}

/* True if blocks fill a superblock, and none is larger than `most`. */
static bool is_sound(const arenas *state, const plim_superblock *superblock)
{
    const plim_addr end = superblock->addr + superblock->bytes;
    const plim_heap_block *block = superblock->first;
    plim_addr at = superblock->addr;
    for (; block != NULL && block->addr == at && at < end; block = block->next) {
        at += block->bytes;
        if (block->state == PLIM_BLOCK_IS_FREE && block->bytes > superblock->most) {
            return false;
        }
    }
    return at == end && (!is_last(state, superblock) || plim_superblock_is_empty(superblock));
}

static plim_status check_arena(const arenas *state, const plim_superblocks *arena, uint64_t *sum,
                               plim_error *err)
{
    for (size_t i = 0; i < arena->list.count; i++) {
        const plim_superblock *superblock = &arena->list.items[i];
        *sum += superblock->bytes;
        if (!is_sound(state, superblock) ||
            (i > 0 && superblock[-1].addr + superblock[-1].bytes > superblock->addr)) {
            return plim_fail(err, PLIM_CORRUPT, "the heap is damaged: a superblock is wrong");
        }
    }
    return PLIM_OK;
}

static plim_status check(const plim_heap *heap, plim_error *err)
{
    const arenas *state = heap->policy_state;
    uint64_t sum = 0;
    PLIM_TRY(check_arena(state, &state->global, &sum, err));
    for (size_t i = 0; i < state->streams.count; i++) {
        PLIM_TRY(check_arena(state, &state->streams.items[i], &sum, err));
    }
    return state->segment == NULL || sum == state->segment->bytes
               ? PLIM_OK
               : plim_fail(err, PLIM_CORRUPT, "the heap is damaged: superblocks leave gaps");
}

const plim_policy plim_policy_arena = {
    .prepare = prepare,
    .find = find,
    .obtain = obtain,
    .split = split,
    .put_back = put_back,
    .take_back = take_back,
    .is_border = is_border,
    .init = init,
    .deinit = deinit,
    .check = check,
    .keeps_all = true,
};
