/*
 * device.c - devices and contexts, as the driver library names them.
 *
 * A context is its device: handle n + 1 stands for the primary context of
 * device n, and all of them are always alive.
 */
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/footprint.h"
#include "standin/core/memory.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"

#include <stdio.h>

int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetUuid(unsigned char uuid[16], int device);
int cuDeviceGetUuid_v2(unsigned char uuid[16], int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxGetCurrent(void **context);
int cuCtxSetCurrent(void *context);
int cuCtxGetDevice(int *device);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);

static void *context_of(int device)
{
    return (void *)(uintptr_t)(device + 1);
}

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

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    *flags = 0;
    *is_active = plim_standin_footprint_has_context(device);
    return DRIVER_SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (!plim_standin_footprint_context(device)) {
        return plim_standin_is_device(device) ? DRIVER_OUT_OF_MEMORY : DRIVER_INVALID_DEVICE;
    }
    *context = context_of(device);
    return DRIVER_SUCCESS;
}

int cuCtxGetCurrent(void **context)
{
    const int device = plim_standin_current_device();
    *context = plim_standin_footprint_has_context(device) ? context_of(device) : NULL;
    return DRIVER_SUCCESS;
}

int cuCtxSetCurrent(void *context)
{
    const bool is_set = plim_standin_current_device_set((int)(uintptr_t)context - 1);
    return is_set ? DRIVER_SUCCESS : DRIVER_INVALID_VALUE;
}

int cuCtxGetDevice(int *device)
{
    *device = plim_standin_current_device();
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

/* Contexts are always there. */
PLIM_STANDIN_NOTHING(cuCtxPopCurrent)
PLIM_STANDIN_NOTHING(cuCtxPopCurrent_v2)
PLIM_STANDIN_NOTHING(cuCtxPushCurrent)
PLIM_STANDIN_NOTHING(cuCtxPushCurrent_v2)
PLIM_STANDIN_NOTHING(cuDevicePrimaryCtxRelease_v2)
PLIM_STANDIN_NOTHING(cuInit)
