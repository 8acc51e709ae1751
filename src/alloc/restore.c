/*
 * restore.c - see restore.h.
 */
#include "alloc/restore.h"

#include "base/error.h"

plim_status plim_allocator_restore(plim_allocator *allocator, int32_t device,
                                   const plim_heap_state *state, plim_addr *ret_addrs,
                                   plim_error *err)
{
    (void)allocator;
    (void)device;
    (void)ret_addrs;
    return state->segment_count == 0 ? PLIM_OK
                                     : plim_fail(err, PLIM_UNSUPPORTED, "not written yet");
}
