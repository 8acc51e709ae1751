/*
 * cuda.h - the few codes of the CUDA driver that its stand-ins return.
 *
 * Numbers of CUresult from the CUDA Driver API manual (docs.nvidia.com/cuda/
 * cuda-driver-api, "Data types used by CUDA driver").
 */
#ifndef PLIM_STANDIN_CUDA_H
#define PLIM_STANDIN_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_INVALID_DEVICE = 101,
    DRIVER_NOT_FOUND = 500,
    DRIVER_NOT_SUPPORTED = 801,
};

#endif
