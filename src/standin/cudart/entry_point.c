/*
 * entry_point.c - the way from the runtime to the driver library.
 *
 * PyTorch asks the runtime for driver functions by name and version, and never
 * links the driver. The answer is whatever our libcuda.so.1 exports: hand-written
 * or a default. A name it does not have gets a default of its own, noted in the
 * trace, because PyTorch treats a missing one as a broken installation.
 */
#include "standin/core/trace.h"
#include "standin/cudart/cudart.h"

#include <dlfcn.h>

int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                     unsigned long long flags, int *status);
int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                            int *status);

static int succeed(void)
{
    return CUDA_SUCCESS_CODE;
}

int cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                     unsigned long long flags, int *status)
{
    (void)version;
    (void)flags;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL); /* kept open on purpose */
    void *found = driver != NULL ? dlsym(driver, symbol) : NULL;

    if (found == NULL) {
        plim_standin_trace("libcuda.so.1: %s: unknown, a function that returns 0", symbol);
        /* POSIX lets dlsym() results be functions; ISO C needs the detour to say so. */
        int (*const fallback)(void) = succeed;
        *(int (**)(void))function = fallback;
    } else {
        *function = found;
    }
    if (status != NULL) {
        *status = 0; /* cudaDriverEntryPointSuccess */
    }
    return CUDA_SUCCESS_CODE;
}

int cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                            int *status)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, status);
}
