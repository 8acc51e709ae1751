/*
 * memory.c - memory of devices and of the host, whose it is, and hints of how it will be used.
 */
#include "standin/core/current.h"
#include "standin/core/host.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

#include <stdlib.h>
#include <string.h>

/* ---- of devices: cudaMalloc, over core/memory.h ---------------------------------------------- */

/*
 * Requests up to 1 MiB share pages of 2 MiB, as far as is known of drivers; PyTorch asks for no
 * less than 2 MiB at once.
 */

int cudaMalloc(void **address, size_t bytes)
{
    PLIM_STANDIN_TRY(plim_standin_require_act());
    if (bytes == 0) {
        *address = NULL; /* documented: success, and nothing to free */
        return CUDA_SUCCESS_CODE;
    }
    uint64_t found = 0;
    const plim_standin_memory_status status =
        plim_standin_memory_allocate(plim_standin_current_device(), bytes, &found);
    if (status == PLIM_STANDIN_MEMORY_OK) {
        *address = (void *)(uintptr_t)found;
    }
    return plim_standin_memory_error(status);
}

int cudaMallocPitch(void **address, size_t *pitch, size_t row_bytes, size_t rows)
{
    const size_t aligned = (row_bytes + PLIM_STANDIN_ALIGNMENT - 1) & ~(PLIM_STANDIN_ALIGNMENT - 1);
    if (rows != 0 && aligned > SIZE_MAX / rows) {
        return plim_standin_memory_error(PLIM_STANDIN_MEMORY_OUT);
    }
    *pitch = aligned;
    return cudaMalloc(address, aligned * rows);
}

int cudaFree(void *address)
{
    /* Freeing NULL is the customary way to make the runtime start up. */
    const int error = plim_standin_require_act();
    if (error != CUDA_SUCCESS_CODE || address == NULL || plim_standin_host_free_managed(address)) {
        return error;
    }
    return plim_standin_memory_error(plim_standin_memory_release((uint64_t)(uintptr_t)address));
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    PLIM_STANDIN_TRY(plim_standin_require_context());
    uint64_t unused = 0;
    uint64_t total = 0;
    plim_standin_memory_info(plim_standin_current_device(), &unused, &total);
    *free_bytes = unused;
    *total_bytes = total;
    return CUDA_SUCCESS_CODE;
}

/* ---- of the host: pinned and managed, ordinary memory that is remembered --------------------- */

/*
 * Managed memory moves between host and devices as it is touched, and may be more than a device
 * has. Nothing touches it from a device here, so it stays where it is and takes nothing of one.
 */

#define HOST_PAGE_BYTES 4096

plim_standin_pointer_kind plim_standin_host_kind(const void *address)
{
    static const plim_standin_pointer_kind kinds[] = {
        [PLIM_STANDIN_HOST_NONE] = PLIM_STANDIN_POINTER_UNREGISTERED,
        [PLIM_STANDIN_HOST_PINNED] = PLIM_STANDIN_POINTER_HOST,
        [PLIM_STANDIN_HOST_REGISTERED] = PLIM_STANDIN_POINTER_HOST,
        [PLIM_STANDIN_HOST_MANAGED] = PLIM_STANDIN_POINTER_MANAGED,
    };
    return kinds[plim_standin_host_find(address)];
}

