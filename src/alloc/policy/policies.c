/*
 * policies.c - the policies by name, and what they share. See policies.h.
 */
#include "alloc/policy/policies.h"

#include "alloc/core/pools.h"
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
    static const plim_policy *const policies[] = {
        [PLIM_POLICY_TORCH] = &plim_policy_torch, [PLIM_POLICY_NAIVE] = &plim_policy_naive,
        [PLIM_POLICY_BFC] = &plim_policy_bfc,     [PLIM_POLICY_ASYNC] = &plim_policy_async,
        [PLIM_POLICY_ARENA] = &plim_policy_arena,
    };
    _Static_assert(sizeof policies / sizeof policies[0] == PLIM_POLICY_COUNT, "one for each name");
    return (size_t)kind < PLIM_POLICY_COUNT ? policies[kind] : NULL;
}

/* --- what policies share --- */

uint64_t plim_policy_round(const plim_request *request, uint64_t unit)
{
    PLIM_ASSERT(unit > 0 && (unit & (unit - 1)) == 0);
    return (request->wanted_bytes + unit - 1) & ~(unit - 1);
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
