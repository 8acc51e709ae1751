/*
 * index.h - from an address to the segment it lies in, and to the live block that starts there.
 *
 *   directory   57-bit addresses, four levels of 512: 256 TiB, 512 GiB, 1 GiB, 2 MiB;
 *               an entry of any level is a segment that covers it, a level below, or a
 *               page that several segments share
 *   pages       per segment, one root for each 2 MiB from its start
 *   trie        per page, five levels of 8 down to 64 bytes (policies use 256 and more);
 *               a block stands as high as it is alone
 *
 * Looking in the directory takes no lock. Looking in a segment's pages wants the lock of its
 * blocks. Nodes stay when a block is taken out, for the next one, until a page has more of them
 * than its blocks could need: then the empty ones go.
 */
#ifndef PLIMSOLL_ALLOC_INDEX_H
#define PLIMSOLL_ALLOC_INDEX_H

#include "alloc/core/block.h"

#define PLIM_PAGE_BITS    21
#define PLIM_PAGE_BYTES   ((uint64_t)1 << PLIM_PAGE_BITS)
#define PLIM_ADDRESS_BITS 57

/* 2 MiB of a segment. */
typedef struct plim_index_page {
    void *root;      /* a block or a node, tagged; see index.c */
    uint16_t nodes;  /* at most 4681 */
    uint16_t blocks; /* at most 8192 */
} plim_index_page;

/* Of one segment. */
typedef struct plim_page_index {
    plim_index_page *items;
    plim_index_page only; /* of a segment of one page; items is NULL then */
    uint64_t count;
} plim_page_index;

typedef struct plim_directory {
    const plim_mem *mem;
    void *root;    /* 512 entries */
    void *retired; /* shared pages that were replaced: readers may still look at them */
    uint64_t bytes;
} plim_directory;

bool plim_directory_init(plim_directory *directory, const plim_mem *mem);
void plim_directory_deinit(plim_directory *directory);
/* For one thread at a time. False: no memory, or addresses beyond 57 bits; nothing changed. */
bool plim_directory_add(plim_directory *directory, plim_addr addr, uint64_t bytes,
                        struct plim_segment_record *segment);
void plim_directory_remove(plim_directory *directory, plim_addr addr, uint64_t bytes,
                           struct plim_segment_record *segment);
/* The segment an address lies in, or NULL. Any thread; the caller checks, under the lock of its
 * blocks, that the segment is still the one it was. */
struct plim_segment_record *plim_directory_find(const plim_directory *directory, plim_addr addr);

bool plim_page_index_init(plim_page_index *pages, const plim_mem *mem, uint64_t bytes);
/* Gives the nodes back. */
void plim_page_index_deinit(plim_page_index *pages, const plim_mem *mem, plim_slab *nodes);
/* `base` is where the segment starts. False: no memory, and nothing changed. */
bool plim_page_index_put(plim_page_index *pages, plim_addr base, plim_heap_block *block,
                         plim_slab *nodes);
/* Takes out a block that is there. */
void plim_page_index_take(plim_page_index *pages, plim_addr base, const plim_heap_block *block,
                          plim_slab *nodes);
/* The block that starts at `addr` and is live, or NULL. */
plim_heap_block *plim_page_index_find(const plim_page_index *pages, plim_addr base, plim_addr addr);

#endif
