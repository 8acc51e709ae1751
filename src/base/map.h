/*
 * map.h - from a 64-bit number to another: open addressing, linear probing, one array.
 *
 * Keys are hashed with a random key (hash.h); a slot is 16 bytes. Removal shifts back what
 * follows, so there are no tombstones and lookups stay short however long a map lives.
 * The value PLIM_MAP_ABSENT cannot be stored.
 */
#ifndef PLIMSOLL_BASE_MAP_H
#define PLIMSOLL_BASE_MAP_H

#include "base/memory.h"

#define PLIM_MAP_ABSENT UINT64_MAX

typedef struct plim_map_slot {
    uint64_t key;
    uint64_t value; /* PLIM_MAP_ABSENT: the slot is empty */
} plim_map_slot;

typedef struct plim_map {
    const plim_mem *mem;
    plim_map_slot *slots;
    size_t mask; /* slots - 1; slots is a power of two, or 0 before the first put */
    size_t count;
    uint64_t hash_key;
} plim_map;

void plim_map_init(plim_map *map, const plim_mem *mem);
void plim_map_deinit(plim_map *map);

/* The value of `key`, or PLIM_MAP_ABSENT. */
uint64_t plim_map_get(const plim_map *map, uint64_t key);
/* Sets or replaces; false when there is no memory, and then nothing changed. */
bool plim_map_put(plim_map *map, uint64_t key, uint64_t value);
/* Removes `key`; its value, or PLIM_MAP_ABSENT when it was not there. */
uint64_t plim_map_take(plim_map *map, uint64_t key);

#endif
