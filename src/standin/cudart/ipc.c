/*
 * ipc.c - device memory handed to other processes, which is not stood in for: what one process
 * knows of its memory is not known to another.
 */
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"

#define REASON "memory of a device cannot be handed to another process"

PLIM_STANDIN_REFUSED(cudaIpcGetMemHandle, CUDA_NOT_SUPPORTED_CODE, REASON)
PLIM_STANDIN_REFUSED(cudaIpcOpenMemHandle, CUDA_NOT_SUPPORTED_CODE, REASON)
PLIM_STANDIN_REFUSED(cudaIpcCloseMemHandle, CUDA_NOT_SUPPORTED_CODE, REASON)
