/*
 * context.c - devices and contexts, as the driver names them.
 */
#include "standin/core/current.h"
#include "standin/core/devices.h"
#include "standin/core/footprint.h"
#include "standin/core/memory.h"
#include "standin/core/stage.h"
#include "standin/core/stub.h"
#include "standin/cuda/cuda.h"
#include "standin/work/work.h"

#include <stdio.h>

/* ---- devices --------------------------------------------------------------------------------- */

int cuDriverGetVersion(int *version)
{
    *version = (int)plim_standin_settings()->cuda_version;
    return DRIVER_SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = plim_standin_device_count();
    return DRIVER_SUCCESS;
}

int cuDeviceGet(int *device, int ordinal)
{
    if (!plim_standin_is_device(ordinal)) {
        return DRIVER_INVALID_DEVICE;
    }
    *device = ordinal;
    return DRIVER_SUCCESS;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    (void)snprintf(name, (size_t)bytes, "%s", plim_standin_settings()->gpu.name);
    return DRIVER_SUCCESS;
}

int cuDeviceGetPCIBusId(char *text, int bytes, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    const int bus = plim_standin_device_attribute(PLIM_STANDIN_ATTRIBUTE_PCI_BUS, device);
    plim_standin_device_bus_text(bus, text, (size_t)bytes);
    return DRIVER_SUCCESS;
}

int cuDeviceGetUuid(unsigned char uuid[16], int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    plim_standin_device_uuid(plim_standin_device_on_stage(device), uuid);
    return DRIVER_SUCCESS;
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
    return cuDeviceGetUuid(uuid, device);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    *bytes = plim_standin_settings()->capacity_bytes;
    return DRIVER_SUCCESS;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    *value = plim_standin_device_attribute(attribute, device);
    return DRIVER_SUCCESS;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    const int device = plim_standin_current_device();
    if (!plim_standin_footprint_context(device)) {
        return DRIVER_OUT_OF_MEMORY;
    }
    uint64_t unused = 0;
    uint64_t total = 0;
    plim_standin_memory_info(device, &unused, &total);
    *free_bytes = unused;
    *total_bytes = total;
    return DRIVER_SUCCESS;
}

PLIM_STANDIN_NOTHING(cuInit)

/* ---- contexts -------------------------------------------------------------------------------- */

/*
 * Handle n + 1 stands for the primary context of device n. A thread has a stack of contexts whose
 * top is current; the runtime's current device is that of the top, so changing one changes the
 * other, as with the real ones.
 */

#define CONTEXT_DEPTH_MAX      64
#define DRIVER_INVALID_CONTEXT 201
#define LIMITS                 9 /* CUlimit */
#define LIMIT_STACK_BYTES      1024
#define LIMIT_PRINTF_BYTES     (UINT64_C(1) << 20)
#define LIMIT_HEAP_BYTES       (UINT64_C(8) << 20)

static _Thread_local int
    below[CONTEXT_DEPTH_MAX]; /* devices whose contexts wait under the current one */
static _Thread_local int depth;
static _Thread_local bool has_none; /* the program took the current context away */

static size_t limits[LIMITS] = { LIMIT_STACK_BYTES, LIMIT_PRINTF_BYTES, LIMIT_HEAP_BYTES };

static void *context_of(int device)
{
    return (void *)(uintptr_t)(device + 1);
}

/* False: it is no context. */
static bool device_of(const void *context, int *ret)
{
    const uintptr_t number = (uintptr_t)context;
    if (number == 0 || number > (uintptr_t)plim_standin_device_count()) {
        return false;
    }
    *ret = (int)number - 1;
    return true;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    if (flags != NULL) {
        *flags = 0;
    }
    if (is_active != NULL) {
        *is_active = plim_standin_footprint_has_context(device) ? 1 : 0;
    }
    return DRIVER_SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (!plim_standin_is_device(device)) {
        return DRIVER_INVALID_DEVICE;
    }
    if (!plim_standin_footprint_context(device)) {
        return DRIVER_OUT_OF_MEMORY;
    }
    *context = context_of(device);
    return DRIVER_SUCCESS;
}

int cuCtxGetCurrent(void **context)
{
    const int device = plim_standin_current_device();
    const bool is_there = !has_none && plim_standin_footprint_has_context(device);
    *context = is_there ? context_of(device) : NULL;
    return DRIVER_SUCCESS;
}

int cuCtxSetCurrent(void *context)
{
    int device = 0;
    if (context == NULL) {
        has_none = true;
        return DRIVER_SUCCESS;
    }
    if (!device_of(context, &device) || !plim_standin_current_device_set(device)) {
        return DRIVER_INVALID_CONTEXT;
    }
    has_none = false;
    return DRIVER_SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    int device = 0;
    if (depth == CONTEXT_DEPTH_MAX || !device_of(context, &device)) {
        return DRIVER_INVALID_CONTEXT;
    }
    below[depth] = has_none ? -1 : plim_standin_current_device();
    depth++;
    return cuCtxSetCurrent(context);
}

