/*
 * lines.c - slabs of 64-byte records. See lines.h.
 */
#include "alloc/lines.h"

#include <string.h>

#define CHUNK_LINES_MIN  64u
#define CHUNK_LINES_MAX  4096u /* 256 KiB */
#define CACHE_LINE_BYTES sizeof(plim_cache_line)

/* In front of a chunk's records; a line of its own, so that records keep to lines. */
typedef struct plim_line_chunk {
    struct plim_line_chunk *next;
    void *memory; /* what was allocated: the chunk is aligned inside of it */
    size_t bytes;
} plim_line_chunk;

_Static_assert(sizeof(plim_line_chunk) <= CACHE_LINE_BYTES, "the header takes one line");

void plim_line_slab_init(plim_line_slab *slab, const plim_mem *mem)
{
    *slab = (plim_line_slab){ .mem = mem, .chunk_lines = CHUNK_LINES_MIN };
}

void plim_line_slab_deinit(plim_line_slab *slab)
{
    while (slab->chunks != NULL) {
        const plim_line_chunk chunk = *slab->chunks;
        plim_mem_free(slab->mem, chunk.memory, chunk.bytes, 1);
        slab->chunks = chunk.next;
    }
}

/* One more chunk, all of it spare. */
static bool grow(plim_line_slab *slab)
{
    const size_t bytes =
        ((size_t)slab->chunk_lines + 2) * CACHE_LINE_BYTES; /* header and alignment */
    unsigned char *memory = plim_mem_alloc(slab->mem, bytes, 1);
    if (memory == NULL) {
        return false;
    }
    const size_t past = (uintptr_t)memory % CACHE_LINE_BYTES;
    unsigned char *line = memory + (past == 0 ? 0 : CACHE_LINE_BYTES - past);
    plim_line_chunk *chunk = (plim_line_chunk *)(void *)line;
    *chunk = (plim_line_chunk){ .next = slab->chunks, .memory = memory, .bytes = bytes };
    slab->chunks = chunk;
    slab->bytes += bytes;

    plim_cache_line *lines = (plim_cache_line *)(void *)(line + CACHE_LINE_BYTES);
    memset(lines, 0, slab->chunk_lines * sizeof *lines);
    for (uint32_t i = slab->chunk_lines; i > 0; i--) { /* the first comes out first */
        plim_line_list_push(&slab->spare, &lines[i - 1]);
    }
    if (slab->chunk_lines < CHUNK_LINES_MAX) {
        slab->chunk_lines *= 2;
    }
    return true;
}

bool plim_line_slab_fill(plim_line_slab *slab, plim_line_list *list, uint32_t wanted)
{
    plim_spin_lock(&slab->lock);
    while (list->count < wanted && (slab->spare.first != NULL || grow(slab))) {
        plim_line_list_push(list, plim_line_list_pop(&slab->spare));
    }
    plim_spin_unlock(&slab->lock);
    return list->count >= wanted;
}

void plim_line_slab_drain(plim_line_slab *slab, plim_line_list *list, uint32_t kept)
{
    plim_spin_lock(&slab->lock);
    while (list->count > kept) {
        plim_line_list_push(&slab->spare, plim_line_list_pop(list));
    }
    plim_spin_unlock(&slab->lock);
}
