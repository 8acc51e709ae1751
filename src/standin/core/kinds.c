/*
 * kinds.c - what every function of the stand-ins is, and what becomes of those that are not there.
 */
#include "standin/core/stub.h"

#include <stdio.h>

long plim_standin_refuse(const plim_standin_kind *kind, long status)
{
    (void)fprintf(stderr, "plimsoll: %s is not stood in for: %s\n", kind->name, kind->note);
    return status;
}
