/*
 * entry_point.c - driver functions by name; and words for the driver's errors.
 */
#include "standin/core/attach.h"
#include "standin/core/stage.h"
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"
#include "standin/work/work.h"

#include <stdio.h>

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
    { 200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
    { 201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { 301, "CUDA_ERROR_FILE_NOT_FOUND", "file not found" },
    { PLIM_WORK_FILE_ERROR, "CUDA_ERROR_OPERATING_SYSTEM",
      "OS call failed or operation not supported on this OS" },
    { PLIM_WORK_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
    { PLIM_WORK_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE",
      "the operation cannot be performed in the present state" },
    { PLIM_WORK_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
      "operation not permitted when stream is capturing" },
    { PLIM_WORK_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
      "operation failed due to a previous error during capture" },
    { PLIM_WORK_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
      "operation would result in a merge of separate capture sequences" },
    { PLIM_WORK_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
      "capture was not ended in the same stream as it began" },
    { PLIM_WORK_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
      "capturing stream has unjoined work" },
    { PLIM_WORK_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
      "dependency created on uncaptured work in another stream" },
    { PLIM_WORK_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
      "operation would make the legacy stream depend on a capturing blocking stream" },
    { PLIM_WORK_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
      "operation not permitted on an event last recorded in a capturing stream" },
    { PLIM_WORK_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
      "attempt to terminate a thread-local capture sequence from another thread" },
    { PLIM_WORK_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
      "the graph update was not performed because it included changes which violated constraints "
      "specific to instantiated graph update" },
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
