/*
 * function.c - what is known of a kernel: attributes and occupancy, never zero.
 *
 * Callers choose their grid from these and divide by them. The figures are those
 * of an unremarkable kernel; they change launch shapes, and so the size of a few
 * scratch buffers, but not what a program allocates otherwise.
 */
#include "standin/core/gpu.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

#include <string.h>

/* cudaFuncAttributes, CUDA Runtime API manual 13.0; callers leave room for more. */
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
} function_attributes;

int cudaFuncGetAttributes(function_attributes *attributes, const void *function);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                  size_t shared_bytes);
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                           int threads, size_t shared_bytes,
                                                           unsigned flags);

int cudaFuncGetAttributes(function_attributes *attributes, const void *function)
{
    (void)function;
    const plim_standin_gpu *gpu = plim_standin_gpu_chosen();
    const int version = 10 * gpu->capability_major + gpu->capability_minor;

    memset(attributes, 0, sizeof(*attributes));
    attributes->maxThreadsPerBlock = PLIM_STANDIN_BLOCK_MAX;
    attributes->numRegs = 32;
    attributes->ptxVersion = version;
    attributes->binaryVersion = version;
    attributes->maxDynamicSharedSizeBytes = gpu->shared_bytes_per_block_optin;
    attributes->preferredShmemCarveout = -1; /* no preference */
    return CUDA_SUCCESS_CODE;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                  size_t shared_bytes)
{
    (void)function;
    const plim_standin_gpu *gpu = plim_standin_gpu_chosen();

    int fit = threads > 0 ? gpu->threads_per_multiprocessor / threads : 1;
    if (shared_bytes > 0) {
        const size_t by_shared = (size_t)gpu->shared_bytes_per_multiprocessor / shared_bytes;
        fit = by_shared < (size_t)fit ? (int)by_shared : fit;
    }
    if (fit > gpu->blocks_per_multiprocessor) {
        fit = gpu->blocks_per_multiprocessor;
    }
    *blocks = fit > 0 ? fit : 1;
    return CUDA_SUCCESS_CODE;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                           int threads, size_t shared_bytes,
                                                           unsigned flags)
{
    (void)flags;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes);
}

/* There is no kernel that could mind. */
PLIM_STANDIN_NOTHING(cudaFuncSetAttribute)
