/*
 * launch.c - the driver's launches, which compute nothing, and what is known of a function.
 */
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/core/tally.h"
#include "standin/cuda/cuda.h"
#include "standin/cuda/modules.h"
#include "standin/work/work.h"

/* CUlaunchConfig */
typedef struct launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
} launch_config;

/* CUfunction_attribute, CUDA Driver API manual */
enum {
    FUNCTION_MAX_THREADS = 0,
    FUNCTION_SHARED = 1,
    FUNCTION_CONSTANT = 2,
    FUNCTION_LOCAL = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_PTX_VERSION = 5,
    FUNCTION_BINARY_VERSION = 6,
    FUNCTION_CACHE_MODE = 7,
    FUNCTION_MAX_DYNAMIC_SHARED = 8,
    FUNCTION_CARVEOUT = 9,
    FUNCTION_ATTRIBUTES = 16
};

static int launch(void *stream, const plim_standin_kernel_params *params)
{
    if (params->function == NULL) {
        return PLIM_WORK_INVALID_HANDLE;
    }
    for (int i = 0; i < 3; i++) {
        if (params->grid[i] == 0 || params->block[i] == 0) {
            return PLIM_WORK_INVALID_VALUE;
        }
    }
    const char *name = plim_standin_kernel_name(params->function);
    if (name != NULL) {
        plim_standin_tally(params->function, name, 1);
    }
    const plim_standin_work work = plim_standin_kernel_work(params);
    return plim_standin_submit(stream, &work);
}

int cuLaunchKernel(const void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **arguments, void **extra)
{
    const plim_standin_kernel_params params = { .function = function,
                                                .grid = { grid_x, grid_y, grid_z },
                                                .block = { block_x, block_y, block_z },
                                                .shared_bytes = shared_bytes };
    return launch(stream, &params);
}

int cuLaunchCooperativeKernel(const void *function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void *stream, void **arguments)
{
    return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                          stream, arguments, NULL);
}

int cuLaunchKernelEx(const launch_config *config, const void *function, void **arguments,
                     void **extra)
{
    if (config == NULL) {
        return DRIVER_INVALID_VALUE;
    }
    const plim_standin_kernel_params params = {
        .function = function,
        .grid = { config->grid[0], config->grid[1], config->grid[2] },
        .block = { config->block[0], config->block[1], config->block[2] },
        .shared_bytes = config->shared_bytes,
    };
    return launch(config->stream, &params);
}

int cuFuncGetAttribute(int *value, int attribute, const void *function)
{
    if (value == NULL || attribute < 0 || attribute >= FUNCTION_ATTRIBUTES) {
        return DRIVER_INVALID_VALUE;
    }
    const plim_standin_kernel_facts facts = plim_standin_kernel_get_facts(function);
    const plim_gpu *const gpu = &plim_standin_settings()->gpu;
    const uint32_t shared_max = gpu->shared_bytes_per_block_optin;

    switch (attribute) {
    case FUNCTION_MAX_THREADS:
        *value = (int)plim_standin_kernel_threads_max(&facts);
        break;
    case FUNCTION_SHARED:
        *value = (int)facts.shared_bytes;
        break;
    case FUNCTION_CONSTANT:
        *value = (int)facts.constant_bytes;
        break;
    case FUNCTION_LOCAL:
        *value = (int)facts.local_bytes;
        break;
    case FUNCTION_REGISTERS:
        *value = (int)facts.registers;
        break;
    case FUNCTION_PTX_VERSION:
    case FUNCTION_BINARY_VERSION:
        *value = (int)(10 * gpu->capability_major + gpu->capability_minor);
        break;
    case FUNCTION_MAX_DYNAMIC_SHARED: /* as if the program had requested all of it already */
        *value = facts.shared_bytes < shared_max ? (int)(shared_max - facts.shared_bytes) : 0;
        break;
    case FUNCTION_CARVEOUT:
        *value = -1; /* no preference */
        break;
    case FUNCTION_CACHE_MODE:
    default: /* clusters: none required */
        *value = 0;
        break;
    }
    return DRIVER_SUCCESS;
}

int cuKernelGetAttribute(int *value, int attribute, const void *kernel, int device)
{
    return cuFuncGetAttribute(value, attribute, kernel);
}

PLIM_STANDIN_MODELLED(cuFuncGetAttribute, "32 registers for kernels other than a cubin's")

/* A descriptor of 128 bytes that only kernels read. */
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *element_strides, int interleave, int swizzle,
                           int promotion, int fill)
{
    const bool is_right = map != NULL && rank >= 1 && rank <= 5; /* the manual's bounds */
    return is_right ? DRIVER_SUCCESS : DRIVER_INVALID_VALUE;
}

/* There is no kernel that could mind. */
PLIM_STANDIN_NOTHING(cuFuncSetAttribute)
PLIM_STANDIN_NOTHING(cuFuncSetCacheConfig)
PLIM_STANDIN_NOTHING(cuFuncSetSharedMemConfig)
PLIM_STANDIN_NOTHING(cuKernelSetAttribute)
PLIM_STANDIN_NOTHING(cuKernelSetCacheConfig)
PLIM_STANDIN_NOTHING(cuTensorMapEncodeIm2col)
PLIM_STANDIN_NOTHING(cuTensorMapReplaceAddress)

/* ---- how many blocks of a kernel run at once ------------------------------------------------- */

/*
 * the GPU's figures, as NVIDIA's cuda_occupancy.h explains.
 */

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
