/*
 * host_memory.c - pinned and managed memory, which is ordinary host memory we remember.
 *
 * Managed memory moves between host and devices as it is touched, and may be more than a device
 * has. Nothing touches it from a device here, so it stays where it is and takes nothing of one.
 */
#include "standin/core/current.h"
#include "standin/core/ranges.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

#include <pthread.h>
#include <stdlib.h>

#define HOST_PAGE_BYTES 4096

/* What a range is, as its handle. */
enum {
    PINNED = 1, /* allocated here */
    REGISTERED, /* the program's own */
    MANAGED,    /* allocated here */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static plim_standin_ranges known;

static bool remember(const void *address, size_t bytes, uint64_t what)
{
    const plim_standin_range range = { (uint64_t)(uintptr_t)address, bytes, what, 0 };
    (void)pthread_mutex_lock(&lock);
    const bool is_new = plim_standin_ranges_insert(&known, range);
    (void)pthread_mutex_unlock(&lock);
    return is_new;
}

static bool forget(const void *address, uint64_t what)
{
    const uint64_t base = (uint64_t)(uintptr_t)address;
    plim_standin_range range;
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *found = plim_standin_ranges_find(&known, base);
    const bool was_there =
        found != NULL && found->handle == what && plim_standin_ranges_remove(&known, base, &range);
    (void)pthread_mutex_unlock(&lock);
    return was_there;
}

plim_standin_pointer_kind plim_standin_host_kind(const void *address)
{
    plim_standin_pointer_kind kind = PLIM_STANDIN_POINTER_UNREGISTERED;
    (void)pthread_mutex_lock(&lock);
    const plim_standin_range *found =
        plim_standin_ranges_find(&known, (uint64_t)(uintptr_t)address);
    if (found != NULL) {
        kind = found->handle == MANAGED ? PLIM_STANDIN_POINTER_MANAGED : PLIM_STANDIN_POINTER_HOST;
    }
    (void)pthread_mutex_unlock(&lock);
    return kind;
}

static int allocate(void **address, size_t bytes, uint64_t what)
{
    PLIM_STANDIN_TRY(plim_standin_require_act());
    if (bytes > SIZE_MAX - HOST_PAGE_BYTES) {
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    void *memory = aligned_alloc(HOST_PAGE_BYTES, (bytes / HOST_PAGE_BYTES + 1) * HOST_PAGE_BYTES);
    if (memory == NULL) {
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    if (!remember(memory, bytes > 0 ? bytes : 1, what)) {
        free(memory);
        return plim_standin_current_error_note(CUDA_OUT_OF_MEMORY_CODE);
    }
    *address = memory;
    return CUDA_SUCCESS_CODE;
}

int cudaHostAlloc(void **address, size_t bytes, unsigned flags)
{
    return allocate(address, bytes, PINNED);
}

int cudaMallocHost(void **address, size_t bytes)
{
    return allocate(address, bytes, PINNED);
}

PLIM_STANDIN_MODELLED(cudaMallocManaged, "it stays in host memory and takes nothing of a device")

int cudaMallocManaged(void **address, size_t bytes, unsigned flags)
{
    return allocate(address, bytes, MANAGED);
}

int cudaFreeHost(void *address)
{
    const int error = plim_standin_require_act();
    if (error != CUDA_SUCCESS_CODE || address == NULL) {
        return error;
    }
    if (!forget(address, PINNED)) {
        return plim_standin_current_error_note(CUDA_INVALID_VALUE_CODE);
    }
    free(address);
    return CUDA_SUCCESS_CODE;
}

int plim_standin_host_free_managed(void *address)
{
    const bool was_there = forget(address, MANAGED);
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
    const bool is_new = remember(address, bytes, REGISTERED);
    return plim_standin_current_error_note(is_new ? CUDA_SUCCESS_CODE : CUDA_HOST_REGISTERED_CODE);
}

int cudaHostUnregister(void *address)
{
    const bool was_there = forget(address, REGISTERED);
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
