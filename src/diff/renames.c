/*
 * renames.c - which function is which under another name.
 */
#include "diff/renames.h"

#include <stdlib.h>

bool plim_diff_renames_init(plim_diff_renames *renames, size_t functions, const plim_mem *mem)
{
    *renames = (plim_diff_renames){ .mem = mem, .count = functions };
    if (functions == 0) {
        return true;
    }
    renames->to = plim_mem_alloc(mem, functions, sizeof *renames->to);
    renames->known = plim_mem_alloc_zeroed(mem, functions, sizeof *renames->known);
    if (renames->to == NULL || renames->known == NULL) {
        return false;
    }
    for (size_t i = 0; i < functions; i++) {
        renames->to[i] = (uint32_t)i;
    }
    return true;
}

void plim_diff_renames_deinit(plim_diff_renames *renames)
{
    if (renames->mem == NULL) {
        return;
    }
    PLIM_VEC_FREE(renames->mem, &renames->votes);
    plim_mem_free(renames->mem, renames->to, renames->count, sizeof *renames->to);
    plim_mem_free(renames->mem, renames->known, renames->count, sizeof *renames->known);
    *renames = (plim_diff_renames){ 0 };
}

/* --- votes --- */

bool plim_diff_vote_for(plim_diff_renames *renames, uint32_t before, uint32_t after,
                        uint32_t weight)
{
    const plim_diff_vote vote = { before, after, weight };
    return PLIM_VEC_PUSH(renames->mem, &renames->votes, vote);
}

static int compare_pairs(const void *left, const void *right)
{
    const plim_diff_vote *const a = left;
    const plim_diff_vote *const b = right;
    if (a->before != b->before) {
        return a->before < b->before ? -1 : 1;
    }
    return (a->after > b->after) - (a->after < b->after);
}

static int compare_weights(const void *left, const void *right)
{
    const plim_diff_vote *const a = left;
    const plim_diff_vote *const b = right;
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return compare_pairs(left, right);
}

/* One row for each pair, with the sum of its weights. Returns how many. */
static size_t add_up(plim_diff_vote *votes, size_t count)
{
    qsort(votes, count, sizeof *votes, compare_pairs);
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        plim_diff_vote *const last = &votes[kept];
        if (compare_pairs(last, &votes[i]) == 0) {
            last->weight += votes[i].weight < UINT32_MAX - last->weight ? votes[i].weight
                                                                        : UINT32_MAX - last->weight;
        } else {
            votes[++kept] = votes[i];
        }
    }
    return kept + 1;
}

bool plim_diff_count_votes(plim_diff_renames *renames, uint32_t weight_min)
{
    plim_diff_vote *const votes = renames->votes.items;
    if (renames->votes.count == 0) {
        return false;
    }
    const size_t count = add_up(votes, renames->votes.count);
    qsort(votes, count, sizeof *votes, compare_weights);
    bool is_any = false;
    for (size_t i = 0; i < count && votes[i].weight >= weight_min; i++) {
        if (renames->known[votes[i].before] == 0 && renames->known[votes[i].after] == 0) {
            renames->to[votes[i].after] = votes[i].before;
            renames->known[votes[i].before] = 1;
            renames->known[votes[i].after] = 1;
            is_any = true;
        }
    }
    renames->votes.count = 0;
    return is_any;
}
