/*
 * series.c - memory that a log prints again and again.
 */
#include "oomtext/series.h"

#include "base/error.h"

plim_status plim_series_reader_create(const plim_mem *mem, plim_series_reader **ret,
                                      plim_error *err)
{
    (void)mem, (void)ret;
    return plim_fail(err, PLIM_UNSUPPORTED, "not written yet");
}
