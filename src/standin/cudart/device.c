/*
 * device.c - which devices there are and what they can do.
 *
 * Every question is answered from one table (core/gpu.h), so that properties
 * and attributes cannot disagree.
 */
#include "standin/core/current.h"
#include "standin/core/gpu.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"
#include "standin/cudart/properties.h"

#include <stdio.h>
#include <string.h>

int cudaGetDeviceCount(int *count);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cudaGetDeviceProperties(plim_standin_properties *properties, int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaDeviceGetPCIBusId(char *text, int bytes, int device);
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
int cudaDeviceCanAccessPeer(int *can, int device, int peer);
int cudaDriverGetVersion(int *version);
int cudaRuntimeGetVersion(int *version);

static int require_device(int device)
{
    const int is_known = device >= 0 && device < plim_standin_device_count();
    return plim_standin_current_error_note(is_known ? CUDA_SUCCESS_CODE : CUDA_INVALID_DEVICE_CODE);
}

int cudaGetDeviceCount(int *count)
{
    *count = plim_standin_device_count();
    return CUDA_SUCCESS_CODE;
}

int cudaGetDevice(int *device)
{
    *device = plim_standin_current_device();
    return CUDA_SUCCESS_CODE;
}

int cudaSetDevice(int device)
{
    if (!plim_standin_current_device_set(device)) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    return CUDA_SUCCESS_CODE;
}

static void fill_identity(plim_standin_properties *properties, int device)
{
    const plim_standin_gpu *gpu = plim_standin_gpu_chosen();

    (void)snprintf(properties->name, sizeof(properties->name), "%s", gpu->name);
    (void)snprintf((char *)properties->uuid, sizeof(properties->uuid), "standin-%d", device);
    properties->totalGlobalMem = gpu->memory_bytes;
    properties->major = gpu->capability_major;
    properties->minor = gpu->capability_minor;
    properties->pciBusID = plim_standin_gpu_attribute(33, device);
    properties->multiProcessorCount = gpu->multiprocessors;
    properties->memoryBusWidth = gpu->bus_bits;
    properties->l2CacheSize = gpu->l2_bytes;
    properties->persistingL2CacheMaxSize = gpu->l2_bytes / 2;
    properties->maxThreadsPerMultiProcessor = gpu->threads_per_multiprocessor;
    properties->maxBlocksPerMultiProcessor = gpu->blocks_per_multiprocessor;
    properties->sharedMemPerMultiprocessor = (size_t)gpu->shared_bytes_per_multiprocessor;
    properties->sharedMemPerBlockOptin = (size_t)gpu->shared_bytes_per_block_optin;
    properties->clusterLaunch = plim_standin_gpu_attribute(120, device);
}

/* What all of these GPUs have in common; attribute.c knows the numbers. */
static void fill_limits(plim_standin_properties *properties, int device)
{
    properties->sharedMemPerBlock = (size_t)plim_standin_gpu_attribute(8, device);
    properties->regsPerBlock = plim_standin_gpu_attribute(12, device);
    properties->regsPerMultiprocessor = plim_standin_gpu_attribute(82, device);
    properties->warpSize = PLIM_STANDIN_WARP_SIZE;
    properties->memPitch = (size_t)plim_standin_gpu_attribute(11, device);
    properties->maxThreadsPerBlock = plim_standin_gpu_attribute(1, device);
    for (int i = 0; i < 3; i++) {
        properties->maxThreadsDim[i] = plim_standin_gpu_attribute(2 + i, device);
        properties->maxGridSize[i] = plim_standin_gpu_attribute(5 + i, device);
    }
    for (size_t i = 0; i < sizeof(properties->textureAndSurfaceLimits) / sizeof(int); i++) {
        properties->textureAndSurfaceLimits[i] = 16384; /* unknown here, but never zero */
    }
    properties->totalConstMem = (size_t)plim_standin_gpu_attribute(9, device);
    properties->textureAlignment = (size_t)plim_standin_gpu_attribute(14, device);
    properties->texturePitchAlignment = 32;
    properties->surfaceAlignment = (size_t)plim_standin_gpu_attribute(30, device);
    properties->reservedSharedMemPerBlock = (size_t)plim_standin_gpu_attribute(111, device);
    properties->asyncEngineCount = plim_standin_gpu_attribute(40, device);
}

static void fill_support(plim_standin_properties *properties)
{
    properties->canMapHostMemory = 1;
    properties->concurrentKernels = 1;
    properties->unifiedAddressing = 1;
    properties->streamPrioritiesSupported = 1;
    properties->globalL1CacheSupported = 1;
    properties->localL1CacheSupported = 1;
    properties->managedMemory = 1;
    properties->concurrentManagedAccess = 1;
    properties->computePreemptionSupported = 1;
    properties->canUseHostPointerForRegisteredMem = 1;
    properties->cooperativeLaunch = 1;
    properties->hostRegisterSupported = 1;
    properties->memoryPoolsSupported = 1;
}

int cudaGetDeviceProperties(plim_standin_properties *properties, int device)
{
    if (require_device(device) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    memset(properties, 0, sizeof(*properties));
    fill_identity(properties, device);
    fill_limits(properties, device);
    fill_support(properties);
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    if (require_device(device) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    *value = plim_standin_gpu_attribute(attribute, device);
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    if (require_device(device) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    (void)snprintf(text, (size_t)bytes, "0000:%02x:00.0", plim_standin_gpu_attribute(33, device));
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5; /* what current drivers say: six levels, lower is more urgent */
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = device != peer; /* all in one box, all linked */
    return CUDA_SUCCESS_CODE;
}

int cudaDriverGetVersion(int *version)
{
    *version = PLIM_STANDIN_CUDA_VERSION;
    return CUDA_SUCCESS_CODE;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = PLIM_STANDIN_CUDA_VERSION;
    return CUDA_SUCCESS_CODE;
}

/* Peers are always reachable, and devices always idle. */
PLIM_STANDIN_NOTHING(cudaDeviceEnablePeerAccess)
PLIM_STANDIN_NOTHING(cudaDeviceSynchronize)
PLIM_STANDIN_NOTHING(cudaProfilerStart)
PLIM_STANDIN_NOTHING(cudaProfilerStop)
