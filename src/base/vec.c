/*
 * vec.c - the growth of vectors.
 */
#include "base/vec.h"

#include <string.h>

#define VEC_CAPACITY_MIN ((size_t)16)

bool plim_vec_room(const plim_mem *mem, void *items, size_t *capacity, size_t count,
                   size_t item_bytes)
{
    if (count < *capacity) {
        return true;
    }
    const size_t wanted = *capacity + *capacity / 2;
    const size_t usual = wanted < VEC_CAPACITY_MIN ? VEC_CAPACITY_MIN : wanted;
    const size_t new_capacity = usual > count ? usual : count + 1; /* many items came at once */
    void *old = NULL;
    memcpy(&old, items, sizeof old); /* the pointer's type is the caller's */
    void *grown = plim_mem_resize(mem, old, *capacity, new_capacity, item_bytes);
    if (grown == NULL) {
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *capacity = new_capacity;
    return true;
}
