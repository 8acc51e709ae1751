/*
 * virtual_memory.c - addresses and memory apart, and the mapping that joins them.
 *
 * What PyTorch's expandable segments are made of: reserve a long range of
 * addresses once, then create physical memory piece by piece, and map it at the end.
 * Semantics from "Virtual Memory Management" in the CUDA Driver API manual.
 */
#include "standin/core/memory.h"
#include "standin/core/stub.h"
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"

/* The head of CUmemAllocationProp; the rest concerns sharing and is not read. */
typedef struct allocation_properties {
    int type;
    int requested_handle_types;
    int location_type; /* 1: a device */
    int location_id;
} allocation_properties;

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t hint,
                        unsigned long long flags);
int cuMemAddressFree(uint64_t address, size_t bytes);
int cuMemCreate(uint64_t *handle, size_t bytes, const allocation_properties *properties,
                unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t bytes);
int cuMemGetAllocationGranularity(size_t *bytes, const allocation_properties *properties,
                                  int option);
int cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type,
                                 unsigned long long flags);

static int code_of(plim_standin_memory_status status)
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

int cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t hint,
                        unsigned long long flags)
{
    (void)hint; /* a hint may be ignored, and nothing here passes one */
    (void)flags;
    return code_of(plim_standin_memory_reserve(bytes, alignment, address));
}

int cuMemAddressFree(uint64_t address, size_t bytes)
{
    return code_of(plim_standin_memory_unreserve(address, bytes));
}

int cuMemCreate(uint64_t *handle, size_t bytes, const allocation_properties *properties,
                unsigned long long flags)
{
    (void)flags;
    if (properties->location_type != 1) {
        plim_standin_trace("cuMemCreate: only device memory is modelled, not location type %d",
                           properties->location_type);
        return DRIVER_NOT_SUPPORTED;
    }
    return code_of(plim_standin_memory_physical_create(properties->location_id, bytes, handle));
}

int cuMemRelease(uint64_t handle)
{
    return code_of(plim_standin_memory_physical_release(handle));
}

int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
             unsigned long long flags)
{
    (void)flags;
    if (offset != 0) {
        return DRIVER_INVALID_VALUE; /* the manual: must be zero, for now */
    }
    return code_of(plim_standin_memory_map(address, bytes, handle));
}

int cuMemUnmap(uint64_t address, size_t bytes)
{
    return code_of(plim_standin_memory_unmap(address, bytes));
}

int cuMemGetAllocationGranularity(size_t *bytes, const allocation_properties *properties,
                                  int option)
{
    (void)properties;
    (void)option; /* smallest and recommended are the same on the GPUs of the table */
    *bytes = PLIM_STANDIN_PAGE_BYTES;
    return DRIVER_SUCCESS;
}

int cuMemExportToShareableHandle(void *shareable, uint64_t handle, int type,
                                 unsigned long long flags)
{
    (void)shareable;
    (void)handle;
    (void)type;
    (void)flags;
    return DRIVER_NOT_SUPPORTED; /* there is no second process to share with */
}

/* Who may access memory does not matter where nobody does. */
PLIM_STANDIN_NOTHING(cuMemSetAccess)
