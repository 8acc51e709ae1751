/*
 * attribute.c - the numbered attributes of a device.
 *
 * The rule of the house: nothing that callers divide by, or size a launch with,
 * may come out as zero. Numbers are those of cudaDeviceAttr in the CUDA Runtime
 * API manual ("Data types used by CUDA Runtime"); the driver's
 * CUdevice_attribute uses the same ones.
 */
#include "standin/core/devices.h"
#include "standin/core/stage.h"

#include <limits.h>

static int attribute_of_limits(int attribute, bool *ret_known)
{
    switch (attribute) {
    case 1: /* threads per block */
    case 2: /* block dimension x */
    case 3: /* block dimension y */
        return PLIM_STANDIN_BLOCK_MAX;
    case 4: /* block dimension z */
        return 64;
    case 5:  /* grid dimension x */
    case 11: /* largest pitch of a copy */
        return INT_MAX;
    case 6: /* grid dimension y */
    case 7: /* grid dimension z */
        return 65535;
    case 8: /* shared memory per block without opting in */
        return 48 * 1024;
    case 9: /* constant memory */
        return 64 * 1024;
    case 10:
        return PLIM_STANDIN_WARP_SIZE;
    case 12: /* registers per block */
    case 82: /* registers per multiprocessor */
        return 64 * 1024;
    case 14: /* texture alignment */
    case 30: /* surface alignment */
        return 512;
    case 40: /* copy engines */
        return 3;
    default:
        *ret_known = false;
        return 0;
    }
}

static int attribute_of_model(int attribute, int device, bool *ret_known)
{
    const plim_gpu *gpu = &plim_standin_settings()->gpu;

    switch (attribute) {
    case PLIM_STANDIN_ATTRIBUTE_CLOCK:
        return (int)gpu->clock_khz;
    case 16:
        return (int)gpu->multiprocessors;
    case PLIM_STANDIN_ATTRIBUTE_PCI_BUS:
        return (int)plim_standin_device_on_stage(device) + 1;
    case PLIM_STANDIN_ATTRIBUTE_MEMORY_CLOCK:
        return (int)gpu->memory_clock_khz;
    case 37:
        return (int)gpu->bus_bits;
    case 38:
        return (int)gpu->l2_bytes;
    case 39:
        return (int)gpu->threads_per_multiprocessor;
    case 75:
        return (int)gpu->capability_major;
    case 76:
        return (int)gpu->capability_minor;
    case 81:
        return (int)gpu->shared_bytes_per_multiprocessor;
    case 97:
        return (int)gpu->shared_bytes_per_block_optin;
    case 106:
        return (int)gpu->blocks_per_multiprocessor;
    case 87: /* how much faster singles are than doubles: modelled */
        return gpu->capability_minor == 0 && gpu->capability_major < 12 ? 2 : 64;
    case PLIM_STANDIN_ATTRIBUTE_RESERVED_SHARED:
        return gpu->capability_major >= 8 ? 1024 : 0;
    case 120: /* thread block clusters came with capability 9.0 */
        return gpu->capability_major >= 9;
    default:
        *ret_known = false;
        return 0;
    }
}

/* Yes or no. What is not listed here or above is unknown, which is different from no. */
static int attribute_of_support(int attribute, bool *ret_known)
{
    switch (attribute) {
    case 15:  /* copies overlap with kernels */
    case 19:  /* host memory can be mapped */
    case 31:  /* concurrent kernels */
    case 41:  /* unified addressing */
    case 78:  /* stream priorities */
    case 79:  /* globals in L1 */
    case 80:  /* locals in L1 */
    case 83:  /* managed memory */
    case 89:  /* concurrent managed access */
    case 90:  /* preemption */
    case 91:  /* registered host memory keeps its address */
    case 95:  /* cooperative launch */
    case 99:  /* host memory can be registered */
    case 102: /* virtual memory management */
    case 103: /* shareable as a file descriptor */
    case 115: /* stream-ordered pools */
        return 1;
    case 17:  /* a watchdog limits kernels */
    case 18:  /* integrated */
    case 20:  /* compute mode: default */
    case 32:  /* error correction */
    case 34:  /* PCI device */
    case 35:  /* TCC driver */
    case 50:  /* PCI domain */
    case 84:  /* several GPUs on one board */
    case 86:  /* native atomics with the host */
    case 88:  /* pageable memory access */
    case 110: /* RDMA to virtual memory */
    case 116: /* RDMA */
    case 128: /* shareable over a fabric */
    case 132: /* multicast objects */
        return 0;
    default:
        *ret_known = false;
        return 0;
    }
}

int plim_standin_device_attribute(int attribute, int device)
{
    bool known = true;
    int value = attribute_of_limits(attribute, &known);
    if (!known) {
        known = true;
        value = attribute_of_model(attribute, device, &known);
    }
    if (!known) {
        known = true;
        value = attribute_of_support(attribute, &known);
    }
    if (!known) {
        plim_standin_trace("device attribute %d is unknown here, answered 0", attribute);
    }
    return value;
}
