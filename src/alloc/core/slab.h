/*
 * slab.h - slabs of 64-byte records, each a cache line: the blocks, and the nodes of the index.
 *
 * Records never go back to the heap before the slab is destroyed, so a stale pointer into a slab
 * can be read safely. A fast path keeps a list of spare records of its own.
 */
#ifndef PLIMSOLL_ALLOC_SLAB_H
#define PLIMSOLL_ALLOC_SLAB_H

#include "alloc/core/lock.h"
#include "base/memory.h"

typedef union plim_slab_record {
    union plim_slab_record *next; /* while it is spare */
    unsigned char bytes[64];
} plim_slab_record;

typedef struct plim_slab_list {
    plim_slab_record *first;
    uint32_t count;
} plim_slab_list;

/* Locks itself. */
typedef struct plim_slab {
    const plim_mem *mem;
    plim_spin lock;
    plim_slab_list spare;
    struct plim_slab_chunk *chunks;
    uint64_t bytes;         /* of all chunks */
    uint32_t chunk_records; /* of the next chunk */
} plim_slab;

void plim_slab_init(plim_slab *slab, const plim_mem *mem);
void plim_slab_deinit(plim_slab *slab);
/* Moves records to `list` until it holds `wanted`; false: no memory, the list has what there was.
 */
bool plim_slab_fill(plim_slab *slab, plim_slab_list *list, uint32_t wanted);
/* Takes records back until `list` holds `kept`. */
void plim_slab_drain(plim_slab *slab, plim_slab_list *list, uint32_t kept);

static inline plim_slab_record *plim_slab_list_pop(plim_slab_list *list)
{
    plim_slab_record *line = list->first;
    if (line != NULL) {
        list->first = line->next;
        list->count--;
    }
    return line;
}

static inline void plim_slab_list_push(plim_slab_list *list, plim_slab_record *line)
{
    line->next = list->first;
    list->first = line;
    list->count++;
}

#endif
