/*
 * block.h - a block: a piece of a segment, live, free or unmapped; 64 bytes.
 *
 * Records lie in slabs, apart from the memory they describe, and their addresses stay valid until
 * the allocator is destroyed: a record that is given back becomes another block, never something
 * else. So a stale pointer can be followed, and shows another block.
 */
#ifndef PLIMSOLL_ALLOC_BLOCK_H
#define PLIMSOLL_ALLOC_BLOCK_H

#include "alloc/core/slab.h"
#include "plimsoll/addr.h"

struct plim_segment_record;
struct plim_use;

typedef enum plim_block_is {
    PLIM_BLOCK_IS_SPARE,
    PLIM_BLOCK_IS_FREE,
    PLIM_BLOCK_IS_LIVE,    /* handed out */
    PLIM_BLOCK_IS_PENDING, /* given back, but other streams may still use it */
    PLIM_BLOCK_IS_PARKED,  /* given back, and free for all to see: lane.c */
} plim_block_is;

typedef struct plim_heap_block {
    plim_addr addr;
    uint64_t bytes;
    uint64_t requested_bytes;     /* of its last request; stale while it is free */
    struct plim_heap_block *prev; /* neighbours in its segment, by address */
    struct plim_heap_block *next;
    struct plim_segment_record *segment; /* NULL: a spare record */
    union {
        struct plim_use *uses; /* live: other streams that were recorded; pending: still to be */
        uint64_t gc_base;      /* free: lookups of its pool when it was put there */
    } as;
    uint32_t stack;       /* live, pending: of its allocation, or PLIM_NONE */
    uint16_t event_count; /* pending: fences it still waits for */
    uint8_t state;        /* plim_block_is */
    /* False: an address range of an expandable segment without memory. */
    unsigned is_mapped : 1;
    /* Its place among the causes of its segment, from 1 on; 0: it has none. */
    unsigned cause : 7;
} plim_heap_block;

_Static_assert(sizeof(plim_heap_block) == 64, "a block is one cache line");

/* A spare record as a block; NULL when the list is empty. */
static inline plim_heap_block *plim_block_new(plim_slab_list *spare)
{
    plim_slab_record *line = plim_slab_list_pop(spare);
    return line != NULL ? (plim_heap_block *)(void *)line : NULL;
}

static inline void plim_block_free(plim_slab_list *spare, plim_heap_block *block)
{
    block->segment = NULL;
    block->state = PLIM_BLOCK_IS_SPARE;
    plim_slab_list_push(spare, (plim_slab_record *)(void *)block);
}

/* True if it is only a part of its segment. */
static inline bool plim_block_is_split(const plim_heap_block *block)
{
    return block->prev != NULL || block->next != NULL;
}

#endif
