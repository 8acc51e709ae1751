/*
 * policies.h - the policies by name, and what they share. The contract is core/policy.h.
 */
#ifndef PLIMSOLL_ALLOC_POLICIES_H
#define PLIMSOLL_ALLOC_POLICIES_H

#include "alloc/core/policy.h"
#include "alloc/core/pools.h"

extern const plim_policy plim_policy_torch; /* of the release PLIM_ALLOCATOR_TORCH names */
extern const plim_policy plim_policy_naive;
extern const plim_policy plim_policy_bfc;
extern const plim_policy plim_policy_async;
extern const plim_policy plim_policy_arena;

/* NULL: no such policy. */
const plim_policy *plim_policy_of(plim_policy_kind kind);

/* --- what policies share --- */

/* A request's size in units of `unit` bytes, a power of two, with what hardening adds. */
static inline uint64_t plim_policy_round(const plim_request *request, uint64_t unit)
{
    return (request->wanted_bytes + unit - 1) & ~(unit - 1);
}

/* The default pool's shelf of a size class and stream becomes the request's, ready to be searched.
 */
static inline plim_status plim_policy_use_shelf(plim_request *request, bool is_small,
                                                plim_stream stream, plim_error *err)
{
    plim_heap *heap = request->heap;
    return plim_shelf_ready(heap, is_small ? &heap->small : &heap->large, stream, &request->shelf,
                            err);
}

/* True if the heap's limit lets it have so much more. */
static inline bool plim_policy_may_take(const plim_heap *heap, uint64_t bytes)
{
    return heap->limit_bytes == PLIM_UNLIMITED ||
           (bytes <= heap->limit_bytes && heap->reserved_bytes <= heap->limit_bytes - bytes);
}

/* The block at a cursor of a shelf, out of its set; NULL after the end. */
static inline plim_heap_block *plim_policy_take(plim_shelf *shelf, plim_free_cursor cursor)
{
    plim_heap_block *block = plim_free_cursor_block(cursor);
    if (block != NULL) {
        plim_free_set_take_at(&shelf->blocks, cursor);
    }
    return block;
}

/* The smallest free block of at least so many bytes, the lowest of those; out of its set. */
static inline plim_heap_block *plim_policy_best_fit(plim_shelf *shelf, uint64_t bytes)
{
    return plim_policy_take(shelf, plim_free_set_at_least(&shelf->blocks, bytes, 0));
}

#endif
