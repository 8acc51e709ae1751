/* vendor_nccl.c - a library of the vendor whose functions have no version. See vendor.c. */
#include <stdlib.h>

void ncclWithoutVersion(void);
void ncclWithoutVersion(void)
{
    abort();
}
