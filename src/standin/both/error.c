/*
 * error.c - words for the errors that can occur here, by the driver's name and by the runtime's.
 *
 * From "CUresult" in the CUDA Driver API manual and "cudaError" in the Runtime API manual. PyTorch
 * puts them into its messages, so they are spelt as there.
 */
#include "standin/work/work.h"

#define UNKNOWN_NAME "CUDA_ERROR_UNKNOWN"

static const struct {
    int code;
    const char *driver_name;
    const char *runtime_name;
    const char *text;
} errors[] = {
    { 0, "CUDA_SUCCESS", "cudaSuccess", "no error" },
    { 1, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument" },
    { 2, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory" },
    { 3, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError", "initialization error" },
    { 13, UNKNOWN_NAME, "cudaErrorInvalidSymbol", "invalid device symbol" },
    { 100, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { 101, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice", "invalid device ordinal" },
    { 200, "CUDA_ERROR_INVALID_IMAGE", "cudaErrorInvalidKernelImage",
      "device kernel image is invalid" },
    { 201, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized", "invalid device context" },
    { 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "cudaErrorNoKernelImageForDevice",
      "no kernel image is available for execution on the device" },
    { 217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "cudaErrorPeerAccessUnsupported",
      "peer access is not supported between these two devices" },
    { 301, "CUDA_ERROR_FILE_NOT_FOUND", "cudaErrorFileNotFound", "file not found" },
    { 304, "CUDA_ERROR_OPERATING_SYSTEM", "cudaErrorOperatingSystem",
      "OS call failed or operation not supported on this OS" },
    { 400, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
      "invalid resource handle" },
    { 401, "CUDA_ERROR_ILLEGAL_STATE", "cudaErrorIllegalState",
      "the operation cannot be performed in the present state" },
    { 500, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found" },
    { 704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "cudaErrorPeerAccessAlreadyEnabled",
      "peer access is already enabled" },
    { 705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "cudaErrorPeerAccessNotEnabled",
      "peer access has not been enabled" },
    { 712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "cudaErrorHostMemoryAlreadyRegistered",
      "part or all of the requested memory range is already mapped" },
    { 713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "cudaErrorHostMemoryNotRegistered",
      "pointer does not correspond to a registered memory region" },
    { 801, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported", "operation not supported" },
    { 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "cudaErrorStreamCaptureUnsupported",
      "operation not permitted when stream is capturing" },
    { 901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "cudaErrorStreamCaptureInvalidated",
      "operation failed due to a previous error during capture" },
    { 902, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "cudaErrorStreamCaptureMerge",
      "operation would result in a merge of separate capture sequences" },
    { 903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched",
      "capture was not ended in the same stream as it began" },
    { 904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "cudaErrorStreamCaptureUnjoined",
      "capturing stream has unjoined work" },
    { 905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "cudaErrorStreamCaptureIsolation",
      "dependency created on uncaptured work in another stream" },
    { 906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "cudaErrorStreamCaptureImplicit",
      "operation would make the legacy stream depend on a capturing blocking stream" },
    { 907, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent",
      "operation not permitted on an event last recorded in a capturing stream" },
    { 908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "cudaErrorStreamCaptureWrongThread",
      "attempt to terminate a thread-local capture sequence from another thread" },
    { 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", "cudaErrorGraphExecUpdateFailure",
      "the graph update was not performed because it included changes which violated constraints "
      "specific to instantiated graph update" },
};

enum { ERROR_COUNT = sizeof errors / sizeof errors[0] };

/* The row of an error; ERROR_COUNT without one. */
static size_t row_of(int error)
{
    size_t i = 0;
    while (i < ERROR_COUNT && errors[i].code != error) {
        i++;
    }
    return i;
}

const char *cudaGetErrorName(int error)
{
    const size_t row = row_of(error);
    return row < ERROR_COUNT ? errors[row].runtime_name : "cudaErrorUnknown";
}

const char *cudaGetErrorString(int error)
{
    const size_t row = row_of(error);
    return row < ERROR_COUNT ? errors[row].text : "unknown error";
}

int cuGetErrorName(int error, const char **name)
{
    const size_t row = row_of(error);
    *name = row < ERROR_COUNT ? errors[row].driver_name : UNKNOWN_NAME;
    return PLIM_WORK_OK;
}

int cuGetErrorString(int error, const char **text)
{
    *text = cudaGetErrorString(error);
    return PLIM_WORK_OK;
}
