/*
 * nvml.h - codes and handles of the management library, from the NVML API reference manual.
 */
#ifndef PLIMSOLL_STANDIN_NVIDIA_ML_NVML_H
#define PLIMSOLL_STANDIN_NVIDIA_ML_NVML_H

#include <stdint.h>

#define NVML_UUID_BYTES 41 /* "GPU-", 36 characters and the end */

enum {
    NVML_SUCCESS_CODE = 0,
    NVML_INVALID_ARGUMENT_CODE = 2,
    NVML_NOT_SUPPORTED_CODE = 3,
    NVML_NOT_FOUND_CODE = 6,
    NVML_INSUFFICIENT_SIZE_CODE = 7,
};

/* devices.c: a handle is the index on the stage plus one, so that it is not NULL. A code. */
int plim_standin_nvml_device(const void *handle, uint32_t *ret);

#endif
