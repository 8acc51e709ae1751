/*
 * devices.c - the management library: how many devices there are, and their names.
 *
 * Nobody links it; PyTorch opens it if it is there, and counts devices with it. Without ours a
 * machine that has the real one would mix its own devices in. It shows all devices, whatever
 * CUDA_VISIBLE_DEVICES says. Numbers and shapes from the NVML API reference manual
 * (docs.nvidia.com/deploy/nvml-api).
 */
#include "standin/core/devices.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/nvidia-ml/nvml.h"

#include <stdio.h>
#include <string.h>

int plim_standin_nvml_device(const void *handle, uint32_t *ret)
{
    const uintptr_t number = (uintptr_t)handle;
    if (number == 0 || number > plim_standin_settings()->device_count) {
        return NVML_INVALID_ARGUMENT_CODE;
    }
    *ret = (uint32_t)number - 1;
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = plim_standin_settings()->device_count;
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetCount(unsigned *count)
{
    return nvmlDeviceGetCount_v2(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= plim_standin_settings()->device_count) {
        return NVML_INVALID_ARGUMENT_CODE;
    }
    *device = (void *)(uintptr_t)(index + 1);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetHandleByIndex(unsigned index, void **device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device)
{
    const uint32_t bus = plim_standin_device_bus(id);
    if (bus == 0) {
        return NVML_INVALID_ARGUMENT_CODE;
    }
    const int code = nvmlDeviceGetHandleByIndex_v2(bus - 1, device);
    return code == NVML_SUCCESS_CODE ? code : NVML_NOT_FOUND_CODE;
}

int nvmlDeviceGetHandleByPciBusId(const char *id, void **device)
{
    return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

int nvmlDeviceGetHandleByUUID(const char *text, void **device)
{
    for (uint32_t i = 0; i < plim_standin_settings()->device_count; i++) {
        char uuid[NVML_UUID_BYTES];
        plim_standin_device_uuid_text(i, uuid, sizeof(uuid));
        if (strcmp(uuid, text) == 0) {
            return nvmlDeviceGetHandleByIndex_v2(i, device);
        }
    }
    return NVML_NOT_FOUND_CODE;
}

int nvmlDeviceGetIndex(void *device, unsigned *index)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    *index = number;
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetName(void *device, char *text, unsigned bytes)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    (void)snprintf(text, bytes, "%s", plim_standin_settings()->gpu.name);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    if (bytes < NVML_UUID_BYTES) {
        return NVML_INSUFFICIENT_SIZE_CODE;
    }
    plim_standin_device_uuid_text(number, text, bytes);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    *major = (int)plim_standin_settings()->gpu.capability_major;
    *minor = (int)plim_standin_settings()->gpu.capability_minor;
    return NVML_SUCCESS_CODE;
}

int nvmlSystemGetCudaDriverVersion(int *version)
{
    *version = (int)plim_standin_settings()->cuda_version;
    return NVML_SUCCESS_CODE;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    return nvmlSystemGetCudaDriverVersion(version);
}

const char *nvmlErrorString(int code)
{
    switch (code) {
    case NVML_SUCCESS_CODE:
        return "Success";
    case NVML_INVALID_ARGUMENT_CODE:
        return "Invalid Argument";
    case NVML_NOT_SUPPORTED_CODE:
        return "Not Supported";
    case NVML_NOT_FOUND_CODE:
        return "Not Found";
    case NVML_INSUFFICIENT_SIZE_CODE:
        return "Insufficient Size";
    default:
        return "Unknown Error";
    }
}

/* There is nothing to start or to stop. */
PLIM_STANDIN_NOTHING(nvmlInit)
PLIM_STANDIN_NOTHING(nvmlInitWithFlags)
PLIM_STANDIN_NOTHING(nvmlInit_v2)
PLIM_STANDIN_NOTHING(nvmlShutdown)
