/*
 * intern.h - giving equal things one number.
 *
 * An index from hashes to ids 0, 1, 2, …; the things themselves stay in a table of the caller,
 * who says when two are equal. Ids are handed out in order of first appearance, so they are the
 * same in every run although the hash key is not.
 */
#ifndef PLIMSOLL_BASE_INTERN_H
#define PLIMSOLL_BASE_INTERN_H

#include "base/vec.h"

#define PLIM_INTERN_ABSENT UINT32_MAX
#define PLIM_INTERN_MAX    (UINT32_MAX - 1) /* ids a table can hold */

typedef struct plim_intern {
    const plim_mem *mem;
    uint32_t *slots;           /* id + 1, or 0 for an empty slot */
    size_t mask;               /* slots - 1; 0 slots before the first add */
    PLIM_VEC(uint64_t) hashes; /* of each id: grows the index without asking the caller */
    uint64_t key;              /* for the caller's hashing */
} plim_intern;

void plim_intern_init(plim_intern *intern, const plim_mem *mem);
void plim_intern_deinit(plim_intern *intern);
/* Gives the next id to a thing of this hash that find() did not know; false: no memory or ids. */
bool plim_intern_add(plim_intern *intern, uint64_t hash, uint32_t *ret_id);

/* True if the thing with this id equals `wanted`. */
typedef bool plim_intern_equal(const void *table, uint32_t id, const void *wanted);

/* Inline so that a constant `equal` is inlined too: this is the inner loop of importing. */
static inline uint32_t plim_intern_find(const plim_intern *intern, uint64_t hash,
                                        plim_intern_equal *equal, const void *table,
                                        const void *wanted)
{
    if (intern->slots == NULL) {
        return PLIM_INTERN_ABSENT;
    }
    for (size_t i = (size_t)hash & intern->mask; intern->slots[i] != 0;
         i = (i + 1) & intern->mask) {
        const uint32_t id = intern->slots[i] - 1;
        if (intern->hashes.items[id] == hash && equal(table, id, wanted)) {
            return id;
        }
    }
    return PLIM_INTERN_ABSENT;
}

#endif
