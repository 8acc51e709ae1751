/*
 * bfc.c - TensorFlow's best fit with coalescing: one set of chunks for all streams, in
 * regions that double. See docs/design/policies.md.
 *
 * The set of free chunks is by size, then by address: that is what its 21 bins amount to, since
 * every chunk of a bin is larger than those of the bin before, and a search goes upwards.
 */
#include "alloc/core/free.h"
#include "alloc/core/place.h"
#include "alloc/core/pools.h"
#include "alloc/policy/policies.h"
#include "alloc/vm/segments.h"
#include "base/error.h"

#define CHUNK_BYTES_MIN    ((uint64_t)256)
#define REGION_BYTES_FIRST ((uint64_t)2 << 20)
#define WASTE_BYTES_MAX    ((uint64_t)128 << 20)
#define BACKPEDAL          0.9F

typedef struct bfc {
    uint64_t region_bytes; /* of the next region, at least */
    plim_stream stream;    /* the first that asked: events name it for all regions */
    bool has_stream;
    bool has_others; /* others asked, too: frees wait for the stream they were made on */
} bfc;

static plim_status init(plim_heap *heap, plim_error *err)
{
    bfc *state = plim_mem_alloc_zeroed(heap->allocator->mem, 1, sizeof *state);
    if (state == NULL) {
        return plim_fail_memory(err, "making an allocator");
    }
    const uint64_t total = heap->properties.total_bytes & ~(CHUNK_BYTES_MIN - 1);
    state->region_bytes = total > 0 && total < REGION_BYTES_FIRST ? total : REGION_BYTES_FIRST;
    heap->policy_state = state;
    return PLIM_OK;
}

static void deinit(plim_heap *heap)
{
    plim_mem_free(heap->allocator->mem, heap->policy_state, 1, sizeof(bfc));
}

/* A second stream may get what the first one freed before: that has to be done. */
static plim_status meet_stream(plim_heap *heap, plim_stream stream, plim_error *err)
{
    bfc *state = heap->policy_state;
    if (!state->has_stream) {
        state->has_stream = true;
        state->stream = stream;
    }
    if (stream == state->stream || state->has_others) {
        return PLIM_OK;
    }
    PLIM_TRY(heap->device.ops->stream_synchronize(heap->device.self, state->stream, err));
    state->has_others = true;
    return PLIM_OK;
}

static plim_status prepare(plim_request *request, plim_error *err)
{
    const bfc *state = request->heap->policy_state;
    PLIM_TRY(meet_stream(request->heap, request->stream, err));
    request->rounded_bytes = plim_policy_round(request, CHUNK_BYTES_MIN);
    request->segment_bytes = request->rounded_bytes;
    return plim_policy_use_shelf(request, false, state->stream, err);
}

/* Two reasonably large pieces, or no more waste than is allowed. */
static uint64_t split_of(uint64_t block_bytes, uint64_t wanted)
{
    return block_bytes - wanted >= wanted || block_bytes - wanted >= WASTE_BYTES_MAX ? wanted : 0;
}

static plim_free_cursor fit(const plim_shelf *shelf, uint64_t rounded_bytes,
                            uint64_t *ret_split_bytes)
{
    const plim_free_cursor cursor = plim_free_set_at_least(&shelf->blocks, rounded_bytes, 0);
    if (cursor.leaf != NULL) {
        *ret_split_bytes = split_of(cursor.leaf->entries[cursor.index].bytes, rounded_bytes);
    }
    return cursor;
}

/* All chunks lie on the shelf of the first stream; once others ask, frees wait for events. */
static bool may_open(const plim_lane *lane)
{
    const bfc *state = lane->heap->policy_state;
    return state->has_stream && !state->has_others && lane->stream == state->stream;
}

static plim_heap_block *find(const plim_request *request)
{
    return plim_policy_best_fit(request->shelf, request->rounded_bytes);
}

static uint64_t split(const plim_request *request, const plim_heap_block *block)
{
    return split_of(block->bytes, request->rounded_bytes);
}

/* --- regions --- */

/* The bytes that the memory limit leaves, in whole chunks. */
static uint64_t available_bytes(const plim_heap *heap)
{
    const uint64_t total = heap->properties.total_bytes;
    const uint64_t limit = heap->limit_bytes < total ? heap->limit_bytes : total;
    return limit > heap->reserved_bytes ? (limit - heap->reserved_bytes) & ~(CHUNK_BYTES_MIN - 1)
                                        : 0;
}

/* Nine tenths, computed in single precision as TensorFlow does, and rounded up to chunks. */
static uint64_t backpedal(uint64_t bytes)
{
    const uint64_t less = (uint64_t)((float)bytes * BACKPEDAL);
    return (less + CHUNK_BYTES_MIN - 1) & ~(CHUNK_BYTES_MIN - 1);
}

