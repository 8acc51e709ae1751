/*
 * entry_point.c - driver functions by name; and words for the driver's errors.
 */
#include "standin/core/attach.h"
#include "standin/core/stage.h"
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"

#include <stdio.h>

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status);
int cuGetErrorString(int error, const char **text);
int cuGetErrorName(int error, const char **text);

/*
 * A base name means the newest form of a function, which the header calls name_v2 and so on where
 * there are several. Which form came with which version does not matter: programs of the versions
 * that are stood in for want the newest that is written here.
 */
void *plim_standin_driver_function(const char *symbol)
{
    static const char *const forms[] = { "%s_v4", "%s_v3", "%s_v2", "%s" };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char name[128];
        (void)snprintf(name, sizeof(name), forms[i], symbol);
        void *found = plim_standin_find_counted(name);
        if (found != NULL) {
            return found;
        }
    }
    plim_standin_trace("%s is not stood in for: the program is told that there is none", symbol);
    plim_stage_count_call(plim_standin_stage(), symbol, PLIM_CALL_DECLINED, "asked for by name", 1);
    return NULL;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                        int *status)
{
    (void)version;
    (void)flags;
    *function = plim_standin_driver_function(symbol);
    if (status != NULL) {
        *status = *function != NULL ? 0 : 1; /* found, or CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    }
    return DRIVER_SUCCESS; /* since CUDA 12; the first form says it by its code */
}

int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    (void)cuGetProcAddress_v2(symbol, function, version, flags, NULL);
    return *function != NULL ? DRIVER_SUCCESS : DRIVER_NOT_FOUND;
}

/* "CUDA_ERROR_OUT_OF_MEMORY" and so on, CUDA Driver API manual, "CUresult". */
static const struct {
    int code;
    const char *name;
    const char *text;
} errors[] = {
    { DRIVER_SUCCESS, "CUDA_SUCCESS", "no error" },
    { DRIVER_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { DRIVER_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { DRIVER_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { DRIVER_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { DRIVER_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { DRIVER_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
};

#define ERROR_COUNT (sizeof(errors) / sizeof(errors[0]))

int cuGetErrorString(int error, const char **text)
{
    *text = "unknown error";
    for (size_t i = 0; i < ERROR_COUNT; i++) {
        if (errors[i].code == error) {
            *text = errors[i].text;
        }
    }
    return DRIVER_SUCCESS;
}

int cuGetErrorName(int error, const char **text)
{
    *text = "CUDA_ERROR_UNKNOWN";
    for (size_t i = 0; i < ERROR_COUNT; i++) {
        if (errors[i].code == error) {
            *text = errors[i].name;
        }
    }
    return DRIVER_SUCCESS;
}
