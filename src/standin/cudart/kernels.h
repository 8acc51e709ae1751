/*
 * kernels.h - which kernels a program has, and for which GPUs they were compiled.
 */
#ifndef PLIMSOLL_STANDIN_CUDART_KERNELS_H
#define PLIMSOLL_STANDIN_CUDART_KERNELS_H

#include <stdbool.h>

/* What a driver would load of a kernel. */
typedef struct plim_standin_image {
    int ptx_version;    /* 10 * major + minor of the architecture it was compiled for */
    int binary_version; /* of what runs: the GPU's own where the driver compiles it */
} plim_standin_image;

/*
 * The image of a kernel that fits the chosen GPU best.
 *
 * function  the address of the kernel's host side
 * returns   false: the program has none that this GPU can run
 */
bool plim_standin_kernel_image(const void *function, plim_standin_image *ret);

#endif
