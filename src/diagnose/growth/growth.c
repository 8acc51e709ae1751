/*
 * growth.c - what arrives in the first steps.
 */
#include "diagnose/case/case.h"

plim_status plim_find_growth(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
