/*
 * arena.h - memory that grows and is freed all at once: one arena per document.
 *
 *   chunk 0 [########] -> chunk 1 [##############] -> chunk 2 [#####.........]
 *                                                                   ^ cursor
 * Chunks double up to PLIM_ARENA_CHUNK_BYTES_MAX, so the waste is bounded; nothing moves.
 */
#ifndef PLIMSOLL_BASE_ARENA_H
#define PLIMSOLL_BASE_ARENA_H

#include "base/memory.h"

#define PLIM_ARENA_CHUNK_BYTES_MIN ((size_t)4096)
#define PLIM_ARENA_CHUNK_BYTES_MAX ((size_t)4 << 20)

typedef struct plim_arena_chunk plim_arena_chunk;

typedef struct plim_arena {
    const plim_mem *mem;
    plim_arena_chunk *last;
    unsigned char *cursor; /* next free byte of the last chunk, 8-aligned */
    unsigned char *end;
    size_t used_bytes; /* of all chunks, as taken from mem */
} plim_arena;

void plim_arena_init(plim_arena *arena, const plim_mem *mem);
/* Frees everything; a zeroed arena is allowed. */
void plim_arena_deinit(plim_arena *arena);
/* Slow path of plim_arena_alloc(). */
void *plim_arena_alloc_chunk(plim_arena *arena, size_t bytes);

/* `bytes` bytes, 8-aligned, not zeroed; NULL when there is no memory. */
static inline void *plim_arena_alloc(plim_arena *arena, size_t bytes)
{
    const size_t rounded = (bytes + 7u) & ~(size_t)7u;
    /* `>=`: an arena without a chunk has no room even for nothing, and what is given is never NULL.
     */
    if (rounded < bytes || rounded >= (size_t)(arena->end - arena->cursor)) {
        return plim_arena_alloc_chunk(arena, bytes);
    }
    void *ptr = arena->cursor;
    arena->cursor += rounded;
    return ptr;
}

/* A copy of `bytes` bytes and a zero after them; NULL without memory. */
char *plim_arena_copy(plim_arena *arena, const void *data, size_t bytes);

#endif
