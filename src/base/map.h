/*
 * map.h - from a 64-bit number to another: open addressing, linear probing, one array.
 *
 * Keys are hashed with a random key (hash.h); a slot is 16 bytes. Removal shifts back what
 * follows, so there are no tombstones and lookups stay short however long a map lives.
 * The value PLIM_MAP_ABSENT cannot be stored.
 */
#ifndef PLIMSOLL_BASE_MAP_H
#define PLIMSOLL_BASE_MAP_H

#include "base/hash.h"
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
/* Room for one more key; false when there is no memory. */
bool plim_map_grow(plim_map *map);
/* Removes `key`; its value, or PLIM_MAP_ABSENT when it was not there. */
uint64_t plim_map_take(plim_map *map, uint64_t key);

/*
 * Where the value of `key` is kept; a new key gets the value `initial`. NULL when there is no
 * memory. Valid until the map changes. One probe where get and put would make two, and inline:
 * the inner loop of whoever looks at ten million events.
 */
static inline uint64_t *plim_map_at(plim_map *map, uint64_t key, uint64_t initial)
{
    if ((map->slots == NULL || (map->count + 1) * 8 > (map->mask + 1) * 5) && !plim_map_grow(map)) {
        return NULL;
    }
    size_t i = (size_t)plim_hash_u64(key, map->hash_key) & map->mask;
    while (map->slots[i].value != PLIM_MAP_ABSENT && map->slots[i].key != key) {
        i = (i + 1) & map->mask;
    }
    plim_map_slot *slot = &map->slots[i];
    if (slot->value == PLIM_MAP_ABSENT) {
        *slot = (plim_map_slot){ key, initial };
        map->count++;
    }
    return &slot->value;
}

#endif
