/*
 * slab.c - slabs of 64-byte records. See slab.h.
 */
#include "alloc/core/slab.h"

#include <string.h>

#define CHUNK_RECORDS_MIN 64u
#define CHUNK_RECORDS_MAX 4096u /* 256 KiB */
#define RECORD_BYTES      sizeof(plim_slab_record)

/* In front of a chunk's records; a line of its own, so that records keep to lines. */
typedef struct plim_slab_chunk {
    struct plim_slab_chunk *next;
    void *memory; /* what was allocated: the chunk is aligned inside of it */
    size_t bytes;
} plim_slab_chunk;

_Static_assert(sizeof(plim_slab_chunk) <= RECORD_BYTES, "the header takes one line");

void plim_slab_init(plim_slab *slab, const plim_mem *mem)
{
    *slab = (plim_slab){ .mem = mem, .chunk_records = CHUNK_RECORDS_MIN };
}

void plim_slab_deinit(plim_slab *slab)
{
    while (slab->chunks != NULL) {
        const plim_slab_chunk chunk = *slab->chunks;
        plim_mem_free(slab->mem, chunk.memory, chunk.bytes, 1);
        slab->chunks = chunk.next;
    }
}

/* One more chunk, all of it spare. */
static bool grow(plim_slab *slab)
{
    const size_t bytes =
        ((size_t)slab->chunk_records + 2) * RECORD_BYTES; /* header and alignment */
    unsigned char *memory = plim_mem_alloc(slab->mem, bytes, 1);
    if (memory == NULL) {
        return false;
    }
    const size_t past = (uintptr_t)memory % RECORD_BYTES;
    unsigned char *start = memory + (past == 0 ? 0 : RECORD_BYTES - past);
    plim_slab_chunk *chunk = (plim_slab_chunk *)(void *)start;
    *chunk = (plim_slab_chunk){ .next = slab->chunks, .memory = memory, .bytes = bytes };
    slab->chunks = chunk;
    slab->bytes += bytes;

    plim_slab_record *records = (plim_slab_record *)(void *)(start + RECORD_BYTES);
    memset(records, 0, slab->chunk_records * sizeof *records);
    for (uint32_t i = slab->chunk_records; i > 0; i--) { /* the first comes out first */
        plim_slab_list_push(&slab->spare, &records[i - 1]);
    }
    if (slab->chunk_records < CHUNK_RECORDS_MAX) {
        slab->chunk_records *= 2;
    }
    return true;
}

bool plim_slab_fill(plim_slab *slab, plim_slab_list *list, uint32_t wanted)
{
    plim_spin_lock(&slab->lock);
    while (list->count < wanted && (slab->spare.first != NULL || grow(slab))) {
        plim_slab_list_push(list, plim_slab_list_pop(&slab->spare));
    }
    plim_spin_unlock(&slab->lock);
    return list->count >= wanted;
}

void plim_slab_drain(plim_slab *slab, plim_slab_list *list, uint32_t kept)
{
    plim_spin_lock(&slab->lock);
    while (list->count > kept) {
        plim_slab_list_push(&slab->spare, plim_slab_list_pop(list));
    }
    plim_spin_unlock(&slab->lock);
}
