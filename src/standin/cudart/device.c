/*
 * device.c - which devices there are and what they can do.
 */
#include "standin/core/devices.h"

#include "standin/core/current.h"
#include "standin/core/footprint.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cudart/cudart.h"
#include "standin/work/work.h"

#include <stdatomic.h>
#include <stdio.h>

static int require_device(int device)
{
    return plim_standin_current_error_note(
        plim_standin_is_device(device) ? CUDA_SUCCESS_CODE : CUDA_INVALID_DEVICE_CODE);
}

int cudaGetDeviceCount(int *count)
{
    *count = plim_standin_device_count();
    return plim_standin_current_error_note(*count > 0 ? CUDA_SUCCESS_CODE : CUDA_NO_DEVICE_CODE);
}

int cudaGetDevice(int *device)
{
    if (plim_standin_device_count() == 0) {
        return plim_standin_current_error_note(CUDA_NO_DEVICE_CODE);
    }
    *device = plim_standin_current_device();
    return CUDA_SUCCESS_CODE;
}

/* Since CUDA 12 this makes the context, too. */
int cudaSetDevice(int device)
{
    if (!plim_standin_current_device_set(device)) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    return plim_standin_require_context();
}

int cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    if (require_device(device) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    const bool is_there = plim_standin_footprint_context(device);
    return plim_standin_current_error_note(is_there ? CUDA_SUCCESS_CODE : CUDA_OUT_OF_MEMORY_CODE);
}

int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    if (require_device(device) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    *value = plim_standin_device_attribute(attribute, device);
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetPCIBusId(char *text, int bytes, int device)
{
    if (require_device(device) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    const int bus = plim_standin_device_attribute(PLIM_STANDIN_ATTRIBUTE_PCI_BUS, device);
    plim_standin_device_bus_text(bus, text, (size_t)bytes);
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    const int bus = (int)plim_standin_device_bus(text);
    for (int i = 0; i < plim_standin_device_count(); i++) {
        if (plim_standin_device_attribute(PLIM_STANDIN_ATTRIBUTE_PCI_BUS, i) == bus) {
            *device = i;
            return CUDA_SUCCESS_CODE;
        }
    }
    return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
}

int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = 0;
    *greatest = -5; /* what current drivers say: six levels, lower is more urgent */
    return CUDA_SUCCESS_CODE;
}

/* Bit `peer` of peers[device]: the device may reach the peer's memory. */
static atomic_uint_fast64_t peers[PLIM_STAGE_DEVICES_MAX];

PLIM_STANDIN_MODELLED(cudaDeviceCanAccessPeer, "all devices of a rehearsal reach each other")

int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (require_device(device) != CUDA_SUCCESS_CODE || require_device(peer) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    *can = device != peer;
    return CUDA_SUCCESS_CODE;
}

int cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    const int device = plim_standin_current_device();
    if (require_device(peer) != CUDA_SUCCESS_CODE || peer == device) {
        return plim_standin_current_error_note(CUDA_INVALID_DEVICE_CODE);
    }
    PLIM_STANDIN_TRY(plim_standin_require_context());
    const uint64_t bit = UINT64_C(1) << peer;
    const bool was_enabled = (atomic_fetch_or(&peers[device], bit) & bit) != 0;
    return plim_standin_current_error_note(was_enabled ? CUDA_PEER_ALREADY_CODE
                                                       : CUDA_SUCCESS_CODE);
}

int cudaDeviceDisablePeerAccess(int peer)
{
    if (require_device(peer) != CUDA_SUCCESS_CODE) {
        return CUDA_INVALID_DEVICE_CODE;
    }
    const uint64_t bit = UINT64_C(1) << peer;
    const uint64_t before = atomic_fetch_and(&peers[plim_standin_current_device()], ~bit);
    return plim_standin_current_error_note((before & bit) != 0 ? CUDA_SUCCESS_CODE
                                                               : CUDA_PEER_NOT_ENABLED_CODE);
}

/* Devices are always idle, but the call makes their context. */
int cudaDeviceSynchronize(void)
{
    const int error = plim_standin_may_wait_device(plim_standin_current_device());
    return error != 0 ? plim_standin_current_error_note(error) : plim_standin_require_context();
}

int cudaDriverGetVersion(int *version)
{
    *version = (int)plim_standin_settings()->cuda_version;
    return CUDA_SUCCESS_CODE;
}

int cudaRuntimeGetVersion(int *version)
{
    *version = (int)plim_standin_settings()->cuda_version;
    return CUDA_SUCCESS_CODE;
}

/* It would take memory and handles away from libraries that still hold them. */
PLIM_STANDIN_REFUSED(cudaDeviceReset, CUDA_NOT_SUPPORTED_CODE, "what the device holds would go")
PLIM_STANDIN_NOTHING(cudaProfilerStart)
PLIM_STANDIN_NOTHING(cudaProfilerStop)
