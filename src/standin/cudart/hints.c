/*
 * hints.c - what a program tells the runtime of how it will use memory and caches.
 *
 * PyTorch itself calls none of these, but extensions of it do: bitsandbytes moves the states of its
 * paged optimizers. Limits and clusters are the driver's, which the runtime asks, too.
 */
#include "standin/core/current.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

int cuCtxGetLimit(size_t *value, int limit);
int cuCtxSetLimit(int limit, size_t value);
int cuOccupancyMaxActiveClusters(int *clusters, const void *function, const void *config);
int cuOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const void *config);

PLIM_STANDIN_MODELLED(cudaMemPrefetchAsync, "managed memory stays in host memory")
PLIM_STANDIN_MODELLED(cudaMemAdvise, "managed memory stays in host memory")
PLIM_STANDIN_MODELLED(cudaDeviceSetLimit, "kept, but takes no memory")
PLIM_STANDIN_MODELLED(cudaOccupancyMaxActiveClusters, "an eighth of the multiprocessors")

/* Where to, by what stream and why: the parameters that follow. */
int cudaMemPrefetchAsync(const void *address, size_t bytes)
{
    return plim_standin_require_context();
}

int cudaMemAdvise(const void *address, size_t bytes)
{
    return plim_standin_require_context();
}

/* The driver's errors have the runtime's numbers here: invalid value, out of memory. */
int cudaDeviceGetLimit(size_t *value, int limit)
{
    const int error = plim_standin_require_context();
    return error != CUDA_SUCCESS_CODE
               ? error
               : plim_standin_current_error_note(cuCtxGetLimit(value, limit));
}

int cudaDeviceSetLimit(int limit, size_t value)
{
    const int error = plim_standin_require_context();
    return error != CUDA_SUCCESS_CODE
               ? error
               : plim_standin_current_error_note(cuCtxSetLimit(limit, value));
}

int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const void *config)
{
    return cuOccupancyMaxActiveClusters(clusters, function, config);
}

int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const void *config)
{
    return cuOccupancyMaxPotentialClusterSize(blocks, function, config);
}

PLIM_STANDIN_NOTHING(cudaFuncSetCacheConfig)
PLIM_STANDIN_NOTHING(cudaDeviceSetCacheConfig)
PLIM_STANDIN_NOTHING(cudaDeviceFlushGPUDirectRDMAWrites)
