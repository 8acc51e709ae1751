/*
 * plimsoll/mem.h - where the library takes host memory from.
 *
 * Everything the library keeps comes through one function, passed at creation, so that a program
 * can account for it, bound it, or make it fail. The function knows the old size, as realloc()
 * does not. NULL in place of a plim_mem means the C library's heap.
 */
#ifndef PLIMSOLL_MEM_H
#define PLIMSOLL_MEM_H

#include "plimsoll/api.h"

#include <stddef.h>

PLIM_BEGIN_DECLS

typedef struct plim_mem {
    /*
     * (NULL, 0, n) allocates; (p, old, n) resizes, keeping the bytes both sizes have;
     * (p, old, 0) frees and returns NULL. NULL otherwise means no memory, and p stays valid.
     * Results are aligned for any type.
     */
    void *(*resize)(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
    void *ctx;
} plim_mem;

PLIM_END_DECLS

#endif
