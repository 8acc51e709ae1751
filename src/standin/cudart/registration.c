/*
 * registration.c - the calls compiled code makes at start-up, before main().
 *
 * Every object with kernels registers its fat binary, its kernels and its device
 * variables. We keep none of it: a kernel is known by the address of its host
 * side, and device variables need only an address. The calls are not in the
 * manual; their shapes are what nvcc's own generated host code declares
 * (visible with nvcc --keep).
 */
#include "standin/core/handle.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

void **__cudaRegisterFatBinary(void *binary);
char __cudaInitModule(void **module);
int __cudaGetKernel(void **kernel, const void *function);
int cudaGetSymbolAddress(void **address, const void *symbol);

void **__cudaRegisterFatBinary(void *binary)
{
    (void)binary;
    return plim_standin_handle_create();
}

char __cudaInitModule(void **module)
{
    (void)module;
    return 1; /* nothing is loaded lazily, so it is always ready */
}

int __cudaGetKernel(void **kernel, const void *function)
{
    *kernel = (void *)(uintptr_t)function;
    return CUDA_SUCCESS_CODE;
}

int cudaGetSymbolAddress(void **address, const void *symbol)
{
    (void)symbol;
    *address = plim_standin_handle_create();
    return CUDA_SUCCESS_CODE;
}

/* Nothing is kept, so there is nothing to add or to take back. */
PLIM_STANDIN_NOTHING(__cudaRegisterFatBinaryEnd)
PLIM_STANDIN_NOTHING(__cudaRegisterFunction)
PLIM_STANDIN_NOTHING(__cudaRegisterVar)
PLIM_STANDIN_NOTHING(__cudaUnregisterFatBinary)
PLIM_STANDIN_COMPUTES(cudaMemcpyToSymbol) /* device variables lie nowhere */
