/*
 * footprint.h - what the driver and the libraries take of a device for themselves.
 *
 * Once per process and device: the primary context with the first call that needs one, a
 * library's kernels and tables with its first handle. How much is a figure of the GPU, but for
 * the kernels of all libraries that come with the context where they are loaded eagerly.
 */
#ifndef PLIMSOLL_STANDIN_CORE_FOOTPRINT_H
#define PLIMSOLL_STANDIN_CORE_FOOTPRINT_H

#include <stdbool.h>

typedef enum plim_standin_library {
    PLIM_STANDIN_CUBLAS,
    PLIM_STANDIN_CUDNN,
    PLIM_STANDIN_NCCL,
    PLIM_STANDIN_LIBRARIES
} plim_standin_library;

/* Makes sure that the context is there. False: the device has no room, or this is an orphan. */
bool plim_standin_footprint_context(int device);
bool plim_standin_footprint_has_context(int device);

/* The kernels that a program's first launch loads, on the current device. Where there is no room
 * for them it runs without. */
void plim_standin_footprint_kernels(void);

/* The same for a library on the current device, which gets its context too. */
bool plim_standin_footprint_library(plim_standin_library library);

/* Was this process forked from one that had a context? Then CUDA does not work in it, as with the
 * real one (cudaErrorInitializationError). */
bool plim_standin_footprint_is_orphan(void);

#endif