static int allocate(void **address, size_t bytes, plim_standin_host_range what)
{
    PLIM_STANDIN_TRY(plim_standin_require_act());
    if (bytes > SIZE_MAX - HOST_PAGE_BYTES) {
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    void *memory = aligned_alloc(HOST_PAGE_BYTES, (bytes / HOST_PAGE_BYTES + 1) * HOST_PAGE_BYTES);
    if (memory == NULL) {
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    if (!plim_standin_host_remember(memory, bytes > 0 ? bytes : 1, what)) {
        free(memory);
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    *address = memory;
    return CUDA_SUCCESS_CODE;
}

int cudaHostAlloc(void **address, size_t bytes, unsigned flags)
{
    return allocate(address, bytes, PLIM_STANDIN_HOST_PINNED);
}

int cudaMallocHost(void **address, size_t bytes)
{
    return allocate(address, bytes, PLIM_STANDIN_HOST_PINNED);
}

PLIM_STANDIN_MODELLED(cudaMallocManaged, "it stays in host memory and takes nothing of a device")

int cudaMallocManaged(void **address, size_t bytes, unsigned flags)
{
    return allocate(address, bytes, PLIM_STANDIN_HOST_MANAGED);
}

int cudaFreeHost(void *address)
{
    const int error = plim_standin_require_act();
    if (error != CUDA_SUCCESS_CODE || address == NULL) {
        return error;
    }
    if (!plim_standin_host_forget(address, PLIM_STANDIN_HOST_PINNED)) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    free(address);
    return CUDA_SUCCESS_CODE;
}

int plim_standin_host_free_managed(void *address)
{
    const bool was_there = plim_standin_host_forget(address, PLIM_STANDIN_HOST_MANAGED);
    if (was_there) {
        free(address);
    }
    return was_there;
}

int cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
    if (bytes == 0) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    PLIM_STANDIN_TRY(plim_standin_require_act());
    const bool is_new = plim_standin_host_remember(address, bytes, PLIM_STANDIN_HOST_REGISTERED);
    return plim_standin_current_error_note(is_new ? CUDA_SUCCESS_CODE : CUDA_HOST_REGISTERED_CODE);
}

int cudaHostUnregister(void *address)
{
    const bool was_there = plim_standin_host_forget(address, PLIM_STANDIN_HOST_REGISTERED);
    return plim_standin_current_error_note(was_there ? CUDA_SUCCESS_CODE
                                                     : CUDA_HOST_UNREGISTERED_CODE);
}

int cudaHostGetDevicePointer(void **device_address, void *address, unsigned flags)
{
    *device_address = address; /* unified addressing */
    return CUDA_SUCCESS_CODE;
}

int cudaHostGetFlags(unsigned *flags, void *address)
{
    if (plim_standin_host_kind(address) != PLIM_STANDIN_POINTER_HOST) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    *flags = 2; /* cudaHostAllocMapped: with unified addressing all of it is */
    return CUDA_SUCCESS_CODE;
}

/* ---- whose memory an address is -------------------------------------------------------------- */

/* cudaPointerAttributes, CUDA Runtime API manual 12.0; CUDA 13 added reserved words at the end. */
typedef struct pointer_attributes {
    int type; /* plim_standin_pointer_kind */
    int device;
    void *devicePointer;
    void *hostPointer;
} pointer_attributes;

int cudaPointerGetAttributes(pointer_attributes *attributes, const void *address)
{
    plim_standin_place place = { 0 };
    void *const same = (void *)(uintptr_t)address;

    memset(attributes, 0, sizeof(*attributes));
    if (plim_standin_memory_find((uint64_t)(uintptr_t)address, &place)) {
        attributes->type = PLIM_STANDIN_POINTER_DEVICE;
        attributes->device = place.device;
        attributes->devicePointer = same;
        return CUDA_SUCCESS_CODE;
    }
    attributes->type = (int)plim_standin_host_kind(address);
    attributes->hostPointer = same;
    if (attributes->type == PLIM_STANDIN_POINTER_UNREGISTERED) {
        /* Since CUDA 11 memory CUDA has never seen is an answer, not an error. */
        attributes->device = -2; /* cudaInvalidDeviceId */
    } else {
        attributes->device = plim_standin_current_device();
        attributes->devicePointer = same;
    }
    return CUDA_SUCCESS_CODE;
}

/* ---- of other processes: what one process knows of its memory, no other does ----------------- */

/*
 * knows of its memory is not known to another.
 */

#define REASON "memory of a device cannot be handed to another process"

PLIM_STANDIN_REFUSED(cudaIpcGetMemHandle, CUDA_NOT_SUPPORTED_CODE, REASON)
PLIM_STANDIN_REFUSED(cudaIpcOpenMemHandle, CUDA_NOT_SUPPORTED_CODE, REASON)
PLIM_STANDIN_REFUSED(cudaIpcCloseMemHandle, CUDA_NOT_SUPPORTED_CODE, REASON)

/* ---- hints of how memory and caches will be used --------------------------------------------- */

/*
 * PyTorch itself calls none of these, but extensions of it do: bitsandbytes moves the states of its
 * paged optimizers. Limits and clusters are the driver's, which the runtime asks, too.
 */

int cuCtxGetLimit(size_t *value, int limit);
int cuCtxSetLimit(int limit, size_t value);
int cuOccupancyMaxActiveClusters(int *clusters, const void *function, const void *config);
int cuOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const void *config);

PLIM_STANDIN_MODELLED(cudaMemPrefetchAsync, "managed memory stays in host memory")
PLIM_STANDIN_MODELLED(cudaMemAdvise, "managed memory stays in host memory")
PLIM_STANDIN_MODELLED(cudaDeviceSetLimit, "kept, but takes no memory")
PLIM_STANDIN_MODELLED(cudaOccupancyMaxActiveClusters, "an eighth of the multiprocessors")

/* The parameters that follow: target, stream and purpose. */
int cudaMemPrefetchAsync(const void *address, size_t bytes)
{
    return plim_standin_require_context();
}

int cudaMemAdvise(const void *address, size_t bytes)
{
    return plim_standin_require_context();
}

/* The driver's errors have the runtime's numbers here: invalid value, out of memory. */
int cudaDeviceGetLimit(size_t *value, int limit)
{
    const int error = plim_standin_require_context();
    return error != CUDA_SUCCESS_CODE
               ? error
               : plim_standin_current_error_note(cuCtxGetLimit(value, limit));
}

int cudaDeviceSetLimit(int limit, size_t value)
{
    const int error = plim_standin_require_context();
    return error != CUDA_SUCCESS_CODE
               ? error
               : plim_standin_current_error_note(cuCtxSetLimit(limit, value));
}

int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const void *config)
{
    return cuOccupancyMaxActiveClusters(clusters, function, config);
}

int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const void *config)
{
    return cuOccupancyMaxPotentialClusterSize(blocks, function, config);
}

PLIM_STANDIN_NOTHING(cudaFuncSetCacheConfig)
PLIM_STANDIN_NOTHING(cudaDeviceSetCacheConfig)
PLIM_STANDIN_NOTHING(cudaDeviceFlushGPUDirectRDMAWrites)
