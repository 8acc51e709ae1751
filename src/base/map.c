/*
 * map.c - the integer map: probing, growth at 5/8 full, removal by shifting back.
 */
#include "base/map.h"

#include "base/assert.h"
#include "base/hash.h"

#define MAP_SLOTS_MIN ((size_t)64)

void plim_map_init(plim_map *map, const plim_mem *mem)
{
    *map = (plim_map){ .mem = plim_mem_or_heap(mem), .hash_key = plim_hash_key() };
}

void plim_map_deinit(plim_map *map)
{
    if (map->slots != NULL) {
        plim_mem_free(map->mem, map->slots, map->mask + 1, sizeof *map->slots);
    }
    *map = (plim_map){ .mem = map->mem, .hash_key = map->hash_key };
}

static size_t home(const plim_map *map, uint64_t key)
{
    return (size_t)plim_hash_u64(key, map->hash_key) & map->mask;
}

/* The slot that holds `key`, or the empty one where it would go. */
static size_t find(const plim_map *map, uint64_t key)
{
    size_t i = home(map, key);
    while (map->slots[i].value != PLIM_MAP_ABSENT && map->slots[i].key != key) {
        i = (i + 1) & map->mask;
    }
    return i;
}

uint64_t plim_map_get(const plim_map *map, uint64_t key)
{
    if (map->count == 0) {
        return PLIM_MAP_ABSENT;
    }
    return map->slots[find(map, key)].value;
}

static bool grow(plim_map *map)
{
    const size_t old_count = map->slots == NULL ? 0 : map->mask + 1;
    const size_t new_count = old_count == 0 ? MAP_SLOTS_MIN : old_count * 2;
    plim_map_slot *slots = plim_mem_alloc(map->mem, new_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < new_count; i++) {
        slots[i].value = PLIM_MAP_ABSENT;
    }
    plim_map_slot *old = map->slots;
    map->slots = slots;
    map->mask = new_count - 1;
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].value != PLIM_MAP_ABSENT) {
            map->slots[find(map, old[i].key)] = old[i];
        }
    }
    plim_mem_free(map->mem, old, old_count, sizeof *old);
    return true;
}

bool plim_map_put(plim_map *map, uint64_t key, uint64_t value)
{
    PLIM_ASSERT_DEBUG(value != PLIM_MAP_ABSENT);

    if ((map->slots == NULL || (map->count + 1) * 8 > (map->mask + 1) * 5) && !grow(map)) {
        return false;
    }
    const size_t i = find(map, key);
    if (map->slots[i].value == PLIM_MAP_ABSENT) {
        map->slots[i].key = key;
        map->count++;
    }
    map->slots[i].value = value;
    return true;
}

uint64_t plim_map_take(plim_map *map, uint64_t key)
{
    if (map->count == 0) {
        return PLIM_MAP_ABSENT;
    }
    size_t hole = find(map, key);
    const uint64_t value = map->slots[hole].value;
    if (value == PLIM_MAP_ABSENT) {
        return PLIM_MAP_ABSENT;
    }
    map->count--;
    map->slots[hole].value = PLIM_MAP_ABSENT;
    /* Move back each entry that probed past the hole, or it would not be found again. */
    for (size_t i = (hole + 1) & map->mask; map->slots[i].value != PLIM_MAP_ABSENT;
         i = (i + 1) & map->mask) {
        const size_t wanted = home(map, map->slots[i].key);
        if (((i - wanted) & map->mask) >= ((i - hole) & map->mask)) {
            map->slots[hole] = map->slots[i];
            map->slots[i].value = PLIM_MAP_ABSENT;
            hole = i;
        }
    }
    return value;
}
