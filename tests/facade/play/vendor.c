/*
 * vendor.c - the vendor's library, which must never be called. See calls.h, which is not included:
 * nobody comes back from here, so that only the names need to be right.
 */
#include <stdint.h>
#include <stdlib.h>

#define NEVER(name)  \
    void name(void); \
    void name(void)  \
    {                \
        abort();     \
    }

NEVER(cudaManyIntegers)
NEVER(cudaManyReals)
NEVER(cudaMixed)
NEVER(cudaPair)
NEVER(cudaLarge)
NEVER(cudaVariable)
NEVER(cudaLongDouble)
NEVER(cudaCallBack)
NEVER(cudaNobodyKnows)
NEVER(cudaWeak)
NEVER(cudaOnlyByName)

extern int64_t cudaVariableData[4];
int64_t cudaVariableData[4] = { -1, -1, -1, -1 };
