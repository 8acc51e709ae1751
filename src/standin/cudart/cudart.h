/*
 * cudart.h - the few types of the CUDA runtime that its stand-ins exchange with callers.
 *
 * Written from the CUDA Runtime API manuals for CUDA 12 and 13 (docs.nvidia.com/cuda/
 * cuda-runtime-api): names, numbers and the order of fields are its facts. Only
 * what a stand-in reads or writes is declared. Handles are plain pointers here.
 */
#ifndef PLIMSOLL_STANDIN_CUDART_CUDART_H
#define PLIMSOLL_STANDIN_CUDART_CUDART_H

#include "standin/core/memory.h"
#include "standin/work/work.h"

#include <stddef.h>
#include <stdint.h>

typedef struct plim_standin_dim3 {
    unsigned x;
    unsigned y;
    unsigned z;
} plim_standin_dim3;

/* cudaError_t; the whole enumeration is in the manual under "Data types". */
enum {
    CUDA_SUCCESS_CODE = 0,
    CUDA_INVALID_VALUE_CODE = 1,
    CUDA_OUT_OF_MEMORY_CODE = 2,
    CUDA_INITIALIZATION_CODE = 3,
    CUDA_INVALID_SYMBOL_CODE = 13,
    CUDA_NO_DEVICE_CODE = 100,
    CUDA_INVALID_DEVICE_CODE = 101,
    CUDA_NO_KERNEL_IMAGE_CODE = 209,
    CUDA_PEER_UNSUPPORTED_CODE = 217,
    CUDA_PEER_ALREADY_CODE = 704,
    CUDA_PEER_NOT_ENABLED_CODE = 705,
    CUDA_HOST_REGISTERED_CODE = 712,
    CUDA_HOST_UNREGISTERED_CODE = 713,
    CUDA_NOT_SUPPORTED_CODE = 801,
};

typedef enum plim_standin_pointer_kind { /* cudaMemoryType */
                                         PLIM_STANDIN_POINTER_UNREGISTERED = 0,
                                         PLIM_STANDIN_POINTER_HOST = 1,
                                         PLIM_STANDIN_POINTER_DEVICE = 2,
                                         PLIM_STANDIN_POINTER_MANAGED = 3,
} plim_standin_pointer_kind;

/* error.c: the context of the current device is made if it is not there yet; where there is no room
 * for it, that is noted and returned as out of memory. */
int plim_standin_require_context(void);

/* error.c: the same for what captures cannot see, so that it may be forbidden while one goes on. */
int plim_standin_require_act(void);
/* Puts work on a stream, after the context; the error is remembered. */
int plim_standin_put(void *stream, const plim_standin_work *work);

/* error.c: as an error of the runtime, noted for cudaGetLastError(). */
int plim_standin_memory_error(plim_standin_memory_status status);

/* memory.c: what kind of host memory is it? Never PLIM_STANDIN_POINTER_DEVICE. */
plim_standin_pointer_kind plim_standin_host_kind(const void *address);
/* memory.c: false if it is not the start of managed memory. */
int plim_standin_host_free_managed(void *address);

#endif
