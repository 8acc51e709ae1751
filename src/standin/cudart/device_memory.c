/*
 * device_memory.c - cudaMalloc and its kin, over core/memory.h.
 *
 * The stream-ordered calls do the same at once: every stream here has always
 * finished its work.
 */
#include "standin/core/current.h"
#include "standin/core/handle.h"
#include "standin/core/memory.h"
#include "standin/cudart/cudart.h"

int cudaMalloc(void **address, size_t bytes);
int cudaMallocAsync(void **address, size_t bytes, void *stream);
int cudaFree(void *address);
int cudaFreeAsync(void *address, void *stream);
int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
int cudaDeviceGetDefaultMemPool(void **pool, int device);

int cudaMalloc(void **address, size_t bytes)
{
    if (bytes == 0) {
        *address = NULL; /* documented: success, and nothing to free */
        return CUDA_SUCCESS_CODE;
    }
    uint64_t found = 0;
    switch (plim_standin_memory_allocate(plim_standin_current_device(), bytes, &found)) {
    case PLIM_STANDIN_MEMORY_OK:
        *address = (void *)(uintptr_t)found;
        return CUDA_SUCCESS_CODE;
    case PLIM_STANDIN_MEMORY_OUT:
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    case PLIM_STANDIN_MEMORY_INVALID:
        break;
    }
    return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
}

int cudaMallocAsync(void **address, size_t bytes, void *stream)
{
    (void)stream;
    return cudaMalloc(address, bytes);
}

int cudaFree(void *address)
{
    /* Freeing NULL is the customary way to make the runtime start up. */
    if (address != NULL &&
        plim_standin_memory_release((uint64_t)(uintptr_t)address) != PLIM_STANDIN_MEMORY_OK) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    return CUDA_SUCCESS_CODE;
}

int cudaFreeAsync(void *address, void *stream)
{
    (void)stream;
    return cudaFree(address);
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    uint64_t unused = 0;
    uint64_t total = 0;
    plim_standin_memory_info(plim_standin_current_device(), &unused, &total);
    *free_bytes = unused;
    *total_bytes = total;
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    (void)device;
    *pool = plim_standin_handle_create();
    return CUDA_SUCCESS_CODE;
}
