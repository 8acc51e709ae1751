/*
 * device.c - devices, as the driver library names them.
 */
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/footprint.h"
#include "standin/core/memory.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"

#include <stdio.h>

int cuDriverGetVersion(int *version)
{
    *version = (int)plim_standin_settings()->cuda_version;
    return DRIVER_SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = plim_standin_device_count();
    return DRIVER_SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
    if (!plim_standin_is_device(ordinal)) {
        return DRIVER_INVALID_DEVICE;
    }
    *device = ordinal;
    return DRIVER_SUCCESS;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    (void)snprintf(name, (size_t)bytes, "%s", plim_standin_settings()->gpu.name);
    return DRIVER_SUCCESS;
}

int cuDeviceGetUuid(unsigned char uuid[16], int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    plim_standin_device_uuid(plim_standin_device_on_stage(device), uuid);
    return DRIVER_SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    return cuDeviceGetUuid(uuid, device);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    *bytes = plim_standin_settings()->capacity_bytes;
    return DRIVER_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    *value = plim_standin_device_attribute(attribute, device);
    return DRIVER_SUCCESS;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    const int device = plim_standin_current_device();
    if (!plim_standin_footprint_context(device)) {
        return DRIVER_OUT_OF_MEMORY;
    }
    uint64_t unused = 0;
    uint64_t total = 0;
    plim_standin_memory_info(device, &unused, &total);
    *free_bytes = unused;
    *total_bytes = total;
    return DRIVER_SUCCESS;
}

PLIM_STANDIN_NOTHING(cuInit)
