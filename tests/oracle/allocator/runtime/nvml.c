/*
 * nvml.c - libnvidia-ml.so.1 that names no process, so that the text of an out-of-memory error
 * does not depend on a real one being installed.
 */
#include <stddef.h>

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *processes);
int nvmlDeviceGetNvLinkRemoteDeviceType(void);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void);
int nvmlSystemGetCudaDriverVersion_v2(int *version);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **device)
{
    (void)id;
    *device = NULL;
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, void *processes)
{
    (void)device;
    (void)processes;
    *count = 0;
    return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void)
{
    return 3; /* NVML_ERROR_NOT_SUPPORTED */
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void)
{
    return 3;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return 0;
}
