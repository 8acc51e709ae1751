/*
 * nvml.c - the management library: devices, their names, and how they are used.
 *
 * No program links it; PyTorch opens it if it is there, and counts devices with it. Without ours a
 * machine that has the real one would mix its own devices in. It shows all devices, whatever
 * CUDA_VISIBLE_DEVICES says. Numbers and shapes from the NVML API reference manual
 * (docs.nvidia.com/deploy/nvml-api).
 */
#include "standin/core/devices.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NVML_UUID_BYTES 41 /* "GPU-", 36 characters and the end */

enum {
    NVML_SUCCESS_CODE = 0,
    NVML_INVALID_ARGUMENT_CODE = 2,
    NVML_NOT_SUPPORTED_CODE = 3,
    NVML_NOT_FOUND_CODE = 6,
    NVML_INSUFFICIENT_SIZE_CODE = 7,
    NVML_VERSION_MISMATCH_CODE = 25, /* NVML_ERROR_ARGUMENT_VERSION_MISMATCH */
};

/* ---- devices --------------------------------------------------------------------------------- */

/* A handle is the index on the stage plus one, so that it is not NULL. Returns a code. */
static int device_of(const void *handle, uint32_t *ret)
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
    PLIM_STANDIN_TRY(device_of(device, &number));
    *index = number;
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetName(void *device, char *text, unsigned bytes)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(device_of(device, &number));
    (void)snprintf(text, bytes, "%s", plim_standin_settings()->gpu.name);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned bytes)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(device_of(device, &number));
    if (bytes < NVML_UUID_BYTES) {
        return NVML_INSUFFICIENT_SIZE_CODE;
    }
    plim_standin_device_uuid_text(number, text, bytes);
    return NVML_SUCCESS_CODE;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(device_of(device, &number));
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
    case NVML_VERSION_MISMATCH_CODE:
        return "Argument Version Mismatch";
    default:
        return "Unknown Error";
    }
}

/* There is nothing to start or to stop. */
PLIM_STANDIN_NOTHING(nvmlInit)
PLIM_STANDIN_NOTHING(nvmlInitWithFlags)
PLIM_STANDIN_NOTHING(nvmlInit_v2)
PLIM_STANDIN_NOTHING(nvmlShutdown)

/* ---- memory, processes, load ----------------------------------------------------------------- */

/*
 * PyTorch asks for the list of processes for the text of an out-of-memory error.
 */

typedef struct memory { /* nvmlMemory_t */
    unsigned long long total_bytes;
    unsigned long long free_bytes;
    unsigned long long used_bytes;
} memory;

typedef struct memory_2 { /* nvmlMemory_v2_t */
    unsigned version;
    unsigned long long total_bytes;
    unsigned long long reserved_bytes;
    unsigned long long free_bytes;
    unsigned long long used_bytes;
} memory_2;

#define MEMORY_2_VERSION ((unsigned)sizeof(memory_2) | 2u << 24) /* NVML_STRUCT_VERSION */

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

/* The second form counts what the driver keeps to itself apart; the total has it in both. */
int nvmlDeviceGetMemoryInfo_v2(void *device, memory_2 *info)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(device_of(device, &number));
    if (info->version != MEMORY_2_VERSION) {
        return NVML_VERSION_MISMATCH_CODE;
    }
    const plim_stage_settings *settings = plim_standin_settings();
    info->reserved_bytes = settings->gpu.driver_bytes;
    info->total_bytes = settings->capacity_bytes + info->reserved_bytes;
    info->free_bytes = plim_stage_free_bytes(plim_standin_stage(), number);
    info->used_bytes = settings->capacity_bytes - info->free_bytes;
    return NVML_SUCCESS_CODE;
}

/* The first form counts it as used, and so does nvidia-smi before driver 510. */
int nvmlDeviceGetMemoryInfo(void *device, memory *info)
{
    memory_2 all = { .version = MEMORY_2_VERSION };
    PLIM_STANDIN_TRY(nvmlDeviceGetMemoryInfo_v2(device, &all));
    info->total_bytes = all.total_bytes;
    info->free_bytes = all.free_bytes;
    info->used_bytes = all.used_bytes + all.reserved_bytes;
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
    PLIM_STANDIN_TRY(device_of(device, &number));
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
    PLIM_STANDIN_TRY(device_of(device, &number));
    *rates = (utilization){ 0, 0 };
    return NVML_SUCCESS_CODE;
}

PLIM_STANDIN_MODELLED(nvmlDeviceGetP2PStatus, "all devices of a rehearsal reach each other")

int nvmlDeviceGetP2PStatus(void *device, void *peer, int index, int *status)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(device_of(device, &number));
    PLIM_STANDIN_TRY(device_of(peer, &number));
    *status = 0; /* NVML_P2P_STATUS_OK */
    return NVML_SUCCESS_CODE;
}

PLIM_STANDIN_MODELLED(nvmlDeviceGetGpuFabricInfoV, "no device belongs to a fabric")

int nvmlDeviceGetGpuFabricInfoV(void *device, fabric *info)
{
    uint32_t number = 0;
    PLIM_STANDIN_TRY(device_of(device, &number));
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
