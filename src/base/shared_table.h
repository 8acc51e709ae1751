/*
 * shared_table.h - a table of things that is read without a lock: open addressing, linear probing.
 *
 * One thread at a time adds, any number look. A thing is complete before it is put in, is never
 * changed as far as its hash goes, and stays. Slots that became too few are kept until the end,
 * because a reader may be in them; all of them together are fewer than the last.
 */
#ifndef PLIMSOLL_BASE_SHARED_TABLE_H
#define PLIMSOLL_BASE_SHARED_TABLE_H

#include "base/memory.h"

#include <stdatomic.h>

typedef struct plim_shared_slots {
    struct plim_shared_slots *smaller; /* those they replaced */
    size_t mask;                       /* slots - 1 */
    _Atomic(void *) things[];
} plim_shared_slots;

/* All zero is an empty one. */
typedef struct plim_shared_table {
    _Atomic(plim_shared_slots *) slots; /* NULL before the first thing */
    size_t count;
} plim_shared_table;

/* True if `thing` is the one wanted. */
typedef bool plim_shared_equal(const void *thing, const void *wanted);
/* The hash of a thing, which find() is given for what is wanted; its low bits are used. */
typedef uint64_t plim_shared_hash(const void *thing);

/* NULL if nothing is found. Inline so that a constant `equal` is inlined too: requests pass here.
 */
static inline void *plim_shared_find(const plim_shared_table *table, uint64_t hash,
                                     plim_shared_equal *equal, const void *wanted)
{
    const plim_shared_slots *const in = atomic_load_explicit(&table->slots, memory_order_acquire);
    if (in == NULL) {
        return NULL;
    }
    for (size_t i = (size_t)hash & in->mask;; i = (i + 1) & in->mask) {
        void *const there = atomic_load_explicit(&in->things[i], memory_order_acquire);
        if (there == NULL || equal(there, wanted)) {
            return there;
        }
    }
}

/* Adds what find() did not find; false: no memory, and nothing changed. */
bool plim_shared_add(plim_shared_table *table, const plim_mem *mem, plim_shared_hash *hash_of,
                     void *thing);
/* Each thing in no order: the next one after *at, which begins with 0; NULL after the last. */
void *plim_shared_next(const plim_shared_table *table, size_t *at);
/* Of all slots. */
uint64_t plim_shared_bytes(const plim_shared_table *table);
void plim_shared_deinit(plim_shared_table *table, const plim_mem *mem);

#endif
