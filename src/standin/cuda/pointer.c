/*
 * pointer.c - whose memory is this, asked through the driver.
 *
 * Attribute numbers of CUpointer_attribute from the CUDA Driver API manual.
 */
#include "standin/core/memory.h"
#include "standin/core/trace.h"
#include "standin/cuda/cuda.h"

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
