/*
 * shared_table.c - adding to a table that others read: growth at half full.
 */
#include "base/shared_table.h"

#define TABLE_SLOTS_MIN ((size_t)16)

static size_t bytes_of(size_t slots)
{
    return sizeof(plim_shared_slots) + slots * sizeof(_Atomic(void *));
}

static void put(plim_shared_slots *in, uint64_t hash, void *thing)
{
    size_t i = (size_t)hash & in->mask;
    while (atomic_load_explicit(&in->things[i], memory_order_relaxed) != NULL) {
        i = (i + 1) & in->mask;
    }
    atomic_store_explicit(&in->things[i], thing, memory_order_release);
}

/* Slots with room for one more thing; NULL without memory. */
static plim_shared_slots *with_room(plim_shared_table *table, const plim_mem *mem,
                                    plim_shared_hash *hash_of)
{
    plim_shared_slots *const old = atomic_load_explicit(&table->slots, memory_order_relaxed);
    if (old != NULL && table->count < (old->mask + 1) / 2) {
        return old;
    }
    const size_t count = old != NULL ? (old->mask + 1) * 2 : TABLE_SLOTS_MIN;
    plim_shared_slots *const slots = plim_mem_alloc(mem, 1, bytes_of(count));
    if (slots == NULL) {
        return NULL;
    }
    slots->smaller = old;
    slots->mask = count - 1;
    for (size_t i = 0; i < count; i++) {
        atomic_init(&slots->things[i], NULL);
    }
    for (size_t i = 0; old != NULL && i <= old->mask; i++) {
        void *const thing = atomic_load_explicit(&old->things[i], memory_order_relaxed);
        if (thing != NULL) {
            put(slots, hash_of(thing), thing);
        }
    }
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return slots;
}

bool plim_shared_add(plim_shared_table *table, const plim_mem *mem, plim_shared_hash *hash_of,
                     void *thing)
{
    plim_shared_slots *const slots = with_room(table, mem, hash_of);
    if (slots == NULL) {
        return false;
    }
    put(slots, hash_of(thing), thing);
    table->count++;
    return true;
}

void *plim_shared_next(const plim_shared_table *table, size_t *at)
{
    const plim_shared_slots *const in = atomic_load(&table->slots);
    while (in != NULL && *at <= in->mask) {
        void *const thing = atomic_load(&in->things[(*at)++]);
        if (thing != NULL) {
            return thing;
        }
    }
    return NULL;
}

uint64_t plim_shared_bytes(const plim_shared_table *table)
{
    uint64_t bytes = 0;
    for (const plim_shared_slots *at = atomic_load(&table->slots); at != NULL; at = at->smaller) {
        bytes += bytes_of(at->mask + 1);
    }
    return bytes;
}

void plim_shared_deinit(plim_shared_table *table, const plim_mem *mem)
{
    for (plim_shared_slots *at = atomic_load(&table->slots); at != NULL;) {
        plim_shared_slots *const smaller = at->smaller;
        plim_mem_free(mem, at, 1, bytes_of(at->mask + 1));
        at = smaller;
    }
    atomic_store(&table->slots, NULL);
    table->count = 0;
}
