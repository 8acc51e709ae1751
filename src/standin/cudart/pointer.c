/*
 * pointer.c - whose memory is this?
 */
#include "standin/core/current.h"
#include "standin/core/memory.h"
#include "standin/cudart/cudart.h"

#include <string.h>

/* cudaPointerAttributes, CUDA Runtime API manual 13.0; callers leave room for more. */
typedef struct pointer_attributes {
    int type; /* plim_standin_pointer_kind */
    int device;
    void *devicePointer;
    void *hostPointer;
} pointer_attributes;

int cudaPointerGetAttributes(pointer_attributes *attributes, const void *address);

int cudaPointerGetAttributes(pointer_attributes *attributes, const void *address)
{
    uint64_t base = 0;
    uint64_t bytes = 0;

    memset(attributes, 0, sizeof(*attributes));
    if (plim_standin_memory_find((uint64_t)(uintptr_t)address, &attributes->device, &base,
                                 &bytes)) {
        attributes->type = PLIM_STANDIN_POINTER_DEVICE;
        attributes->devicePointer = (void *)(uintptr_t)address;
    } else if (plim_standin_host_is_pinned(address)) {
        attributes->type = PLIM_STANDIN_POINTER_HOST;
        attributes->device = plim_standin_current_device();
        attributes->devicePointer = (void *)(uintptr_t)address;
        attributes->hostPointer = (void *)(uintptr_t)address;
    } else {
        /* Since CUDA 11 memory CUDA has never seen is an answer, not an error. */
        attributes->type = PLIM_STANDIN_POINTER_UNREGISTERED;
        attributes->device = -2; /* cudaInvalidDeviceId */
        attributes->hostPointer = (void *)(uintptr_t)address;
    }
    return CUDA_SUCCESS_CODE;
}
