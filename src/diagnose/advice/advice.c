/*
 * advice.c - what helps, and what it saves.
 */
#include "diagnose/case/case.h"

plim_status plim_find_advice(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
