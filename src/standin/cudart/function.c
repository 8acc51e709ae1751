/*
 * function.c - what is known of a kernel: attributes and occupancy, never zero.
 *
 * Callers choose their grid from these and divide by them. The figures are those
 * of an unremarkable kernel; they change launch shapes, and so the size of a few
 * scratch buffers, but not what a program allocates otherwise.
 */
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"
#include "standin/cudart/kernels.h"

#include <string.h>

#define CLUSTERS_SINCE 11080

/* cudaFuncAttributes, CUDA Runtime API manual 13.0. */
typedef struct function_attributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int clusters_and_reserved[22]; /* about thread block clusters: six, the rest is reserved */
} function_attributes;

int cudaFuncGetAttributes(function_attributes *attributes, const void *function)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;
    plim_standin_image image;
    if (!plim_standin_kernel_image(function, &image)) {
        return plim_standin_current_error_note(CUDA_NO_KERNEL_IMAGE_CODE);
    }
    const bool is_long = plim_standin_settings()->cuda_version >= CLUSTERS_SINCE;
    memset(attributes, 0,
           is_long ? sizeof(*attributes) : offsetof(function_attributes, clusters_and_reserved));
    attributes->maxThreadsPerBlock = PLIM_STANDIN_BLOCK_MAX;
    attributes->numRegs = 32;
    attributes->ptxVersion = image.ptx_version;
    attributes->binaryVersion = image.binary_version;
    attributes->maxDynamicSharedSizeBytes = (int)gpu->shared_bytes_per_block_optin;
    attributes->preferredShmemCarveout = -1; /* no preference */
    return CUDA_SUCCESS_CODE;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                  size_t shared_bytes)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;

    int fit = threads > 0 ? (int)gpu->threads_per_multiprocessor / threads : 1;
    if (shared_bytes > 0) {
        const size_t reserved = (size_t)plim_standin_device_attribute(
            PLIM_STANDIN_ATTRIBUTE_RESERVED_SHARED, plim_standin_current_device());
        const size_t by_shared = gpu->shared_bytes_per_multiprocessor / (shared_bytes + reserved);
        fit = by_shared < (size_t)fit ? (int)by_shared : fit;
    }
    if (fit > (int)gpu->blocks_per_multiprocessor) {
        fit = (int)gpu->blocks_per_multiprocessor;
    }
    *blocks = fit > 0 ? fit : 1;
    return CUDA_SUCCESS_CODE;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                           int threads, size_t shared_bytes,
                                                           unsigned flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/* There is no kernel that could mind. */
PLIM_STANDIN_NOTHING(cudaFuncSetAttribute)
