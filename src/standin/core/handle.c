/* handle.c - see handle.h. Spaced and placed like the small heap objects real handles are. */
#include "standin/core/handle.h"

#include <stdatomic.h>
#include <stdint.h>

#define HANDLES_BASE  UINT64_C(0x500000000000) /* below any Linux heap: no real object is there */
#define HANDLE_STRIDE 64u

void *plim_standin_handle_create(void)
{
    static atomic_uint_fast64_t count;
    return (void *)(uintptr_t)(HANDLES_BASE + HANDLE_STRIDE * (atomic_fetch_add(&count, 1) + 1));
}
