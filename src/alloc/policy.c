/*
 * policy.c - the policies by their names, and what they share. See policy.h.
 */
#include "alloc/policy.h"

#include "alloc/harden.h"
#include "alloc/pools.h"
#include "base/assert.h"
#include "base/error.h"

static const char *const names[] = {
#define PLIM_POLICY_ROW(code, name) [code] = (name),
    PLIM_POLICY_LIST(PLIM_POLICY_ROW)
#undef PLIM_POLICY_ROW
};

const char *plim_policy_name(plim_policy_kind policy)
{
    return (size_t)policy < PLIM_POLICY_COUNT ? names[policy] : "unknown";
}

const plim_policy *plim_policy_of(plim_policy_kind kind)
{
    switch (kind) {
    case PLIM_POLICY_TORCH:
        return &plim_policy_torch;
    case PLIM_POLICY_NAIVE:
        return &plim_policy_naive;
    case PLIM_POLICY_BFC:
        return &plim_policy_bfc;
    case PLIM_POLICY_ASYNC:
        return &plim_policy_async;
    case PLIM_POLICY_ARENA:
        return &plim_policy_arena;
    case PLIM_POLICY_COUNT:
        break;
    }
    return NULL;
}

const plim_policy *plim_policy_for(plim_heap *heap, plim_stream stream)
{
    return plim_pool_for(heap, stream, false)->owner == NULL ? heap->allocator->policy
                                                             : &plim_policy_torch;
}

const plim_policy *plim_policy_of_shelf(const plim_shelf *shelf)
{
    return shelf->pool->owner == NULL ? shelf->heap->allocator->policy : &plim_policy_torch;
}

/* --- what policies share --- */

uint64_t plim_policy_round(const plim_request *request, uint64_t unit)
{
    PLIM_ASSERT(unit > 0 && (unit & (unit - 1)) == 0);
    return (plim_harden_room(request->heap, request->requested_bytes) + unit - 1) & ~(unit - 1);
}

plim_status plim_policy_use_shelf(plim_request *request, bool is_small, plim_stream stream,
                                  plim_error *err)
{
    plim_heap *heap = request->heap;
    request->shelf = plim_shelf_for(heap, is_small ? &heap->small : &heap->large, stream);
    if (request->shelf == NULL || !plim_free_set_settle(&request->shelf->blocks) ||
        !plim_free_set_settle(&request->shelf->unmapped)) {
        return plim_fail_memory(err, "looking for a free block");
    }
    return PLIM_OK;
}

bool plim_policy_may_take(const plim_heap *heap, uint64_t bytes)
{
    return heap->limit_bytes == PLIM_UNLIMITED ||
           (bytes <= heap->limit_bytes && heap->reserved_bytes <= heap->limit_bytes - bytes);
}

plim_heap_block *plim_policy_best_fit(plim_shelf *shelf, uint64_t bytes)
{
    const plim_free_cursor cursor = plim_free_set_at_least(&shelf->blocks, bytes, 0);
    plim_heap_block *block = plim_free_cursor_block(cursor);
    if (block != NULL) {
        plim_free_set_take_at(&shelf->blocks, cursor);
    }
    return block;
}
