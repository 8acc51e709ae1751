/*
 * intern.c - the index of interned strings: it grows at half full.
 */
#include "base/intern.h"

#include "base/hash.h"

#include <string.h>

#define INTERN_SLOTS_MIN ((size_t)256)

void plim_intern_init(plim_intern *intern, const plim_mem *mem)
{
    *intern = (plim_intern){ .mem = plim_mem_or_heap(mem), .key = plim_hash_key() };
}

void plim_intern_deinit(plim_intern *intern)
{
    if (intern->slots != NULL) {
        plim_mem_free(intern->mem, intern->slots, intern->mask + 1, sizeof *intern->slots);
    }
    PLIM_VEC_FREE(intern->mem, &intern->hashes);
    *intern = (plim_intern){ .mem = intern->mem, .key = intern->key };
}

static void place(plim_intern *intern, uint32_t id)
{
    size_t i = (size_t)intern->hashes.items[id] & intern->mask;
    while (intern->slots[i] != 0) {
        i = (i + 1) & intern->mask;
    }
    intern->slots[i] = id + 1;
}

static bool grow(plim_intern *intern)
{
    const size_t old_count = intern->slots == NULL ? 0 : intern->mask + 1;
    const size_t new_count = old_count == 0 ? INTERN_SLOTS_MIN : old_count * 2;
    uint32_t *slots = plim_mem_alloc_zeroed(intern->mem, new_count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    plim_mem_free(intern->mem, intern->slots, old_count, sizeof *slots);
    intern->slots = slots;
    intern->mask = new_count - 1;
    for (size_t id = 0; id < intern->hashes.count; id++) {
        place(intern, (uint32_t)id);
    }
    return true;
}

bool plim_intern_add(plim_intern *intern, uint64_t hash, uint32_t *ret_id)
{
    const size_t count = intern->hashes.count;
    if (count >= PLIM_INTERN_MAX) {
        return false;
    }
    if ((intern->slots == NULL || (count + 1) * 2 > intern->mask + 1) && !grow(intern)) {
        return false;
    }
    if (!PLIM_VEC_PUSH(intern->mem, &intern->hashes, hash)) {
        return false;
    }
    place(intern, (uint32_t)count);
    *ret_id = (uint32_t)count;
    return true;
}
