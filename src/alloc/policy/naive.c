/*
 * naive.c - no cache: every request is a call to the driver, and so is every free.
 * See docs/design/policies.md.
 */
#include "alloc/core/place.h"
#include "alloc/policy/policies.h"
#include "alloc/vm/release.h"
#include "alloc/vm/segments.h"
#include "base/error.h"
#include "settings/rounding.h"

/* The driver gives whole granules, and the block is all of them. */
static plim_status prepare(plim_request *request, plim_error *err)
{
    const uint64_t granularity = request->heap->properties.granularity_bytes;
    const bool is_small = plim_policy_round(request, PLIM_BLOCK_BYTES_MIN) <= PLIM_SMALL_BYTES_MAX;
    request->rounded_bytes =
        plim_policy_round(request, granularity > 0 ? granularity : PLIM_BLOCK_BYTES_MIN);
    request->segment_bytes = request->rounded_bytes;
    return plim_policy_use_shelf(request, is_small, request->stream, err);
}

/* Nothing is cached but what the driver refused to take back. */
static plim_heap_block *find(const plim_request *request)
{
    const plim_heap_block *first = plim_free_cursor_block(
        plim_free_set_at_least(&request->shelf->blocks, request->rounded_bytes, 0));
    return first != NULL && first->bytes == request->rounded_bytes
               ? plim_policy_best_fit(request->shelf, request->rounded_bytes)
               : NULL;
}

static plim_attempt attempt(const plim_request *request, plim_heap_block **ret_block,
                            plim_error *err)
{
    return plim_policy_may_take(request->heap, request->segment_bytes)
               ? plim_segment_alloc(request->shelf, request->segment_bytes, request->stack,
                                    ret_block, err)
               : PLIM_ATTEMPT_NO_MEMORY;
}

/* Blocks that wait for other streams go back before a request fails: cudaFree would have waited. */
static plim_attempt obtain(plim_request *request, plim_heap_block **ret_block, plim_error *err)
{
    plim_heap *heap = request->heap;
    const plim_attempt first = attempt(request, ret_block, err);
    if (first != PLIM_ATTEMPT_NO_MEMORY || heap->routings.count > 0) {
        return first;
    }
    heap->stats.num_alloc_retries++;
    if (plim_release_cached(heap, (plim_pool_id){ 0, 0 }, PLIM_NONE, err) != PLIM_OK) {
        return PLIM_ATTEMPT_FAILED;
    }
    return attempt(request, ret_block, err);
}

static uint64_t split(const plim_request *request, const plim_heap_block *block)
{
    (void)request;
    (void)block;
    return 0;
}

static plim_status take_back(plim_heap *heap, plim_heap_block *block, plim_stream home,
                             plim_error *err)
{
    (void)home;
    plim_take_back(block, &heap->spare);
    return plim_block_is_split(block) || plim_block_is_expandable(block)
               ? PLIM_OK /* of a recorded state that was restored */
               : plim_segment_release(block, PLIM_NONE, err);
}

const plim_policy plim_policy_naive = {
    .prepare = prepare,
    .find = find,
    .obtain = obtain,
    .split = split,
    .take_back = take_back,
};
