/*
 * vec.h - growing arrays of plain values.
 *
 * A vector is any struct with `items`, `count` and `capacity`; PLIM_VEC(T) writes one. Growth is
 * by half, which wastes less than doubling and, for large arrays, lets realloc() move pages
 * instead of bytes.
 */
#ifndef PLIMSOLL_BASE_VEC_H
#define PLIMSOLL_BASE_VEC_H

#include "base/memory.h"

#define PLIM_VEC(type)   \
    struct {             \
        type *items;     \
        size_t count;    \
        size_t capacity; \
    }

/*
 * Room for one more item after the last. `items` is the address of the items pointer, which is
 * replaced; false when there is no memory, and then nothing changed.
 */
bool plim_vec_room(const plim_mem *mem, void *items, size_t *capacity, size_t count,
                   size_t item_bytes);

/* Append `value`; false when there is no memory. Evaluates `vec` more than once. */
#define PLIM_VEC_PUSH(mem, vec, value)                                                           \
    (((vec)->count < (vec)->capacity ||                                                          \
      plim_vec_room((mem), &(vec)->items, &(vec)->capacity, (vec)->count, sizeof *(vec)->items)) \
         ? ((vec)->items[(vec)->count++] = (value), true)                                        \
         : false)

#define PLIM_VEC_FREE(mem, vec)                                                 \
    (plim_mem_free((mem), (vec)->items, (vec)->capacity, sizeof *(vec)->items), \
     (vec)->items = NULL, (vec)->count = 0, (vec)->capacity = 0)

#endif
