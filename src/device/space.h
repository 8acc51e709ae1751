/*
 * space.h - an address space: which parts of it are free, and the lowest place where a size fits.
 *
 *   [#####|  gap  |##|   gap   |####|            gap             ]
 *
 * The gaps are a treap by address whose nodes know the largest gap below them, so that first fit,
 * taking and giving back are O(log n). Taking from the front of a gap, which first fit always
 * does, leaves the tree's shape alone. Every taken piece has kept room for the gap it may become,
 * so giving back never needs memory.
 *
 * One thread at a time.
 */
#ifndef PLIMSOLL_DEVICE_SPACE_H
#define PLIMSOLL_DEVICE_SPACE_H

#include "base/vec.h"

#define PLIM_SPACE_NONE UINT32_MAX

typedef struct plim_gap {
    uint64_t base;
    uint64_t bytes;
    uint64_t bytes_max; /* of this gap and all below it in the tree */
    uint32_t left;      /* gaps at lower addresses; in a free node: the next free node */
    uint32_t right;
    uint32_t priority; /* no node's is above its parent's */
} plim_gap;

typedef struct plim_space {
    const plim_mem *mem;
    PLIM_VEC(plim_gap) gaps; /* nodes, in use or free */
    uint32_t root;
    uint32_t free_node; /* first of the list */
    size_t gap_count;
    size_t gap_count_max; /* each taken piece can add one */
    uint32_t random;
} plim_space;

/* Nothing is in it: windows come by plim_space_add_window(). */
void plim_space_init(plim_space *space, const plim_mem *mem);
void plim_space_deinit(plim_space *space);

/* More free addresses, apart from those there are. False: no host memory. */
bool plim_space_add_window(plim_space *space, uint64_t base, uint64_t bytes);

/* Room to take one more piece. False: no host memory. Without it, taking asserts. */
bool plim_space_prepare(plim_space *space);
/* Take the lowest `bytes` bytes that are free. False: no gap is as large. */
bool plim_space_place(plim_space *space, uint64_t bytes, uint64_t *ret_base);
/* Take these addresses. False: not all of them are free. */
bool plim_space_take(plim_space *space, uint64_t base, uint64_t bytes);
/* Give back a taken piece, or more of them side by side by one call each. */
void plim_space_give(plim_space *space, uint64_t base, uint64_t bytes);

/* True if a piece of [base, base + bytes) is free. */
bool plim_space_has_free(const plim_space *space, uint64_t base, uint64_t bytes);
/* True if all of it is free. */
bool plim_space_is_free(const plim_space *space, uint64_t base, uint64_t bytes);

/* Asserts every invariant. O(n). */
void plim_space_check(const plim_space *space);

#endif
