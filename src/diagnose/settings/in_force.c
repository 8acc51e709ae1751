/*
 * in_force.c - settings that are not in force, or work against each other.
 */
#include "diagnose/case/case.h"

plim_status plim_find_settings(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