/* A new region with room for the request: as large as it is its turn to be, or less where the
 * driver refuses. */
static plim_attempt extend(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    bfc *state = request->heap->policy_state;
    const uint64_t wanted = request->rounded_bytes;
    const uint64_t available = available_bytes(request->heap);
    request->segment_bytes = wanted;
    if (wanted > available) {
        return PLIM_ATTEMPT_NO_MEMORY;
    }
    bool is_increased = false;
    for (; wanted > state->region_bytes; is_increased = true) {
        state->region_bytes *= 2;
    }
    uint64_t bytes = state->region_bytes < available ? state->region_bytes : available;
    plim_attempt attempt = PLIM_ATTEMPT_NO_MEMORY;
    for (;;) {
        request->segment_bytes = bytes;
        attempt = plim_segment_alloc(request->shelf, bytes, request->stack, ret_block, err);
        const uint64_t less = backpedal(bytes);
        /* The smallest sizes round up to themselves. */
        if (attempt != PLIM_ATTEMPT_NO_MEMORY || less < wanted || less == bytes) {
            break;
        }
        bytes = less;
    }
    /* More than there is would make no difference, and one day be 0. */
    if (attempt == PLIM_ATTEMPT_DONE && !is_increased &&
        state->region_bytes < request->heap->properties.total_bytes) {
        state->region_bytes *= 2;
    }
    return attempt;
}

static bool is_free_region(const plim_heap_block *block)
{
    return !plim_block_is_split(block) && !plim_block_is_expandable(block);
}

/* Gives the free regions back, if that may be enough: garbage collection, where it is on. */
static plim_status collect(const plim_request *request, bool *ret_is_worth_it, plim_error *err)
{
    const plim_heap *heap = request->heap;
    const plim_free_set *set = &request->shelf->blocks;
    *ret_is_worth_it = false;
    if (!(heap->allocator->settings.garbage_collection_threshold > 0)) {
        return PLIM_OK;
    }
    uint64_t free_bytes = 0;
    for (plim_free_cursor at = plim_free_set_begin(set); plim_free_cursor_block(at) != NULL;
         at = plim_free_cursor_next(at)) {
        const plim_heap_block *block = plim_free_cursor_block(at);
        free_bytes += is_free_region(block) ? block->bytes : 0;
    }
    if (free_bytes == 0 || request->rounded_bytes > available_bytes(heap) + free_bytes) {
        return PLIM_OK;
    }
    plim_heap_block *block = plim_free_cursor_block(plim_free_set_begin(set));
    while (block != NULL) {
        const uint64_t bytes = block->bytes;
        const plim_addr addr = block->addr;
        if (is_free_region(block)) {
            PLIM_TRY(plim_segment_release(block, PLIM_NONE, err));
        }
        block = plim_free_cursor_block(plim_free_set_at_least(set, bytes, addr + 1));
    }
    *ret_is_worth_it = true;
    return PLIM_OK;
}

/* TensorFlow waits for other threads to free; here, for what streams still use. */
static plim_attempt obtain(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    plim_attempt attempt = extend(request, ret_block, err);
    if (attempt != PLIM_ATTEMPT_NO_MEMORY) {
        return attempt;
    }
    heap->stats.num_alloc_retries++;
    if (heap->routings.count == 0 && (heap->queued_events > 0 || heap->deferred != NULL)) {
        if (plim_events_synchronize(heap, NULL, request->stack, err) != PLIM_OK ||
            plim_policy_use_shelf(request, false, request->shelf->stream, err) != PLIM_OK) {
            return PLIM_ATTEMPT_FAILED;
        }
        *ret_block = find(request);
        if (*ret_block != NULL) {
            return PLIM_ATTEMPT_DONE;
        }
    }
    bool is_worth_it = false;
    if (collect(request, &is_worth_it, err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    return is_worth_it ? extend(request, ret_block, err) : PLIM_ATTEMPT_NO_MEMORY;
}

static plim_status freed(plim_heap *heap, plim_heap_block *block, plim_stream home, plim_error *err)
{
    const bfc *state = heap->policy_state;
    return state->has_others ? plim_use_add_home(heap, block, home, err) : PLIM_OK;
}

const plim_policy plim_policy_bfc = {
    .prepare = prepare,
    .find = find,
    .obtain = obtain,
    .split = split,
    .freed = freed,
    .init = init,
    .deinit = deinit,
    .keeps_all = true,
    .fit = fit,
    .unit_bytes = CHUNK_BYTES_MIN,
    .may_open = may_open,
};
