/*
 * entry_point.c - driver functions by name: this library's own exports.
 *
 * Also the driver's words for its errors, which callers ask for when something
 * failed.
 */
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"

#include <dlfcn.h>

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status);
int cuGetErrorString(int error, const char **text);
int cuGetErrorName(int error, const char **text);

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status)
{
    (void)version;
    (void)flags;
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    *function = self != NULL ? dlsym(self, symbol) : NULL;
    if (status != NULL) {
        *status = *function != NULL ? 0 : 1; /* found, or CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    }
    if (*function == NULL) {
        plim_standin_trace("libcuda.so.1: %s: not found", symbol);
        return DRIVER_NOT_FOUND;
    }
    return DRIVER_SUCCESS;
}

int cuGetErrorString(int error, const char **text)
{
    switch (error) {
    case DRIVER_SUCCESS:
        *text = "no error";
        break;
    case DRIVER_INVALID_VALUE:
        *text = "invalid argument";
        break;
    case DRIVER_OUT_OF_MEMORY:
        *text = "out of memory";
        break;
    case DRIVER_INVALID_DEVICE:
        *text = "invalid device ordinal";
        break;
    case DRIVER_NOT_SUPPORTED:
        *text = "operation not supported";
        break;
    default:
        *text = "unknown error";
        break;
    }
    return DRIVER_SUCCESS;
}

int cuGetErrorName(int error, const char **text)
{
    return cuGetErrorString(error, text);
}