int cuCtxPopCurrent_v2(void **context)
{
    void *top = NULL;
    (void)cuCtxGetCurrent(&top);
    if (top == NULL) {
        return DRIVER_INVALID_CONTEXT;
    }
    if (context != NULL) {
        *context = top;
    }
    if (depth == 0) {
        has_none = true;
        return DRIVER_SUCCESS;
    }
    depth--;
    return cuCtxSetCurrent(below[depth] >= 0 ? context_of(below[depth]) : NULL);
}

int cuCtxPushCurrent(void *context)
{
    return cuCtxPushCurrent_v2(context);
}

int cuCtxPopCurrent(void **context)
{
    return cuCtxPopCurrent_v2(context);
}

/* A context of the program's own is the primary one again: its footprint is that of one. */
int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    const int error = cuDevicePrimaryCtxRetain(context, device);
    return error != 0 ? error : cuCtxPushCurrent_v2(*context);
}

int cuCtxCreate_v4(void **context, void *params, unsigned flags, int device)
{
    return cuCtxCreate_v2(context, flags, device);
}

PLIM_STANDIN_MODELLED(cuCtxCreate_v2, "the primary context: a second one would take memory anew")

int cuCtxGetDevice(int *device)
{
    void *context = NULL;
    (void)cuCtxGetCurrent(&context);
    if (context == NULL) {
        return DRIVER_INVALID_CONTEXT;
    }
    *device = plim_standin_current_device();
    return DRIVER_SUCCESS;
}

int cuCtxGetDevice_v2(int *device, void *context)
{
    if (context == NULL) {
        return cuCtxGetDevice(device);
    }
    return device_of(context, device) ? DRIVER_SUCCESS : DRIVER_INVALID_CONTEXT;
}

int cuCtxGetFlags(unsigned *flags)
{
    *flags = 0;
    return DRIVER_SUCCESS;
}

int cuCtxGetId(void *context, unsigned long long *id)
{
    *id =
        context != NULL ? (uintptr_t)context : (uintptr_t)context_of(plim_standin_current_device());
    return DRIVER_SUCCESS;
}

int cuCtxGetApiVersion(void *context, unsigned *version)
{
    *version = 3020; /* of contexts since CUDA 3.2; it never changed */
    return DRIVER_SUCCESS;
}

int cuCtxGetLimit(size_t *value, int limit)
{
    if (value == NULL || limit < 0 || limit >= LIMITS) {
        return DRIVER_INVALID_VALUE;
    }
    *value = limits[limit];
    return DRIVER_SUCCESS;
}

int cuCtxSetLimit(int limit, size_t value)
{
    if (limit < 0 || limit >= LIMITS) {
        return DRIVER_INVALID_VALUE;
    }
    limits[limit] =
        value; /* a larger heap or stack would take memory of the context: not counted */
    return DRIVER_SUCCESS;
}

PLIM_STANDIN_MODELLED(cuCtxSetLimit, "kept, but takes no memory")

int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL) {
        *least = PLIM_STREAM_PRIORITY_MIN;
    }
    if (greatest != NULL) {
        *greatest = PLIM_STREAM_PRIORITY_MAX;
    }
    return DRIVER_SUCCESS;
}

int cuCtxSynchronize(void)
{
    return plim_standin_may_wait_device(plim_standin_current_device());
}

int cuCtxSynchronize_v2(void *context)
{
    int device = plim_standin_current_device();
    if (context != NULL && !device_of(context, &device)) {
        return DRIVER_INVALID_CONTEXT;
    }
    return plim_standin_may_wait_device(device);
}

/* Contexts stay until the process ends; peers are always reachable. */
PLIM_STANDIN_NOTHING(cuCtxDestroy_v2)
PLIM_STANDIN_NOTHING(cuCtxDisablePeerAccess)
PLIM_STANDIN_NOTHING(cuCtxEnablePeerAccess)
PLIM_STANDIN_NOTHING(cuCtxResetPersistingL2Cache)
PLIM_STANDIN_NOTHING(cuCtxSetCacheConfig)
PLIM_STANDIN_NOTHING(cuCtxSetFlags)
PLIM_STANDIN_NOTHING(cuDevicePrimaryCtxRelease)
PLIM_STANDIN_NOTHING(cuDevicePrimaryCtxRelease_v2)
PLIM_STANDIN_NOTHING(cuDevicePrimaryCtxSetFlags_v2)

/* Parts of a GPU as contexts of their own: drivers before 12.4 cannot do it either. */
PLIM_STANDIN_DECLINED(cuCtxFromGreenCtx, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuCtxGetDevResource, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuDevResourceGenerateDesc, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuDevSmResourceSplit, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuDevSmResourceSplitByCount, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuDeviceGetDevResource, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuGreenCtxCreate, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuGreenCtxDestroy, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuGreenCtxGetDevResource, DRIVER_NOT_SUPPORTED, "green contexts")
PLIM_STANDIN_DECLINED(cuGreenCtxStreamCreate, DRIVER_NOT_SUPPORTED, "green contexts")

/* Messages of the driver's own log; a driver older than 12.9 has none. */
PLIM_STANDIN_DECLINED(cuLogsRegisterCallback, DRIVER_NOT_SUPPORTED, "the driver writes no log")
PLIM_STANDIN_DECLINED(cuLogsUnregisterCallback, DRIVER_NOT_SUPPORTED, "the driver writes no log")
