/*
 * leaks.c - what stays, step after step.
 */
#include "diagnose/case/case.h"

plim_status plim_find_leaks(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
