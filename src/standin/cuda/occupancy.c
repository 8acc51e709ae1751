/*
 * occupancy.c - how many blocks of a kernel run at once: from its registers and shared memory and
 * the GPU's figures, as NVIDIA's cuda_occupancy.h explains.
 */
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/cuda/modules.h"

#define CLUSTER_MAX   8  /* blocks; every GPU that has clusters */
#define CLUSTERS_FROM 9u /* capability */

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                size_t dynamic_bytes)
{
    if (blocks == NULL || threads <= 0) {
        return DRIVER_INVALID_VALUE;
    }
    const plim_standin_kernel_facts facts = plim_standin_kernel_get_facts(function);
    *blocks = (int)plim_standin_kernel_blocks(&facts, (unsigned)threads, dynamic_bytes);
    return DRIVER_SUCCESS;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function,
                                                         int threads, size_t dynamic_bytes,
                                                         unsigned flags)
{
    /* flags: about caching globals in L1, which changes nothing since Volta */
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_bytes);
}

int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *function,
                                     size_t (*dynamic_bytes_of)(int), size_t dynamic_bytes,
                                     int block_limit)
{
    const plim_standin_kernel_facts facts = plim_standin_kernel_get_facts(function);
    unsigned largest = plim_standin_kernel_threads_max(&facts);
    if (block_limit > 0 && (unsigned)block_limit < largest) {
        largest = (unsigned)block_limit;
    }
    unsigned best_threads = 0;
    unsigned best_blocks = 0;
    for (unsigned threads = largest / PLIM_WARP_THREADS * PLIM_WARP_THREADS;
         threads >= PLIM_WARP_THREADS; threads -= PLIM_WARP_THREADS) {
        const size_t bytes =
            dynamic_bytes_of != NULL ? dynamic_bytes_of((int)threads) : dynamic_bytes;
        const unsigned blocks = plim_standin_kernel_blocks(&facts, threads, bytes);
        if (blocks * threads > best_blocks * best_threads) {
            best_threads = threads;
            best_blocks = blocks;
        }
    }
    *block = (int)best_threads;
    *grid = (int)(best_blocks * plim_standin_settings()->gpu.multiprocessors);
    return best_threads > 0 ? DRIVER_SUCCESS : DRIVER_INVALID_VALUE;
}

int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks,
                                            int threads)
{
    if (bytes == NULL || blocks <= 0) {
        return DRIVER_INVALID_VALUE;
    }
    const plim_standin_kernel_facts facts = plim_standin_kernel_get_facts(function);
    const plim_gpu *const gpu = &plim_standin_settings()->gpu;
    int64_t room = (int64_t)gpu->shared_bytes_per_multiprocessor / blocks;
    room -= gpu->capability_major >= 8 ? PLIM_SHARED_RESERVED : 0;
    room = room < gpu->shared_bytes_per_block_optin ? room : gpu->shared_bytes_per_block_optin;
    room -= (int64_t)facts.shared_bytes;
    *bytes = room > 0 ? (size_t)room : 0;
    return DRIVER_SUCCESS;
}

/* Clusters lie within groups of multiprocessors whose sizes differ from one GPU to the next. */
int cuOccupancyMaxActiveClusters(int *clusters, const void *function, const void *config)
{
    const plim_gpu *const gpu = &plim_standin_settings()->gpu;
    *clusters =
        gpu->capability_major >= CLUSTERS_FROM ? (int)gpu->multiprocessors / CLUSTER_MAX : 0;
    return DRIVER_SUCCESS;
}

int cuOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const void *config)
{
    *blocks = plim_standin_settings()->gpu.capability_major >= CLUSTERS_FROM ? CLUSTER_MAX : 1;
    return DRIVER_SUCCESS;
}

PLIM_STANDIN_MODELLED(cuOccupancyMaxActiveClusters, "an eighth of the multiprocessors")
