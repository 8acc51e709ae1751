/*
 * cudart.h - the few types of the CUDA runtime that its stand-ins exchange with callers.
 *
 * Written from the CUDA Runtime API manual for CUDA 13.0 (docs.nvidia.com/cuda/
 * cuda-runtime-api): names, numbers and the order of fields are its facts. Only
 * what a stand-in reads or writes is declared. Handles are plain pointers here.
 */
#ifndef PLIM_STANDIN_CUDART_H
#define PLIM_STANDIN_CUDART_H

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
    CUDA_INVALID_DEVICE_CODE = 101,
    CUDA_PEER_ALREADY_CODE = 704,
    CUDA_HOST_REGISTERED_CODE = 712,
    CUDA_HOST_UNREGISTERED_CODE = 713,
    CUDA_NOT_SUPPORTED_CODE = 801,
};

typedef enum plim_standin_pointer_kind { /* cudaMemoryType */
                                         PLIM_STANDIN_POINTER_UNREGISTERED = 0,
                                         PLIM_STANDIN_POINTER_HOST = 1,
                                         PLIM_STANDIN_POINTER_DEVICE = 2,
} plim_standin_pointer_kind;

/* host_memory.c: is `address` in memory that was pinned or registered here? */
int plim_standin_host_is_pinned(const void *address);

#endif
