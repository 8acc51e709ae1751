/*
 * superblocks.h - the superblocks of one arena, in order of addresses (arena.c).
 *
 * A superblock is a run of whole blocks of the arena's one range. Free blocks are merged inside a
 * superblock, and not across its ends.
 */
#ifndef PLIMSOLL_ALLOC_SUPERBLOCKS_H
#define PLIMSOLL_ALLOC_SUPERBLOCKS_H

#include "alloc/core/heap.h"

typedef struct plim_superblock {
    plim_addr addr;
    uint64_t bytes;
    uint64_t most;          /* no free block in it is larger than this */
    plim_heap_block *first; /* the block it starts with */
} plim_superblock;

typedef struct plim_superblocks {
    plim_stream stream; /* of the arena; the global one has none */
    PLIM_VEC(plim_superblock) list;
} plim_superblocks;

#define PLIM_NO_SUPERBLOCK SIZE_MAX

/* Room for `more` superblocks; false: no host memory. */
bool plim_superblocks_room(plim_superblocks *blocks, size_t more, const plim_mem *mem);
/* Puts one where it belongs, for which there is room; returns where that is. */
size_t plim_superblocks_put(plim_superblocks *blocks, plim_superblock superblock);
plim_superblock plim_superblocks_take(plim_superblocks *blocks, size_t at);
/* The one an address lies in. */
size_t plim_superblocks_find(const plim_superblocks *blocks, plim_addr addr);
/* The first from `from` on that may have a free block of so many bytes. */
size_t plim_superblocks_next(const plim_superblocks *blocks, size_t from, uint64_t bytes);

/* The lowest free block of at least so many bytes, still in its set; NULL: none fits, and
 * `most` is exact. */
plim_heap_block *plim_superblock_fit(plim_superblock *superblock, uint64_t bytes);
/* True if all of it is one free block, but for what has no memory yet. */
bool plim_superblock_is_empty(const plim_superblock *superblock);
/* Bytes of an empty one that are mapped. */
uint64_t plim_superblock_mapped(const plim_superblock *superblock);

#endif
