/*
 * host_memory.c - pinned host memory, which is ordinary host memory we remember.
 */
#include "standin/core/current.h"
#include "standin/core/ranges.h"
#include "standin/cudart/cudart.h"

#include <pthread.h>
#include <stdlib.h>

int cudaHostAlloc(void **address, size_t bytes, unsigned flags);
int cudaFreeHost(void *address);
int cudaHostRegister(void *address, size_t bytes, unsigned flags);
int cudaHostUnregister(void *address);
int cudaHostGetDevicePointer(void **device_address, void *address, unsigned flags);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_standin_ranges pinned;

static bool remember(const void *address, size_t bytes)
{
    const plim_standin_range range = { .base = (uint64_t)(uintptr_t)address, .bytes = bytes };
    pthread_mutex_lock(&lock);
    const bool is_new = plim_standin_ranges_insert(&pinned, range);
    pthread_mutex_unlock(&lock);
    return is_new;
}

static bool forget(const void *address)
{
    plim_standin_range range;
    pthread_mutex_lock(&lock);
    const bool was_there =
        plim_standin_ranges_remove(&pinned, (uint64_t)(uintptr_t)address, &range);
    pthread_mutex_unlock(&lock);
    return was_there;
}

int plim_standin_host_is_pinned(const void *address)
{
    pthread_mutex_lock(&lock);
    const bool is_pinned = plim_standin_ranges_find(&pinned, (uint64_t)(uintptr_t)address) != NULL;
    pthread_mutex_unlock(&lock);
    return is_pinned;
}

int cudaHostAlloc(void **address, size_t bytes, unsigned flags)
{
    (void)flags;
    const size_t whole_pages = (bytes / 4096 + 1) * 4096;
    void *memory = aligned_alloc(4096, whole_pages);
    if (memory == NULL) {
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    if (!remember(memory, bytes)) {
        free(memory);
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    *address = memory;
    return CUDA_SUCCESS_CODE;
}

int cudaFreeHost(void *address)
{
    if (address == NULL) {
        return CUDA_SUCCESS_CODE;
    }
    if (!forget(address)) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    free(address);
    return CUDA_SUCCESS_CODE;
}

int cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
    (void)flags;
    const bool is_new = remember(address, bytes);
    return plim_standin_current_error_note(is_new ? CUDA_SUCCESS_CODE : CUDA_HOST_REGISTERED_CODE);
}

int cudaHostUnregister(void *address)
{
    const bool was_there = forget(address);
    return plim_standin_current_error_note(was_there ? CUDA_SUCCESS_CODE
                                                     : CUDA_HOST_UNREGISTERED_CODE);
}

int cudaHostGetDevicePointer(void **device_address, void *address, unsigned flags)
{
    (void)flags;
    *device_address = address; /* unified addressing */
    return CUDA_SUCCESS_CODE;
}
