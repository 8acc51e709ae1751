/*
 * error.c - the last error, and words for the ones that can occur here.
 *
 * Names and codes from "cudaError" in the CUDA Runtime API manual; PyTorch puts
 * them into its messages, so the ones we return are spelt as there.
 */
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/cudart/cudart.h"
#include "standin/work/work.h"

static const struct {
    int code;
    const char *name;
    const char *text;
} errors[] = {
    { CUDA_SUCCESS_CODE, "cudaSuccess", "no error" },
    { CUDA_INVALID_VALUE_CODE, "cudaErrorInvalidValue", "invalid argument" },
    { CUDA_OUT_OF_MEMORY_CODE, "cudaErrorMemoryAllocation", "out of memory" },
    { CUDA_INITIALIZATION_CODE, "cudaErrorInitializationError", "initialization error" },
    { CUDA_INVALID_SYMBOL_CODE, "cudaErrorInvalidSymbol", "invalid device symbol" },
    { CUDA_NO_DEVICE_CODE, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { CUDA_INVALID_DEVICE_CODE, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { CUDA_NO_KERNEL_IMAGE_CODE, "cudaErrorNoKernelImageForDevice",
      "no kernel image is available for execution on the device" },
    { CUDA_PEER_UNSUPPORTED_CODE, "cudaErrorPeerAccessUnsupported",
      "peer access is not supported between these two devices" },
    { CUDA_PEER_ALREADY_CODE, "cudaErrorPeerAccessAlreadyEnabled",
      "peer access is already enabled" },
    { CUDA_PEER_NOT_ENABLED_CODE, "cudaErrorPeerAccessNotEnabled",
      "peer access has not been enabled" },
    { CUDA_HOST_REGISTERED_CODE, "cudaErrorHostMemoryAlreadyRegistered",
      "part or all of the requested memory range is already mapped" },
    { CUDA_HOST_UNREGISTERED_CODE, "cudaErrorHostMemoryNotRegistered",
      "pointer does not correspond to a registered memory region" },
    { CUDA_NOT_SUPPORTED_CODE, "cudaErrorNotSupported", "operation not supported" },
    { PLIM_WORK_FILE_ERROR, "cudaErrorOperatingSystem",
      "OS call failed or operation not supported on this OS" },
    { PLIM_WORK_INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { PLIM_WORK_ILLEGAL_STATE, "cudaErrorIllegalState",
      "the operation cannot be performed in the present state" },
    { PLIM_WORK_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported",
      "operation not permitted when stream is capturing" },
    { PLIM_WORK_CAPTURE_INVALIDATED, "cudaErrorStreamCaptureInvalidated",
      "operation failed due to a previous error during capture" },
    { PLIM_WORK_CAPTURE_MERGE, "cudaErrorStreamCaptureMerge",
      "operation would result in a merge of separate capture sequences" },
    { PLIM_WORK_CAPTURE_UNMATCHED, "cudaErrorStreamCaptureUnmatched",
      "capture was not ended in the same stream as it began" },
    { PLIM_WORK_CAPTURE_UNJOINED, "cudaErrorStreamCaptureUnjoined",
      "capturing stream has unjoined work" },
    { PLIM_WORK_CAPTURE_ISOLATION, "cudaErrorStreamCaptureIsolation",
      "dependency created on uncaptured work in another stream" },
    { PLIM_WORK_CAPTURE_IMPLICIT, "cudaErrorStreamCaptureImplicit",
      "operation would make the legacy stream depend on a capturing blocking stream" },
    { PLIM_WORK_CAPTURED_EVENT, "cudaErrorCapturedEvent",
      "operation not permitted on an event last recorded in a capturing stream" },
    { PLIM_WORK_CAPTURE_WRONG_THREAD, "cudaErrorStreamCaptureWrongThread",
      "attempt to terminate a thread-local capture sequence from another thread" },
    { PLIM_WORK_UPDATE_FAILURE, "cudaErrorGraphExecUpdateFailure",
      "the graph update was not performed because it included changes which violated constraints "
      "specific to instantiated graph update" },
};

#define ERROR_COUNT (sizeof(errors) / sizeof(errors[0]))

int cudaGetLastError(void)
{
    return plim_standin_current_error_take();
}

int cudaPeekAtLastError(void)
{
    return plim_standin_current_error_peek();
}

const char *cudaGetErrorName(int error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++) {
        if (errors[i].code == error) {
            return errors[i].name;
        }
    }
    return "cudaErrorUnknown";
}

const char *cudaGetErrorString(int error)
{
    for (size_t i = 0; i < ERROR_COUNT; i++) {
        if (errors[i].code == error) {
            return errors[i].text;
        }
    }
    return "unknown error";
}

int plim_standin_require_context(void)
{
    if (plim_standin_footprint_is_orphan()) {
        return plim_standin_current_error_note(CUDA_INITIALIZATION_CODE);
    }
    const bool is_there = plim_standin_footprint_context(plim_standin_current_device());
    return is_there ? CUDA_SUCCESS_CODE : plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
}

int plim_standin_require_act(void)
{
    const int error = plim_standin_current_error_note(plim_standin_may_act());
    return error != CUDA_SUCCESS_CODE ? error : plim_standin_require_context();
}

int plim_standin_memory_error(plim_standin_memory_status status)
{
    switch (status) {
    case PLIM_STANDIN_MEMORY_OK:
        return CUDA_SUCCESS_CODE;
    case PLIM_STANDIN_MEMORY_OUT:
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    case PLIM_STANDIN_MEMORY_INVALID:
        break;
    }
    return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
}
