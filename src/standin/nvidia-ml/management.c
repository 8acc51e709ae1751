/*
 * management.c - the management library: how many devices, and who uses their memory.
 *
 * Nobody links it; PyTorch opens it if it is there, counts devices with it, and
 * asks it for the process list of an out-of-memory message. Without ours a machine
 * that has the real one would mix its own devices in. Numbers and shapes from the
 * NVML API reference manual (docs.nvidia.com/deploy/nvml-api).
 *
 * A device's handle is its index plus one, so that it is not NULL.
 */
#define _POSIX_C_SOURCE 200809L /* getpid() */
#include "standin/core/gpu.h"
#include "standin/core/memory.h"
#include "standin/core/stub.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum {
    NVML_SUCCESS_CODE = 0,
    NVML_INVALID_ARGUMENT_CODE = 2,
    NVML_NOT_FOUND_CODE = 6,
    NVML_INSUFFICIENT_SIZE_CODE = 7,
};

/* The first version of nvmlProcessInfo_t; later ones add fields behind these. */
typedef struct process_info {
    unsigned pid;
    unsigned long long used_bytes;
} process_info;

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device);
int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, process_info *processes);

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = (unsigned)plim_standin_device_count();
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    if (index >= (unsigned)plim_standin_device_count()) {
        return NVML_INVALID_ARGUMENT_CODE;
    }
    *device = (void *)(uintptr_t)(index + 1);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device)
{
    unsigned domain = 0;
    unsigned bus = 0;
    if (sscanf(id, "%x:%x", &domain, &bus) != 2) {
        return NVML_INVALID_ARGUMENT_CODE;
    }
    for (int index = 0; index < plim_standin_device_count(); index++) {
        if ((int)bus == plim_standin_gpu_attribute(33, index)) { /* PCI bus */
            return nvmlDeviceGetHandleByIndex_v2((unsigned)index, device);
        }
    }
    return NVML_NOT_FOUND_CODE;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes)
{
    const unsigned index = (unsigned)(uintptr_t)device - 1;
    (void)snprintf(text, bytes, "GPU-7374616e-6469-6e2d-%02x00-000000000000", '0' + index);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, process_info *processes)
{
    if (*count < 1) {
        *count = 1;
        return NVML_INSUFFICIENT_SIZE_CODE;
    }
    uint64_t free_bytes = 0;
    uint64_t total_bytes = 0;
    plim_standin_memory_info((int)(uintptr_t)device - 1, &free_bytes, &total_bytes);
    processes[0].pid = (unsigned)getpid();
    processes[0].used_bytes = total_bytes - free_bytes;
    *count = 1; /* this process has the GPU to itself */
    return NVML_SUCCESS_CODE;
}

/* There is nothing to start or to stop. */
PLIM_STANDIN_NOTHING(nvmlInit)
PLIM_STANDIN_NOTHING(nvmlInit_v2)
PLIM_STANDIN_NOTHING(nvmlShutdown)
