/*
 * fragmentation.c - where reserved memory is lost, and what pins it.
 */
#include "diagnose/case/case.h"

plim_status plim_find_fragmentation(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
