/*
 * cudart.c - a libcudart.so.13 that is never called: cuda_program is linked against it, and a
 * rehearsal puts its facade before it. Whoever reaches it has not been led to the stand-ins.
 */
#include <stdio.h>
#include <stdlib.h>

#define REAL(name)                                                    \
    int name(void);                                                   \
    int name(void)                                                    \
    {                                                                 \
        (void)fputs("this is the real library: " #name "\n", stderr); \
        abort();                                                      \
    }

REAL(cudaMalloc)
REAL(cudaFree)
REAL(cudaMemGetInfo)
REAL(cudaMemcpy)
REAL(cudaNobodyKnowsThis)
