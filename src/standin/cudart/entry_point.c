/*
 * entry_point.c - the way from the runtime to the driver library.
 *
 * PyTorch asks the runtime for driver functions by name and version, and never links the driver.
 */
#include "standin/cuda/cuda.h"
#include "standin/cudart/cudart.h"

int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                     unsigned long long flags, int *status)
{
    *function = plim_standin_driver_function(symbol);
    if (status != NULL) {
        *status = *function != NULL ? 0 : 1; /* cudaDriverEntryPointSuccess, …SymbolNotFound */
    }
    return CUDA_SUCCESS_CODE;
}

int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                            int *status)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, status);
}
