/*
 * composition.c - what memory was made of.
 */
#include "diagnose/case/case.h"

plim_status plim_compose(plim_case *one, plim_error *err)
{
    (void)one;
    (void)err;
    return PLIM_OK;
}
