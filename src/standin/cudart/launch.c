/*
 * launch.c - launches that do nothing, and the stack that carries their configuration.
 *
 * The compiler turns kernel<<<grid, block, shared, stream>>>(...) into a push of
 * the configuration, and the host side of the kernel pops it before it launches.
 * A pop that gave back something else would reach launch checks, so the stack is
 * real and the launches are not.
 */
#include "standin/core/stub.h"
#include "standin/core/trace.h"
#include "standin/cudart/cudart.h"

#define DEPTH_MAX 16 /* a launch inside the arguments of a launch is already rare */

unsigned __cudaPushCallConfiguration(plim_standin_dim3 grid, plim_standin_dim3 block,
                                     size_t shared_bytes, void *stream);
int __cudaPopCallConfiguration(plim_standin_dim3 *grid, plim_standin_dim3 *block,
                               size_t *shared_bytes, void **stream);

typedef struct configuration {
    plim_standin_dim3 grid;
    plim_standin_dim3 block;
    size_t shared_bytes;
    void *stream;
} configuration;

static _Thread_local configuration stack[DEPTH_MAX];
static _Thread_local int depth;

unsigned __cudaPushCallConfiguration(plim_standin_dim3 grid, plim_standin_dim3 block,
                                     size_t shared_bytes, void *stream)
{
    if (depth == DEPTH_MAX) {
        plim_standin_trace("launch configuration refused: %d of them are waiting", depth);
        return 1; /* not zero: the caller then skips the launch */
    }
    stack[depth] = (configuration){ grid, block, shared_bytes, stream };
    depth++;
    return 0;
}

int __cudaPopCallConfiguration(plim_standin_dim3 *grid, plim_standin_dim3 *block,
                               size_t *shared_bytes, void **stream)
{
    if (depth == 0) {
        return CUDA_INVALID_VALUE_CODE;
    }
    depth--;
    *grid = stack[depth].grid;
    *block = stack[depth].block;
    *shared_bytes = stack[depth].shared_bytes;
    *stream = stack[depth].stream;
    return CUDA_SUCCESS_CODE;
}

/* Kernels compute nothing; see copy.h for what the host then reads. */
PLIM_STANDIN_NOTHING(__cudaLaunchKernel)
PLIM_STANDIN_NOTHING(cudaLaunchCooperativeKernel)
PLIM_STANDIN_NOTHING(cudaLaunchKernel)
PLIM_STANDIN_NOTHING(cudaLaunchKernelExC)
