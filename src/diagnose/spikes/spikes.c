/*
 * spikes.c - bursts far above the rest.
 */
#include "diagnose/case/case.h"

plim_status plim_find_spikes(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
