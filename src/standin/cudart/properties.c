/*
 * properties.c - cudaGetDeviceProperties, in the layout of the program's CUDA.
 *
 * CUDA 12's header makes cudaGetDeviceProperties the name of cudaGetDeviceProperties_v2; under the
 * plain name it kept what CUDA 11 had. CUDA 13 has the plain name alone, with a layout of its own.
 */
#include "standin/cudart/properties.h"

#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"
#include "standin/cudart/cudart.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(plim_standin_properties_12) == 1032, "cudaDeviceProp of CUDA 12");
_Static_assert(PLIM_STANDIN_PROPERTIES_11_BYTES == 728, "cudaDeviceProp of CUDA 11");

static void fill_identity(plim_standin_properties *properties, int device)
{
    const plim_stage_settings *settings = plim_standin_settings();
    const plim_gpu *gpu = &settings->gpu;

    (void)snprintf(properties->name, sizeof(properties->name), "%s", gpu->name);
    plim_standin_device_uuid(plim_standin_device_on_stage(device), properties->uuid);
    properties->totalGlobalMem = settings->capacity_bytes;
    properties->major = (int)gpu->capability_major;
    properties->minor = (int)gpu->capability_minor;
    properties->pciBusID = plim_standin_device_attribute(PLIM_STANDIN_ATTRIBUTE_PCI_BUS, device);
    properties->multiProcessorCount = (int)gpu->multiprocessors;
    properties->clockRate = (int)gpu->clock_khz;
    properties->memoryClockRate = (int)gpu->memory_clock_khz;
    properties->memoryBusWidth = (int)gpu->bus_bits;
    properties->l2CacheSize = (int)gpu->l2_bytes;
    properties->persistingL2CacheMaxSize = (int)gpu->l2_bytes / 2;
    properties->maxThreadsPerMultiProcessor = (int)gpu->threads_per_multiprocessor;
    properties->maxBlocksPerMultiProcessor = (int)gpu->blocks_per_multiprocessor;
    properties->sharedMemPerMultiprocessor = gpu->shared_bytes_per_multiprocessor;
    properties->sharedMemPerBlockOptin = gpu->shared_bytes_per_block_optin;
    properties->clusterLaunch = plim_standin_device_attribute(120, device);
}

/* Common to all of these GPUs; attribute.c has the numbers. */
static void fill_limits(plim_standin_properties *properties, int device)
{
    properties->sharedMemPerBlock = (size_t)plim_standin_device_attribute(8, device);
    properties->regsPerBlock = plim_standin_device_attribute(12, device);
    properties->regsPerMultiprocessor = plim_standin_device_attribute(82, device);
    properties->warpSize = PLIM_STANDIN_WARP_SIZE;
    properties->memPitch = (size_t)plim_standin_device_attribute(11, device);
    properties->maxThreadsPerBlock = PLIM_STANDIN_BLOCK_MAX;
    for (int i = 0; i < 3; i++) {
        properties->maxThreadsDim[i] = plim_standin_device_attribute(2 + i, device);
        properties->maxGridSize[i] = plim_standin_device_attribute(5 + i, device);
    }
    const int unknown = 16384; /* what textures may be is unknown here, but never zero */
    properties->maxTexture1D[0] = unknown;
    properties->maxTexture1D[1] = unknown;
    properties->maxTexture1DLinear = unknown;
    for (size_t i = 0; i < sizeof(properties->maxTexture2D) / sizeof(int); i++) {
        properties->maxTexture2D[i] = unknown;
    }
    properties->totalConstMem = (size_t)plim_standin_device_attribute(9, device);
    properties->textureAlignment = (size_t)plim_standin_device_attribute(14, device);
    properties->texturePitchAlignment = 32;
    properties->surfaceAlignment = (size_t)plim_standin_device_attribute(30, device);
    properties->reservedSharedMemPerBlock = (size_t)(size_t)plim_standin_device_attribute(
        PLIM_STANDIN_ATTRIBUTE_RESERVED_SHARED, device);
    properties->asyncEngineCount = plim_standin_device_attribute(40, device);
    properties->singleToDoublePrecisionPerfRatio = plim_standin_device_attribute(87, device);
}

static void fill_support(plim_standin_properties *properties)
{
    properties->deviceOverlap = 1;
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
    properties->cooperativeMultiDeviceLaunch = 1;
    properties->hostRegisterSupported = 1;
    properties->memoryPoolsSupported = 1;
}

static void fill(plim_standin_properties *properties, int device)
{
    memset(properties, 0, sizeof(*properties));
    fill_identity(properties, device);
    fill_limits(properties, device);
    fill_support(properties);
}

#define COPY_FIELD(type, name, dimension) memcpy(&to->name, &from->name, sizeof(to->name));
#define COPY_NOTHING(type, name, dimension)

static void lay_out_12(const plim_standin_properties *from, plim_standin_properties_12 *to)
{
    memset(to, 0, sizeof(*to));
    PLIM_STANDIN_PROPERTIES(COPY_FIELD, COPY_FIELD, COPY_NOTHING)
}

static void lay_out_13(const plim_standin_properties *from, plim_standin_properties_13 *to)
{
    memset(to, 0, sizeof(*to));
    PLIM_STANDIN_PROPERTIES(COPY_FIELD, COPY_NOTHING, COPY_FIELD)
}

int cudaGetDeviceProperties_v2(plim_standin_properties_12 *properties, int device)
{
    if (!plim_standin_is_device(device)) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    plim_standin_properties all;
    fill(&all, device);
    lay_out_12(&all, properties);
    return CUDA_SUCCESS_CODE;
}

int cudaGetDeviceProperties(void *properties, int device)
{
    if (!plim_standin_is_device(device)) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    if (plim_standin_settings()->cuda_version < 13000) {
        plim_standin_properties_12 of_12;
        (void)cudaGetDeviceProperties_v2(&of_12, device);
        memcpy(properties, &of_12, PLIM_STANDIN_PROPERTIES_11_BYTES);
        return CUDA_SUCCESS_CODE;
    }
    plim_standin_properties all;
    fill(&all, device);
    lay_out_13(&all, properties);
    return CUDA_SUCCESS_CODE;
}
