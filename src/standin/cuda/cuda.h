/*
 * cuda.h - the few codes of the CUDA driver that its stand-ins return.
 *
 * Numbers of CUresult from the CUDA Driver API manual (docs.nvidia.com/cuda/
 * cuda-driver-api, "Data types used by CUDA driver").
 */
#ifndef PLIMSOLL_STANDIN_CUDA_CUDA_H
#define PLIMSOLL_STANDIN_CUDA_CUDA_H

#include "standin/core/memory.h"

#include <stddef.h>
#include <stdint.h>

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_NO_DEVICE = 100,
    DRIVER_INVALID_DEVICE = 101,
    DRIVER_NOT_FOUND = 500,
    DRIVER_NOT_SUPPORTED = 801,
};

/* entry_point.c: a function of the driver by its base name, or NULL, which is noted on the stage.
 */
void *plim_standin_driver_function(const char *symbol);

/* memory.c: as a code of the driver. */
int plim_standin_driver_error(plim_standin_memory_status status);

#endif
