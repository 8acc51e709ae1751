/*
 * policies.h - the policies by name, and what they share. The contract is core/policy.h.
 */
#ifndef PLIMSOLL_ALLOC_POLICIES_H
#define PLIMSOLL_ALLOC_POLICIES_H

#include "alloc/core/policy.h"

extern const plim_policy plim_policy_torch; /* of the release PLIM_ALLOCATOR_TORCH names */
extern const plim_policy plim_policy_naive;
extern const plim_policy plim_policy_bfc;
extern const plim_policy plim_policy_async;
extern const plim_policy plim_policy_arena;

/* NULL: there is none. */
const plim_policy *plim_policy_of(plim_policy_kind kind);

/* --- what policies share --- */

/* A request's size in units of `unit` bytes, a power of two, with what hardening adds. */
uint64_t plim_policy_round(const plim_request *request, uint64_t unit);
/* The default pool's shelf of a size class and stream becomes the request's, ready to be searched.
 */
plim_status plim_policy_use_shelf(plim_request *request, bool is_small, plim_stream stream,
                                  plim_error *err);
/* Whether the heap's limit lets it have so much more. */
bool plim_policy_may_take(const plim_heap *heap, uint64_t bytes);
/* The smallest free block of at least so many bytes, the lowest of those; out of its set. */
plim_heap_block *plim_policy_best_fit(plim_shelf *shelf, uint64_t bytes);

#endif
