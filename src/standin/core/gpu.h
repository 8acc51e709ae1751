/*
 * gpu.h - which GPU the stand-ins pretend to be.
 *
 * One kind of GPU, `device_count` times. Chosen once, when the first stand-in
 * asks, from the environment:
 *
 *   PLIM_STANDIN_GPU       a name of the table in gpu.c; default "h100"
 *   PLIM_STANDIN_CAPACITY  bytes of device memory, decimal, at most
 *                          PLIM_STANDIN_CAPACITY_BYTES_MAX; default the table's
 *   PLIM_STANDIN_DEVICES   how many of them, 1 .. PLIM_STANDIN_DEVICES_MAX; default 1
 *
 * A value that cannot be understood ends the process: a recording of the wrong
 * GPU would be worse than none.
 */
#ifndef PLIM_STANDIN_CORE_GPU_H
#define PLIM_STANDIN_CORE_GPU_H

#include <stdbool.h>
#include <stdint.h>

#define PLIM_STANDIN_DEVICES_MAX        16
#define PLIM_STANDIN_CAPACITY_BYTES_MAX (UINT64_C(256) << 30)
#define PLIM_STANDIN_CUDA_VERSION       13000 /* 1000 * major + 10 * minor, as the wheel's */
#define PLIM_STANDIN_WARP_SIZE          32
#define PLIM_STANDIN_BLOCK_MAX          1024 /* threads; every GPU since 2010 */

typedef struct plim_standin_gpu {
    const char *key;  /* what PLIM_STANDIN_GPU says */
    const char *name; /* what the driver says */
    uint64_t memory_bytes;
    int capability_major;
    int capability_minor;
    int multiprocessors;
    int threads_per_multiprocessor;
    int blocks_per_multiprocessor;
    int shared_bytes_per_multiprocessor;
    int shared_bytes_per_block_optin; /* largest a kernel may ask for */
    int l2_bytes;
    int bus_bits;
    int clock_khz;
} plim_standin_gpu;

/* The chosen GPU, with PLIM_STANDIN_CAPACITY already in memory_bytes. Never NULL, never freed. */
const plim_standin_gpu *plim_standin_gpu_chosen(void);

int plim_standin_device_count(void);

/*
 * Answer for a numbered device attribute. The driver's CUdevice_attribute and
 * the runtime's cudaDeviceAttr share one numbering (CUDA Driver API and Runtime
 * API manuals). Attributes we have no answer for are 0 and noted in the trace.
 */
int plim_standin_gpu_attribute(int attribute, int device);

#endif
