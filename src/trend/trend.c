/*
 * trend.c - the class of a series of points.
 */
#include "plimsoll/trend.h"

const char *plim_trend_name(plim_trend_class class_)
{
    static const char *const names[] = {
#define PLIM_TREND_NAME(code, name) name,
        PLIM_TREND_LIST(PLIM_TREND_NAME)
#undef PLIM_TREND_NAME
    };
    return (size_t)class_ < sizeof names / sizeof names[0] ? names[class_] : "too_short";
}

plim_status plim_trend_of(const double *steps, const double *bytes, size_t count,
                          double capacity_bytes, const plim_mem *mem, plim_trend *ret,
                          plim_error *err)
{
    (void)steps, (void)bytes, (void)capacity_bytes, (void)mem, (void)err;
    *ret = (plim_trend){ .point_count = count };
    return PLIM_OK;
}
