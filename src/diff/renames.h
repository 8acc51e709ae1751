/*
 * renames.h - functions that only one side has, found to be functions of the other under another
 * name or in another file.
 */
#ifndef PLIMSOLL_DIFF_RENAMES_H
#define PLIMSOLL_DIFF_RENAMES_H

#include "base/memory.h"
#include "base/vec.h"

/* In stacks that are each other's otherwise, a function stands where another does. */
typedef struct plim_diff_vote {
    uint32_t before, after; /* functions */
    uint32_t weight;
} plim_diff_vote;

typedef struct plim_diff_renames {
    const plim_mem *mem;
    PLIM_VEC(plim_diff_vote) votes;
    uint32_t *to;   /* by function: its name before, or itself */
    uint8_t *known; /* by function: it was renamed, or is what another was renamed to */
    size_t count;
} plim_diff_renames;

/* No function is renamed. False: no memory. */
bool plim_diff_renames_init(plim_diff_renames *renames, size_t functions, const plim_mem *mem);
/* A zeroed one is allowed. */
void plim_diff_renames_deinit(plim_diff_renames *renames);

/* False: no memory. */
bool plim_diff_vote_for(plim_diff_renames *renames, uint32_t before, uint32_t after,
                        uint32_t weight);
/* Takes the pairs that most votes are for, each function once, and forgets the votes. True: there
 * was one of `weight_min` or more. */
bool plim_diff_count_votes(plim_diff_renames *renames, uint32_t weight_min);

/* The number that stands for a function on both sides. */
static inline uint32_t plim_diff_renamed(const plim_diff_renames *renames, uint32_t function)
{
    return renames->to[function];
}
static inline bool plim_diff_is_renamed(const plim_diff_renames *renames, uint32_t function)
{
    return renames->known[function] != 0;
}

#endif
