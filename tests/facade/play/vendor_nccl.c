/* vendor_nccl.c - a library of the vendor whose functions have no version. See calls.h. */
#include "calls.h"

#include <stdlib.h>

int ncclWithoutVersion(int a)
{
    (void)a;
    abort();
}
