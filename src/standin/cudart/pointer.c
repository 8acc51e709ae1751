/*
 * pointer.c - whose memory is this?
 */
#include "standin/core/current.h"
#include "standin/cudart/cudart.h"

#include <string.h>

/* cudaPointerAttributes, CUDA Runtime API manual 12.0; CUDA 13 added reserved words behind. */
typedef struct pointer_attributes {
    int type; /* plim_standin_pointer_kind */
    int device;
    void *devicePointer;
    void *hostPointer;
} pointer_attributes;

int cudaPointerGetAttributes(pointer_attributes *attributes, const void *address)
{
    plim_standin_place place = { 0 };
    void *const same = (void *)(uintptr_t)address;

    memset(attributes, 0, sizeof(*attributes));
    if (plim_standin_memory_find((uint64_t)(uintptr_t)address, &place)) {
        attributes->type = PLIM_STANDIN_POINTER_DEVICE;
        attributes->device = place.device;
        attributes->devicePointer = same;
        return CUDA_SUCCESS_CODE;
    }
    attributes->type = (int)plim_standin_host_kind(address);
    attributes->hostPointer = same;
    if (attributes->type == PLIM_STANDIN_POINTER_UNREGISTERED) {
        /* Since CUDA 11 memory CUDA has never seen is an answer, not an error. */
        attributes->device = -2; /* cudaInvalidDeviceId */
    } else {
        attributes->device = plim_standin_current_device();
        attributes->devicePointer = same;
    }
    return CUDA_SUCCESS_CODE;
}
