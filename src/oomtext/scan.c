/*
 * scan.c - folding text, and finding many phrases in it at once.
 */
#include "oomtext/scan.h"

#include "base/error.h"

plim_status plim_scan_create(const char *const *phrases, size_t count, const plim_mem *mem,
                             plim_scan **ret, plim_error *err)
{
    (void)phrases, (void)count, (void)mem, (void)ret;
    return plim_fail(err, PLIM_UNSUPPORTED, "not written yet");
}
