/* copy.c - see copy.h. Zeros, not rubbish, so that two recordings of one program agree. */
#include "standin/core/copy.h"

#include "standin/core/memory.h"

#include <string.h>

static bool is_on_device(const void *address)
{
    return plim_standin_memory_is_device_address((uint64_t)(uintptr_t)address);
}

void plim_standin_copy(void *target, const void *source, size_t bytes)
{
    if (bytes == 0 || is_on_device(target)) {
        return;
    }
    if (is_on_device(source)) {
        memset(target, 0, bytes);
    } else {
        memmove(target, source, bytes);
    }
}

void plim_standin_copy_rows(void *target, size_t target_pitch, const void *source,
                            size_t source_pitch, size_t row_bytes, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        plim_standin_copy((char *)target + row * target_pitch,
                          (const char *)source + row * source_pitch, row_bytes);
    }
}

void plim_standin_fill(void *target, int byte, size_t bytes)
{
    if (bytes > 0 && !is_on_device(target)) {
        memset(target, byte, bytes);
    }
}
