/*
 * pool.c - stream-ordered memory, over core/memory.h.
 *
 * Allocating and freeing happen at once: every stream here has always finished its work.
 * Numbers of cudaMemPoolAttr from the CUDA Runtime API manual.
 */
#include "standin/core/memory.h"

#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"
#include "standin/work/work.h"

#include <stdatomic.h>

enum { /* cudaMemPoolAttr; the first three are about reuse between streams, and int */
       RELEASE_THRESHOLD = 4,
       RESERVED = 5,
       RESERVED_PEAK = 6,
       USED = 7,
       USED_PEAK = 8,
};

typedef struct pool_properties { /* the head of cudaMemPoolProps; the rest is about sharing */
    int allocation_type;
    int handle_types;
    int location_type; /* 1: a device */
    int location_id;
} pool_properties;

static _Atomic(uint64_t) chosen[PLIM_STAGE_DEVICES_MAX]; /* 0: the default pool */

static uint64_t number_of(const void *pool)
{
    return (uint64_t)(uintptr_t)pool;
}

static uint64_t pool_of(int device)
{
    const uint64_t number = atomic_load(&chosen[device]);
    return number != 0 ? number : plim_standin_pool_default(device);
}

PLIM_STANDIN_MODELLED(cudaMallocAsync, "pools grow by 32 MiB and never fragment")
PLIM_STANDIN_MODELLED(cudaMallocFromPoolAsync, "pools grow by 32 MiB and never fragment")

/* Counts as work of the stream: a node if it captures, whose memory is there at once. */
static int submit(void *stream, plim_standin_work_kind kind)
{
    const plim_standin_work work = { .kind = kind };
    return plim_standin_put(stream, &work);
}

int cudaMallocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream)
{
    PLIM_STANDIN_TRY(submit(stream, PLIM_WORK_ALLOCATE));
    if (bytes == 0) {
        *address = NULL;
        return CUDA_SUCCESS_CODE;
    }
    uint64_t found = 0;
    const plim_standin_memory_status status =
        plim_standin_pool_allocate(number_of(pool), bytes, &found);
    if (status == PLIM_STANDIN_MEMORY_OK) {
        *address = (void *)(uintptr_t)found;
    }
    return plim_standin_memory_error(status);
}

int cudaMallocAsync(void **address, size_t bytes, void *stream)
{
    const uint64_t pool = pool_of(plim_standin_current_device());
    return cudaMallocFromPoolAsync(address, bytes, (void *)(uintptr_t)pool, stream);
}

int cudaFreeAsync(void *address, void *stream)
{
    const int error = submit(stream, PLIM_WORK_FREE);
    if (error != CUDA_SUCCESS_CODE || address == NULL) {
        return error;
    }
    return plim_standin_memory_error(plim_standin_memory_release((uint64_t)(uintptr_t)address));
}

int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    const uint64_t number = plim_standin_pool_default(device);
    if (number == 0) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    *pool = (void *)(uintptr_t)number;
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetMemPool(void **pool, int device)
{
    if (!plim_standin_is_device(device)) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    *pool = (void *)(uintptr_t)pool_of(device);
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceSetMemPool(int device, void *pool)
{
    if (!plim_standin_is_device(device)) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    atomic_store(&chosen[device], number_of(pool));
    return CUDA_SUCCESS_CODE;
}

int cudaMemPoolCreate(void **pool, const pool_properties *properties)
{
    uint64_t number = 0;
    if (properties->location_type == 1) {
        number = plim_standin_pool_create(properties->location_id);
    }
    if (number == 0) {
        return plim_standin_current_error_note(CUDA_NOT_SUPPORTED_CODE);
    }
    *pool = (void *)(uintptr_t)number;
    return CUDA_SUCCESS_CODE;
}

int cudaMemPoolDestroy(void *pool)
{
    return plim_standin_memory_error(plim_standin_pool_destroy(number_of(pool)));
}

int cudaMemPoolTrimTo(void *pool, size_t keep_bytes)
{
    return plim_standin_memory_error(plim_standin_pool_trim(number_of(pool), keep_bytes));
}

int cudaMemPoolGetAttribute(void *pool, int attribute, void *value)
{
    plim_standin_pool_figures figures = { 0 };
    const plim_standin_memory_status status =
        plim_standin_pool_figures_get(number_of(pool), &figures);
    if (status != PLIM_STANDIN_MEMORY_OK) {
        return plim_standin_memory_error(status);
    }
    uint64_t *const bytes = value;
    switch (attribute) {
    case RELEASE_THRESHOLD:
        *bytes = figures.threshold_bytes;
        return CUDA_SUCCESS_CODE;
    case RESERVED:
        *bytes = figures.reserved_bytes;
        return CUDA_SUCCESS_CODE;
    case RESERVED_PEAK:
        *bytes = figures.reserved_bytes_peak;
        return CUDA_SUCCESS_CODE;
    case USED:
        *bytes = figures.used_bytes;
        return CUDA_SUCCESS_CODE;
    case USED_PEAK:
        *bytes = figures.used_bytes_peak;
        return CUDA_SUCCESS_CODE;
    default:
        *(int *)value = 1; /* reuse is allowed, which is what pools start with */
        return CUDA_SUCCESS_CODE;
    }
}

int cudaMemPoolSetAttribute(void *pool, int attribute, const void *value)
{
    switch (attribute) {
    case RELEASE_THRESHOLD:
        return plim_standin_memory_error(
            plim_standin_pool_set_threshold(number_of(pool), *(const uint64_t *)value));
    case RESERVED_PEAK: /* documented: only to 0, which makes it what is there now */
    case USED_PEAK:
        return plim_standin_memory_error(
            plim_standin_pool_reset_peaks(number_of(pool), attribute == RESERVED_PEAK));
    default:
        return CUDA_SUCCESS_CODE; /* how streams may reuse memory: they have always finished */
    }
}

/* All devices reach each other's memory. */
PLIM_STANDIN_NOTHING(cudaMemPoolSetAccess)
