/*
 * usage.c - the management library: who uses how much of a device, and how busy it is.
 *
 * PyTorch asks for the list of processes for the text of an out-of-memory error.
 */
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/nvidia-ml/nvml.h"

#include <stdbool.h>

typedef struct memory { /* nvmlMemory_t */
    unsigned long long total_bytes;
    unsigned long long free_bytes;
    unsigned long long used_bytes;
} memory;

typedef struct process_1 { /* nvmlProcessInfo_v1_t */
    unsigned pid;
    unsigned long long used_bytes;
} process_1;

typedef struct process_2 { /* nvmlProcessInfo_v2_t, and the third form's elements, too */
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
} process_2;

#define NO_INSTANCE 0xffffffffu /* the GPU is not divided */

typedef struct utilization { /* nvmlUtilization_t */
    unsigned gpu_percent;
    unsigned memory_percent;
} utilization;

typedef struct fabric { /* the head of nvmlGpuFabricInfo_v2_t and v3_t */
    unsigned version;
    unsigned char cluster[16];
    int status;
    unsigned clique;
    unsigned char state;
} fabric;

int nvmlDeviceGetMemoryInfo(void *device, memory *info)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    info->total_bytes = plim_standin_settings()->capacity_bytes;
    info->free_bytes = plim_stage_free_bytes(plim_standin_stage(), number);
    info->used_bytes = info->total_bytes - info->free_bytes;
    return NVML_SUCCESS_CODE;
}

/* The next process that has something of the device, from `*index` on. */
static bool next_process(uint32_t device, size_t *index, process_2 *ret)
{
    plim_stage_figures figures;
    int32_t pid = 0;
    while (plim_stage_process_figures(plim_standin_stage(), *index, device, &pid, &figures)) {
        (*index)++;
        uint64_t used_bytes = 0;
        for (int use = 0; use < PLIM_STAGE_USES; use++) {
            used_bytes += figures.used_bytes[use];
        }
        if (used_bytes > 0) {
            *ret = (process_2){ (unsigned)pid, used_bytes, NO_INSTANCE, NO_INSTANCE };
            return true;
        }
    }
    return false;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_2 *processes)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    (void)plim_stage_free_bytes(plim_standin_stage(), number); /* clears those who ended */
    const unsigned capacity = *count;
    size_t index = 0;
    unsigned found = 0;
    for (process_2 process; next_process(number, &index, &process); found++) {
        if (found < capacity) {
            processes[found] = process;
        }
    }
    *count = found;
    return found <= capacity ? NVML_SUCCESS_CODE : NVML_INSUFFICIENT_SIZE_CODE;
}

int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, process_2 *processes)
{
    return nvmlDeviceGetComputeRunningProcesses_v3(device, count, processes);
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, process_1 *processes)
{
    process_2 all[PLIM_STAGE_PROCESSES_MAX];
    const unsigned capacity = *count;
    *count = PLIM_STAGE_PROCESSES_MAX;
    PLIM_STANDIN_TRY(nvmlDeviceGetComputeRunningProcesses_v3(device, count, all));
    for (unsigned i = 0; i < *count && i < capacity; i++) {
        processes[i] = (process_1){ all[i].pid, all[i].used_bytes };
    }
    return *count <= capacity ? NVML_SUCCESS_CODE : NVML_INSUFFICIENT_SIZE_CODE;
}

PLIM_STANDIN_MODELLED(nvmlDeviceGetUtilizationRates, "devices that compute nothing are never busy")

int nvmlDeviceGetUtilizationRates(void *device, utilization *rates)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    *rates = (utilization){ 0, 0 };
    return NVML_SUCCESS_CODE;
}

PLIM_STANDIN_MODELLED(nvmlDeviceGetP2PStatus, "all devices of a rehearsal reach each other")

int nvmlDeviceGetP2PStatus(void *device, void *peer, int index, int *status)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    PLIM_STANDIN_TRY(plim_standin_nvml_device(peer, &number));
    *status = 0; /* NVML_P2P_STATUS_OK */
    return NVML_SUCCESS_CODE;
}

PLIM_STANDIN_MODELLED(nvmlDeviceGetGpuFabricInfoV, "no device belongs to a fabric")

int nvmlDeviceGetGpuFabricInfoV(void *device, fabric *info)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(plim_standin_nvml_device(device, &number));
    if (plim_standin_settings()->gpu.capability_major < 9) {
        return NVML_NOT_SUPPORTED_CODE;
    }
    info->status = NVML_NOT_SUPPORTED_CODE;
    info->clique = 0;
    info->state = 0; /* NVML_GPU_FABRIC_STATE_NOT_SUPPORTED */
    return NVML_SUCCESS_CODE;
}

#define LINKS "the links between the devices of a rehearsal are not modelled"

PLIM_STANDIN_DECLINED(nvmlDeviceGetNvLinkRemoteDeviceType, NVML_NOT_SUPPORTED_CODE, LINKS)
PLIM_STANDIN_DECLINED(nvmlDeviceGetNvLinkRemotePciInfo_v2, NVML_NOT_SUPPORTED_CODE, LINKS)
PLIM_STANDIN_DECLINED(nvmlDeviceGetTemperature, NVML_NOT_SUPPORTED_CODE, "it has none")
PLIM_STANDIN_DECLINED(nvmlDeviceGetPowerUsage, NVML_NOT_SUPPORTED_CODE, "it uses none")
