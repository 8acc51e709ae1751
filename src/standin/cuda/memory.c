/*
 * memory.c - memory through the driver: plain and mapped, copies and fills, whose it is.
 */
#include "standin/core/memory.h"
#include "standin/core/copy.h"
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/work/work.h"

/* ---- plain memory, copies and fills: what the runtime's do ----------------------------------- */

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

/* ---- addresses and memory apart, and the mapping that joins them ----------------------------- */

/*
 * PyTorch's expandable segments are made of these: reserve a long range of
 * addresses once, then create physical memory piece by piece, and map it at the end.
 * Semantics from "Virtual Memory Management" in the CUDA Driver API manual.
 */

/* The head of CUmemAllocationProp; the rest concerns sharing and is not read. */
typedef struct allocation_properties {
    int type; /* 1: pinned, the only one there is */
    int requested_handle_types;
    int location_type; /* 1: a device */
    int location_id;
    void *unused;
    unsigned char flags[8];
} allocation_properties;

typedef struct access_descriptor { /* CUmemAccessDesc */
    int location_type;
    int location_id;
    int flags;
} access_descriptor;

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t hint,
                        unsigned long long flags)
{
    /* hint: a hint may be ignored */
    return plim_standin_driver_error(plim_standin_memory_reserve(bytes, alignment, address));
}

int cuMemAddressFree(uint64_t address, size_t bytes)
{
    return plim_standin_driver_error(plim_standin_memory_unreserve(address, bytes));
}

int cuMemCreate(uint64_t *handle, size_t bytes, const allocation_properties *properties,
                unsigned long long flags)
{
    if (properties->location_type != 1) {
        plim_standin_trace("cuMemCreate: only device memory is modelled, not location type %d",
                           properties->location_type);
        return DRIVER_NOT_SUPPORTED;
    }
    const int device = properties->location_id;
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    if (!plim_standin_footprint_context(device)) {
        return DRIVER_OUT_OF_MEMORY;
    }
    return plim_standin_driver_error(plim_standin_memory_physical_create(device, bytes, handle));
}

int cuMemRelease(uint64_t handle)
{
    return plim_standin_driver_error(plim_standin_memory_physical_release(handle));
}

int cuMemRetainAllocationHandle(uint64_t *handle, const void *address)
{
    return plim_standin_driver_error(
        plim_standin_memory_physical_retain((uint64_t)(uintptr_t)address, handle));
}

int cuMemGetAllocationPropertiesFromHandle(allocation_properties *properties, uint64_t handle)
{
    int device = 0;
    const plim_standin_memory_status status = plim_standin_memory_physical_device(handle, &device);
    if (status == PLIM_STANDIN_MEMORY_OK) {
        *properties =
            (allocation_properties){ .type = 1, .location_type = 1, .location_id = device };
    }
    return plim_standin_driver_error(status);
}

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long flags)
{
    if (offset != 0) {
        return DRIVER_INVALID_VALUE; /* the manual: must be zero, for now */
    }
    return plim_standin_driver_error(plim_standin_memory_map(address, bytes, handle));
}

int cuMemUnmap(uint64_t address, size_t bytes)
{
    return plim_standin_driver_error(plim_standin_memory_unmap(address, bytes));
}

/* Access rights make no difference here; but there must be some memory. */
int cuMemSetAccess(uint64_t address, size_t bytes, const access_descriptor *descriptors,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (descriptors[i].location_type == 1 &&
            !plim_standin_is_device(descriptors[i].location_id)) {
            return DRIVER_INVALID_DEVICE;
        }
    }
    return plim_standin_memory_is_mapped(address, bytes) ? DRIVER_SUCCESS : DRIVER_INVALID_VALUE;
}

int cuMemGetAllocationGranularity(size_t *bytes, const allocation_properties *properties,
                                  int option)
{
    /* option: smallest and recommended are the same for device memory */
    *bytes = PLIM_STANDIN_PAGE_BYTES;
    return DRIVER_SUCCESS;
}

#define SHARING "memory of a device cannot be handed to another process"

PLIM_STANDIN_REFUSED(cuMemExportToShareableHandle, DRIVER_NOT_SUPPORTED, SHARING)
PLIM_STANDIN_REFUSED(cuMemImportFromShareableHandle, DRIVER_NOT_SUPPORTED, SHARING)

#define MULTICAST "the devices of a rehearsal have no multicast objects (attribute 132)"

PLIM_STANDIN_DECLINED(cuMulticastCreate, DRIVER_NOT_SUPPORTED, MULTICAST)
PLIM_STANDIN_DECLINED(cuMulticastAddDevice, DRIVER_NOT_SUPPORTED, MULTICAST)
PLIM_STANDIN_DECLINED(cuMulticastBindMem, DRIVER_NOT_SUPPORTED, MULTICAST)
PLIM_STANDIN_DECLINED(cuMulticastUnbind, DRIVER_NOT_SUPPORTED, MULTICAST)

/* ---- whose memory an address is -------------------------------------------------------------- */

/*
 * Attribute numbers of CUpointer_attribute from the CUDA Driver API manual.
 */

int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    plim_standin_place place = { 0 };

    if (!plim_standin_memory_find(address, &place)) {
        return DRIVER_INVALID_VALUE;
    }
    switch (attribute) {
    case 1: /* the context it belongs to: device.c, context n + 1 is device n */
        *(uintptr_t *)value = (uintptr_t)place.device + 1;
        return DRIVER_SUCCESS;
    case 2:                /* kind of memory */
        *(int *)value = 2; /* CU_MEMORYTYPE_DEVICE */
        return DRIVER_SUCCESS;
    case 3: /* the address on the device */
        *(uint64_t *)value = address;
        return DRIVER_SUCCESS;
    case 9: /* device ordinal */
        *(int *)value = place.device;
        return DRIVER_SUCCESS;
    case 11: /* start of the allocation */
        *(uint64_t *)value = place.base;
        return DRIVER_SUCCESS;
    case 12: /* its size */
        *(size_t *)value = place.bytes;
        return DRIVER_SUCCESS;
    default:
        plim_standin_trace("pointer attribute %d is unknown here, left alone", attribute);
        return DRIVER_SUCCESS;
    }
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t address)
{
    plim_standin_place place = { 0 };

    if (!plim_standin_memory_find(address, &place)) {
        return DRIVER_INVALID_VALUE;
    }
    if (base != NULL) { /* documented: either may be left out */
        *base = place.base;
    }
    if (bytes != NULL) {
        *bytes = place.bytes;
    }
    return DRIVER_SUCCESS;
}
