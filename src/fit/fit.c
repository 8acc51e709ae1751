/*
 * fit.c - see plimsoll/fit.h.
 */
#include "plimsoll/fit.h"

#include "base/error.h"

plim_status plim_fit(const char *const *argv, const plim_fit_options *options, plim_fitted *ret,
                     plim_error *err)
{
    (void)options;
    *ret = (plim_fitted){ 0 };
    return plim_fail(err, PLIM_UNSUPPORTED, "%s: the search is being written", argv[0]);
}

void plim_fitted_deinit(plim_fitted *fitted)
{
    *fitted = (plim_fitted){ 0 };
}
