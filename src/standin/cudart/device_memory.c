/*
 * device_memory.c - cudaMalloc and its kin, over core/memory.h.
 *
 * Requests up to 1 MiB share pages of 2 MiB, as far as is known of drivers; PyTorch asks for no
 * less than 2 MiB at once.
 */
#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

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
