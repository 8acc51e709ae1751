/*
 * free_set.h - free blocks in the order PyTorch keeps them: by size, then by address.
 *
 * A B+ tree whose leaves hold the keys themselves, so that a search reads few cache lines and no
 * block. What is typical, a few dozen free blocks, is one or two leaves.
 *
 *   inner   [ child | key child | key child … ]        keys below `key` are to its left
 *   leaves  [ (bytes, addr, block) … ] <-> [ … ] <-> [ … ]
 *
 * Putting a block never fails: without host memory for a node the block waits in a list, and the
 * set is unsettled until plim_free_set_settle() could take it in. Searching needs a settled set.
 */
#ifndef PLIMSOLL_ALLOC_FREE_SET_H
#define PLIMSOLL_ALLOC_FREE_SET_H

#include "alloc/core/block.h"

#define PLIM_FREE_LEAF_ENTRIES 20

typedef struct plim_free_entry {
    uint64_t bytes; /* 0 in sets that are ordered by address alone */
    plim_addr addr;
    plim_heap_block *block;
} plim_free_entry;

typedef struct plim_free_leaf {
    uint16_t level; /* 0; the first member of inner nodes too */
    uint16_t count;
    struct plim_free_leaf *left;
    struct plim_free_leaf *right;
    plim_free_entry entries[PLIM_FREE_LEAF_ENTRIES];
} plim_free_leaf;

typedef struct plim_free_set {
    const plim_mem *mem;
    void *root; /* a leaf or an inner node; NULL before the first block */
    plim_free_leaf *first;
    plim_free_leaf *last;
    plim_free_leaf *spare;    /* one leaf kept for the set that fills again; may be NULL */
    plim_heap_block *waiting; /* linked through requested_bytes; NULL: settled */
    uint64_t count;
    uint64_t bytes; /* host bytes of the nodes */
    bool is_by_address;
} plim_free_set;

/* A place in the set. Valid until the set changes. */
typedef struct plim_free_cursor {
    plim_free_leaf *leaf; /* NULL: after the end */
    uint32_t index;
} plim_free_cursor;

void plim_free_set_init(plim_free_set *set, const plim_mem *mem, bool is_by_address);
void plim_free_set_deinit(plim_free_set *set);

/* The block's bytes and addr are its key and must not change while it is in the set. */
void plim_free_set_put(plim_free_set *set, plim_heap_block *block);
/* The block must be there. */
void plim_free_set_take(plim_free_set *set, plim_heap_block *block);
/* Takes what a cursor points at. */
void plim_free_set_take_at(plim_free_set *set, plim_free_cursor cursor);

/* The key of the block at a cursor, or the block itself, has changed: moves it to where it belongs
 * now. Like taking it and putting `block`, but nearly always without a search. */
void plim_free_set_move(plim_free_set *set, plim_free_cursor cursor, plim_heap_block *block);

/* False: blocks still wait for host memory. */
bool plim_free_set_settle(plim_free_set *set);

/* The first block not before (bytes, addr). */
plim_free_cursor plim_free_set_at_least(const plim_free_set *set, uint64_t bytes, plim_addr addr);

static inline plim_free_cursor plim_free_set_begin(const plim_free_set *set)
{
    return (plim_free_cursor){ set->first, 0 };
}

/* NULL after the end. */
static inline plim_heap_block *plim_free_cursor_block(plim_free_cursor cursor)
{
    return cursor.leaf != NULL ? cursor.leaf->entries[cursor.index].block : NULL;
}

static inline plim_free_cursor plim_free_cursor_next(plim_free_cursor cursor)
{
    if (cursor.index + 1 < cursor.leaf->count) {
        return (plim_free_cursor){ cursor.leaf, cursor.index + 1 };
    }
    return (plim_free_cursor){ cursor.leaf->right, 0 };
}

/* The last block; nothing when the set is empty. */
static inline plim_free_cursor plim_free_set_last(const plim_free_set *set)
{
    return (plim_free_cursor){ set->last, set->last != NULL ? set->last->count - 1u : 0 };
}

static inline plim_free_cursor plim_free_cursor_previous(plim_free_cursor cursor)
{
    if (cursor.index > 0) {
        return (plim_free_cursor){ cursor.leaf, cursor.index - 1 };
    }
    plim_free_leaf *leaf = cursor.leaf->left;
    return (plim_free_cursor){ leaf, leaf != NULL ? leaf->count - 1u : 0 };
}

/* True if order, links and counts are as they must be. */
bool plim_free_set_is_sound(const plim_free_set *set);

#endif
