/*
 * cudart.c - the functions of libcudart.so.13 that libc10_cuda.so asks for.
 *
 * Names, numbers and orders of parameters from the CUDA Runtime API manual, 13.0. What has no
 * meaning for memory does nothing and is not reported.
 */
#include "model.h"

#include "standin/cudart/properties.h" /* the layout of cudaDeviceProp */

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    MEMORY_ALLOCATION = 2,
    INVALID_DEVICE = 101,
    PEER_ALREADY_ENABLED = 704,
    NOT_READY = 600,
    NOT_SUPPORTED = 801,
    UNKNOWN = 999,
};

static int last_error;

static int note(int code)
{
    if (code != SUCCESS) {
        last_error = code;
    }
    return code;
}

static int code_of(plim_status status)
{
    if (status == PLIM_OK) {
        return SUCCESS;
    }
    return note(status == PLIM_OUT_OF_DEVICE_MEMORY ? MEMORY_ALLOCATION
                : status == PLIM_INVALID_ARGUMENT   ? INVALID_VALUE
                                                    : UNKNOWN);
}

/* --- errors --- */

int cudaGetLastError(void)
{
    const int code = last_error;
    last_error = SUCCESS;
    return code;
}

const char *cudaGetErrorName(int code)
{
    return code == SUCCESS             ? "cudaSuccess"
           : code == MEMORY_ALLOCATION ? "cudaErrorMemoryAllocation"
           : code == INVALID_VALUE     ? "cudaErrorInvalidValue"
                                       : "cudaErrorUnknown";
}

const char *cudaGetErrorString(int code)
{
    return code == SUCCESS             ? "no error"
           : code == MEMORY_ALLOCATION ? "out of memory"
           : code == INVALID_VALUE     ? "invalid argument"
           : code == NOT_READY         ? "device not ready"
                                       : "unknown error";
}

/* --- devices --- */

int cudaGetDeviceCount(int *count)
{
    *count = model_count();
    return SUCCESS;
}

int cudaGetDevice(int *device)
{
    *device = model_current();
    return SUCCESS;
}

int cudaSetDevice(int device)
{
    if (device < 0 || device >= model_count()) {
        return note(INVALID_DEVICE);
    }
    model_set_current(device);
    return SUCCESS;
}

int cudaGetDeviceProperties(plim_standin_properties_13 *properties, int device)
{
    memset(properties, 0, sizeof(*properties));
    (void)snprintf(properties->name, sizeof(properties->name), "sim");
    properties->totalGlobalMem = model_total(device);
    properties->major = 9;
    properties->warpSize = 32;
    properties->multiProcessorCount = 132;
    properties->pciBusID = device + 1;
    return SUCCESS;
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5;
    return SUCCESS;
}

int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer;
    return SUCCESS;
}

int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer;
    (void)flags;
    return SUCCESS;
}

int cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}

int cudaDeviceSynchronize(void)
{
    return code_of(model_device_sync());
}

/* --- memory --- */

int cudaMalloc(void **address, size_t bytes)
{
    plim_addr addr = 0;
    const plim_status status = model_malloc(bytes, &addr);
    if (status == PLIM_OK) {
        *address = (void *)(uintptr_t)addr; // NOLINT(performance-no-int-to-ptr)
    }
    return code_of(status);
}

int cudaFree(void *address)
{
    if (address == NULL) {
        return SUCCESS; /* allowed, and what libc10_cuda.so makes contexts with */
    }
    return code_of(model_free((plim_addr)(uintptr_t)address));
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return code_of(model_info(model_current(), free_bytes, total_bytes));
}

/* --- streams --- */

int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    static uintptr_t next = 0x10000; /* nothing in a script is as large */
    (void)flags;
    (void)priority;
    *stream = (void *)next; // NOLINT(performance-no-int-to-ptr)
    next += 16;
    return SUCCESS;
}

int cudaStreamGetPriority(void *stream, int *priority)
{
    (void)stream;
    *priority = 0;
    return SUCCESS;
}

int cudaStreamQuery(void *stream)
{
    (void)stream;
    return SUCCESS;
}

int cudaStreamSynchronize(void *stream)
{
    return code_of(model_stream_sync((plim_stream)(uintptr_t)stream));
}

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    return SUCCESS;
}

int cudaStreamIsCapturing(void *stream, int *status)
{
    *status = model_is_capturing(model_current(), (plim_stream)(uintptr_t)stream) ? 1 : 0;
    return SUCCESS;
}

int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, void **graph,
                             const void ***dependencies, const void ***edges, size_t *count)
{
    (void)cudaStreamIsCapturing(stream, status);
    if (id != NULL) {
        *id = (unsigned long long)*status;
    }
    if (graph != NULL) {
        *graph = NULL;
    }
    if (dependencies != NULL) {
        *dependencies = NULL;
    }
    if (edges != NULL) {
        *edges = NULL;
    }
    if (count != NULL) {
        *count = 0;
    }
    return SUCCESS;
}

int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    static int now; /* cudaStreamCaptureModeGlobal */
    const int before = now;
    now = *mode;
    *mode = before;
    return SUCCESS;
}

/* --- events --- */

int cudaEventCreateWithFlags(void **event, unsigned flags)
{
    plim_fence handle = 0;
    (void)flags;
    const plim_status status = model_event_create(&handle);
    *event = (void *)(uintptr_t)handle; // NOLINT(performance-no-int-to-ptr)
    return code_of(status);
}

int cudaEventDestroy(void *event)
{
    return code_of(model_event_destroy((plim_fence)(uintptr_t)event));
}

int cudaEventRecord(void *event, void *stream)
{
    return code_of(
        model_event_record((plim_fence)(uintptr_t)event, (plim_stream)(uintptr_t)stream));
}

int cudaEventQuery(void *event)
{
    bool is_complete = false;
    const plim_status status = model_event_query((plim_fence)(uintptr_t)event, &is_complete);
    return status != PLIM_OK ? code_of(status) : note(is_complete ? SUCCESS : NOT_READY);
}

int cudaEventSynchronize(void *event)
{
    return code_of(model_event_sync((plim_fence)(uintptr_t)event));
}

int cudaEventElapsedTime(float *milliseconds, void *start, void *end)
{
    (void)start;
    (void)end;
    *milliseconds = 0;
    return SUCCESS;
}

/* --- what no script uses: it fails, so that a use is seen --- */

#define ORACLE_REFUSED(name)        \
    int name(void);                 \
    int name(void)                  \
    {                               \
        return note(NOT_SUPPORTED); \
    }

ORACLE_REFUSED(cudaDeviceGetDefaultMemPool)
ORACLE_REFUSED(cudaFreeAsync)
ORACLE_REFUSED(cudaGraphNodeGetDependencies)
ORACLE_REFUSED(cudaIpcCloseMemHandle)
ORACLE_REFUSED(cudaIpcGetMemHandle)
ORACLE_REFUSED(cudaIpcOpenMemHandle)
ORACLE_REFUSED(cudaMallocAsync)
ORACLE_REFUSED(cudaMemPoolGetAttribute)
ORACLE_REFUSED(cudaMemPoolSetAccess)
ORACLE_REFUSED(cudaMemPoolSetAttribute)
ORACLE_REFUSED(cudaMemPoolTrimTo)
ORACLE_REFUSED(cudaMemcpy)
ORACLE_REFUSED(cudaMemcpyAsync)
ORACLE_REFUSED(cudaMemcpyPeerAsync)
