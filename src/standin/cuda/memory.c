/*
 * memory.c - plain memory, copies and fills through the driver: what the runtime's do.
 */
#include "standin/core/memory.h"

#include "standin/core/copy.h"
#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/work/work.h"

int plim_standin_driver_error(plim_standin_memory_status status)
{
    switch (status) {
    case PLIM_STANDIN_MEMORY_OK:
        return DRIVER_SUCCESS;
    case PLIM_STANDIN_MEMORY_OUT:
        return DRIVER_OUT_OF_MEMORY;
    case PLIM_STANDIN_MEMORY_INVALID:
        break;
    }
    return DRIVER_INVALID_VALUE;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    const int device = plim_standin_current_device();
    PLIM_STANDIN_TRY(plim_standin_may_act());
    if (!plim_standin_footprint_context(device)) {
        return DRIVER_OUT_OF_MEMORY;
    }
    return plim_standin_driver_error(plim_standin_memory_allocate(device, bytes, address));
}

int cuMemFree_v2(uint64_t address)
{
    const int error = plim_standin_may_act();
    if (error != DRIVER_SUCCESS || address == 0) {
        return error;
    }
    return plim_standin_driver_error(plim_standin_memory_release(address));
}

static void run_copy(const plim_standin_work *work)
{
    plim_standin_copy(work->target, work->source, work->row_bytes);
}

static int copy(void *target, const void *source, size_t bytes, void *stream)
{
    const plim_standin_work work = { .kind = PLIM_WORK_COPY,
                                     .run = run_copy,
                                     .target = target,
                                     .source = source,
                                     .row_bytes = bytes,
                                     .rows = 1 };
    return plim_standin_submit(stream, &work);
}

static void run_fill(const plim_standin_work *work)
{
    plim_standin_fill_words(work->target, &work->value, work->value_bytes,
                            work->row_bytes / work->value_bytes);
}

/* The value's first bytes are its low ones on all machines that CUDA runs on. */
static int fill(uint64_t target, uint32_t value, uint32_t value_bytes, size_t count, void *stream)
{
    const plim_standin_work work = { .kind = PLIM_WORK_FILL,
                                     .run = run_fill,
                                     .target = (void *)(uintptr_t)target,
                                     .value = value,
                                     .value_bytes = value_bytes,
                                     .row_bytes = count * value_bytes,
                                     .rows = 1 };
    return plim_standin_submit(stream, &work);
}

int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, void *stream)
{
    return copy((void *)(uintptr_t)target, source, bytes, stream);
}

int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *stream)
{
    return copy(target, (const void *)(uintptr_t)source, bytes, stream);
}

int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void *stream)
{
    return copy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes, stream);
}

int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes)
{
    return cuMemcpyHtoDAsync_v2(target, source, bytes, NULL);
}

int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes)
{
    return cuMemcpyDtoHAsync_v2(target, source, bytes, NULL);
}

int cuMemcpyDtoD_v2(uint64_t target, uint64_t source, size_t bytes)
{
    return cuMemcpyDtoDAsync_v2(target, source, bytes, NULL);
}

int cuMemsetD8Async(uint64_t target, unsigned char value, size_t count, void *stream)
{
    return fill(target, value, 1, count, stream);
}

int cuMemsetD32Async(uint64_t target, unsigned value, size_t count, void *stream)
{
    return fill(target, value, 4, count, stream);
}

int cuMemsetD8_v2(uint64_t target, unsigned char value, size_t count)
{
    return cuMemsetD8Async(target, value, count, NULL);
}

int cuMemsetD32_v2(uint64_t target, unsigned value, size_t count)
{
    return cuMemsetD32Async(target, value, count, NULL);
}
