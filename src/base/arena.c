/*
 * arena.c - chunks of an arena: taken as needed, freed together.
 */
#include "base/arena.h"

#include <string.h>

struct plim_arena_chunk {
    plim_arena_chunk *previous;
    size_t bytes; /* with this header */
};

void plim_arena_init(plim_arena *arena, const plim_mem *mem)
{
    *arena = (plim_arena){ .mem = plim_mem_or_heap(mem) };
}

void plim_arena_deinit(plim_arena *arena)
{
    plim_arena_chunk *chunk = arena->last;
    while (chunk != NULL) {
        plim_arena_chunk *previous = chunk->previous;
        plim_mem_free(arena->mem, chunk, chunk->bytes, 1);
        chunk = previous;
    }
    *arena = (plim_arena){ .mem = arena->mem };
}

void *plim_arena_alloc_chunk(plim_arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    const size_t rounded = (bytes + 7u) & ~(size_t)7u;
    size_t chunk_bytes = arena->used_bytes;
    if (chunk_bytes < PLIM_ARENA_CHUNK_BYTES_MIN) {
        chunk_bytes = PLIM_ARENA_CHUNK_BYTES_MIN;
    }
    if (chunk_bytes > PLIM_ARENA_CHUNK_BYTES_MAX) {
        chunk_bytes = PLIM_ARENA_CHUNK_BYTES_MAX;
    }
    if (chunk_bytes < rounded + sizeof(plim_arena_chunk)) {
        chunk_bytes = rounded + sizeof(plim_arena_chunk);
    }
    plim_arena_chunk *chunk = plim_mem_alloc(arena->mem, chunk_bytes, 1);
    if (chunk == NULL) {
        return NULL;
    }
    *chunk = (plim_arena_chunk){ .previous = arena->last, .bytes = chunk_bytes };
    arena->last = chunk;
    arena->used_bytes += chunk_bytes;
    unsigned char *data = (unsigned char *)(chunk + 1);
    arena->cursor = data + rounded;
    arena->end = (unsigned char *)chunk + chunk_bytes;
    return data;
}

char *plim_arena_copy(plim_arena *arena, const void *data, size_t bytes)
{
    if (bytes == SIZE_MAX) {
        return NULL;
    }
    char *copy = plim_arena_alloc(arena, bytes + 1);
    if (copy != NULL) {
        if (bytes > 0) {
            memcpy(copy, data, bytes);
        }
        copy[bytes] = '\0';
    }
    return copy;
}
