/*
 * memory.c - the C heap as a plim_mem, and checked sizes.
 */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *heap_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

const plim_mem plim_mem_heap = { .resize = heap_resize };

const plim_mem *plim_mem_or_heap(const plim_mem *mem)
{
    return mem != NULL ? mem : &plim_mem_heap;
}

bool plim_checked_mul(size_t a, size_t b, size_t *ret)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *ret = a * b;
    return true;
}

void *plim_mem_alloc(const plim_mem *mem, size_t count, size_t item_bytes)
{
    return plim_mem_resize(mem, NULL, 0, count, item_bytes);
}

void *plim_mem_alloc_zeroed(const plim_mem *mem, size_t count, size_t item_bytes)
{
    void *ptr = plim_mem_alloc(mem, count, item_bytes);
    if (ptr != NULL) {
        memset(ptr, 0, count * item_bytes);
    }
    return ptr;
}

void *plim_mem_resize(const plim_mem *mem, void *ptr, size_t old_count, size_t new_count,
                      size_t item_bytes)
{
    size_t new_bytes = 0;
    if (!plim_checked_mul(new_count, item_bytes, &new_bytes) || new_bytes == 0) {
        return NULL;
    }
    return mem->resize(mem->ctx, ptr, old_count * item_bytes, new_bytes);
}

void plim_mem_free(const plim_mem *mem, void *ptr, size_t count, size_t item_bytes)
{
    if (ptr != NULL) {
        mem->resize(mem->ctx, ptr, count * item_bytes, 0);
    }
}
