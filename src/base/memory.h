/*
 * memory.h - taking host memory through a plim_mem, with sizes that cannot wrap.
 */
#ifndef PLIMSOLL_BASE_MEMORY_H
#define PLIMSOLL_BASE_MEMORY_H

#include "plimsoll/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* The C library's heap as a plim_mem. */
extern const plim_mem plim_mem_heap;

/* `mem`, or the heap when it is NULL. */
const plim_mem *plim_mem_or_heap(const plim_mem *mem);

/* NULL when there is no memory or count * item_bytes does not fit a size_t. Not zeroed. */
void *plim_mem_alloc(const plim_mem *mem, size_t count, size_t item_bytes);
void *plim_mem_alloc_zeroed(const plim_mem *mem, size_t count, size_t item_bytes);
void *plim_mem_resize(const plim_mem *mem, void *ptr, size_t old_count, size_t new_count,
                      size_t item_bytes);
/* NULL is allowed. */
void plim_mem_free(const plim_mem *mem, void *ptr, size_t count, size_t item_bytes);

/* a * b into *ret; false when it does not fit. */
bool plim_checked_mul(size_t a, size_t b, size_t *ret);

#endif
