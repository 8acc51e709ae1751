/*
 * list_cache.c - finding lists by their bytes, and learning them.
 */
#include "pickle/list_cache.h"

#include "base/hash.h"
#include "pickle/opcodes.h"

#include <string.h>

#define LIST_LENGTH_MAX 2048 /* bytes: some 500 frames */
#define LISTS_MAX       65536
#define TRIES_MAX       4 /* an operand has the byte of APPENDS now and then */

void plim_list_cache_init(plim_list_cache *cache, const plim_mem *mem)
{
    *cache = (plim_list_cache){ 0 };
    plim_arena_init(&cache->arena, mem);
    plim_intern_init(&cache->index, mem);
}

void plim_list_cache_deinit(plim_list_cache *cache)
{
    PLIM_VEC_FREE(cache->arena.mem, &cache->lists);
    plim_intern_deinit(&cache->index);
    plim_arena_deinit(&cache->arena);
}

static bool list_equal(const void *table, uint32_t id, const void *wanted)
{
    const plim_known_list *list = &((const plim_list_cache *)table)->lists.items[id];
    const plim_known_list *other = wanted;
    return list->length == other->length && memcmp(list->bytes, other->bytes, list->length) == 0;
}

static uint32_t find_exact(const plim_list_cache *cache, const uint8_t *bytes, size_t length,
                           uint64_t *ret_hash)
{
    const plim_known_list wanted = { .bytes = bytes, .length = length };
    *ret_hash = plim_hash_bytes(bytes, length, cache->index.key);
    return plim_intern_find(&cache->index, *ret_hash, list_equal, cache, &wanted);
}

static plim_array *found(plim_list_cache *cache, uint32_t id, size_t *ret_length)
{
    uint32_t *next = cache->lists.items[cache->last].next;
    if (next[0] != id) {
        next[1] = next[0];
        next[0] = id;
    }
    cache->last = id;
    *ret_length = cache->lists.items[id].length;
    return cache->lists.items[id].items;
}

static bool is_at(const plim_known_list *list, const uint8_t *at, size_t available)
{
    return list->length <= available && memcmp(list->bytes, at, list->length) == 0;
}

plim_array *plim_list_cache_find(plim_list_cache *cache, const uint8_t *at, size_t available,
                                 size_t *ret_length)
{
    if (cache->is_off || cache->lists.count == 0) {
        return NULL;
    }
    const uint32_t *next = cache->lists.items[cache->last].next;
    for (int i = 0; i < 2; i++) {
        if (is_at(&cache->lists.items[next[i]], at, available)) {
            return found(cache, next[i], ret_length);
        }
    }
    const size_t reach = available < LIST_LENGTH_MAX ? available : LIST_LENGTH_MAX;
    size_t searched = 0;
    for (int i = 0; i < TRIES_MAX; i++) {
        const uint8_t *end = memchr(at + searched, PLIM_PICKLE_OP_APPENDS, reach - searched);
        if (end == NULL) {
            return NULL;
        }
        searched = (size_t)(end - at) + 1;
        uint64_t hash = 0;
        const uint32_t id = find_exact(cache, at, searched, &hash);
        if (id != PLIM_INTERN_ABSENT) {
            return found(cache, id, ret_length);
        }
    }
    return NULL;
}

static bool is_memo_reads(const uint8_t *bytes, size_t length)
{
    size_t i = 0;
    while (i < length - 1) {
        if (bytes[i] != PLIM_PICKLE_OP_BINGET && bytes[i] != PLIM_PICKLE_OP_LONG_BINGET) {
            return false;
        }
        i += bytes[i] == PLIM_PICKLE_OP_BINGET ? 2 : 5;
    }
    return i == length - 1;
}

bool plim_list_cache_learn(plim_list_cache *cache, const uint8_t *bytes, size_t length,
                           plim_array *items)
{
    uint64_t hash = 0;
    if (cache->is_off || length == 0 || length > LIST_LENGTH_MAX ||
        cache->lists.count >= LISTS_MAX || !is_memo_reads(bytes, length) ||
        find_exact(cache, bytes, length, &hash) != PLIM_INTERN_ABSENT) {
        return true;
    }
    const uint8_t *copy = (const uint8_t *)plim_arena_copy(&cache->arena, bytes, length);
    const plim_known_list list = { .bytes = copy, .length = length, .items = items };
    uint32_t id = 0;
    return copy != NULL && PLIM_VEC_PUSH(cache->arena.mem, &cache->lists, list) &&
           plim_intern_add(&cache->index, hash, &id);
}
