/*
 * lines.h - slabs of 64-byte records, each a cache line: the blocks, and the nodes of the index.
 *
 * Records never go back to the heap before the slab is destroyed, so a stale pointer into a slab
 * can be looked through safely. Whoever needs records on a fast path keeps a list of spare ones.
 */
#ifndef PLIMSOLL_ALLOC_LINES_H
#define PLIMSOLL_ALLOC_LINES_H

#include "alloc/spin.h"
#include "base/memory.h"

typedef union plim_cache_line {
    union plim_cache_line *next; /* while it is spare */
    unsigned char bytes[64];
} plim_cache_line;

typedef struct plim_line_list {
    plim_cache_line *first;
    uint32_t count;
} plim_line_list;

/* Locks itself. */
typedef struct plim_line_slab {
    const plim_mem *mem;
    plim_spin lock;
    plim_line_list spare;
    struct plim_line_chunk *chunks;
    uint64_t bytes;       /* of all chunks */
    uint32_t chunk_lines; /* of the next chunk */
} plim_line_slab;

void plim_line_slab_init(plim_line_slab *slab, const plim_mem *mem);
void plim_line_slab_deinit(plim_line_slab *slab);
/* Moves records to `list` until it holds `wanted`; false: no memory, the list has what there was.
 */
bool plim_line_slab_fill(plim_line_slab *slab, plim_line_list *list, uint32_t wanted);
/* Takes records back until `list` holds `kept`. */
void plim_line_slab_drain(plim_line_slab *slab, plim_line_list *list, uint32_t kept);

static inline plim_cache_line *plim_line_list_pop(plim_line_list *list)
{
    plim_cache_line *line = list->first;
    if (line != NULL) {
        list->first = line->next;
        list->count--;
    }
    return line;
}

static inline void plim_line_list_push(plim_line_list *list, plim_cache_line *line)
{
    line->next = list->first;
    list->first = line;
    list->count++;
}

#endif
