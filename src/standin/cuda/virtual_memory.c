/*
 * virtual_memory.c - addresses and memory apart, and the mapping that joins them.
 *
 * What PyTorch's expandable segments are made of: reserve a long range of
 * addresses once, then create physical memory piece by piece, and map it at the end.
 * Semantics from "Virtual Memory Management" in the CUDA Driver API manual.
 */
#include "standin/core/memory.h"

#include "standin/core/devices.h"
#include "standin/core/footprint.h"
#include "standin/core/stub.h"
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"

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

/* Who may access memory does not matter where nobody does; but there must be some. */
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
