/*
 * driver.c - the fake driver's devices, contexts and entry points.
 */
#include "fake_cuda/state.h"

#include <stdio.h>
#include <string.h>

static _Thread_local cu_context *current[FAKE_CONTEXTS_MAX];
static _Thread_local int mode_at_push[FAKE_CONTEXTS_MAX];
static _Thread_local size_t current_count;
static _Thread_local int capture_mode;

cu_result fake_get_proc_address(const char *name, void **ret, int version, uint64_t flags,
                                int *ret_status) __asm__("cuGetProcAddress_v2");

int fake_current_ordinal(void)
{
    return current_count == 0 ? -1 : current[current_count - 1]->device;
}

fake_device *fake_current(void)
{
    return &fake.devices[fake_current_ordinal()];
}

/* --- the driver --- */

cu_result fake_init(unsigned flags)
{
    cu_result result = fake_begin("cuInit", false);
    if (result == CU_SUCCESS && flags != 0) {
        result = fake_fault(CU_INVALID_VALUE, "cuInit with flags");
    } else if (result == CU_SUCCESS) {
        fake.is_initialised = fake.device_count > 0;
        result = fake.device_count > 0 ? CU_SUCCESS : CU_NO_DEVICE;
    }
    return fake_end(result);
}

cu_result fake_driver_version(int *version)
{
    *version = 12040;
    return CU_SUCCESS;
}

static const struct {
    cu_result code;
    const char *name;
    const char *text;
} errors[] = {
    { CU_SUCCESS, "CUDA_SUCCESS", "no error" },
    { CU_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { CU_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CU_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { CU_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { CU_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { CU_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { CU_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
    { CU_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CU_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
    { CU_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered" },
    { CU_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
    { CU_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
      "operation not permitted when stream is capturing" },
};

cu_result fake_error_name(cu_result code, const char **ret)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].code == code) {
            *ret = errors[i].name;
            return CU_SUCCESS;
        }
    }
    *ret = NULL;
    return CU_INVALID_VALUE;
}

cu_result fake_error_string(cu_result code, const char **ret)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].code == code) {
            *ret = errors[i].text;
            return CU_SUCCESS;
        }
    }
    *ret = NULL;
    return CU_INVALID_VALUE;
}

cu_result fake_get_proc_address(const char *name, void **ret, int version, uint64_t flags,
                                int *ret_status)
{
#define ENTRY(field, its_name, symbol, its_version, parameters)       \
    if (!fake.is_lookup_hidden && flags == CU_LOOKUP_LEGACY_STREAM && \
        strcmp(name, its_name) == 0 && version == (its_version)) {    \
        cu_result(*const function) parameters = fake_##field;         \
        memcpy(ret, &function, sizeof function);                      \
        *ret_status = 0;                                              \
        return CU_SUCCESS;                                            \
    }
    CU_FUNCTION_LIST(ENTRY)
    CU_MAPPING_LIST(ENTRY)
#undef ENTRY
    *ret = NULL;
    *ret_status = 1; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    return CU_NOT_FOUND;
}

/* --- devices --- */

static bool is_device(cu_device device)
{
    return device >= 0 && device < fake.device_count;
}

cu_result fake_device_count(int *ret)
{
    cu_result result = fake_begin("cuDeviceGetCount", false);
    if (result == CU_SUCCESS) {
        *ret = fake.device_count;
    }
    return fake_end(result);
}

cu_result fake_device_get(cu_device *ret, int ordinal)
{
    cu_result result = fake_begin("cuDeviceGet", false);
    if (result == CU_SUCCESS) {
        result = is_device(ordinal) ? CU_SUCCESS : CU_INVALID_DEVICE;
        *ret = ordinal;
    }
    return fake_end(result);
}

cu_result fake_device_name(char *ret, int bytes, cu_device device)
{
    cu_result result = fake_begin("cuDeviceGetName", false);
    if (result == CU_SUCCESS) {
        result = is_device(device) ? CU_SUCCESS : CU_INVALID_DEVICE;
        (void)snprintf(ret, (size_t)bytes, "Fake GPU %d", device);
    }
    return fake_end(result);
}

cu_result fake_device_attribute(int *ret, int attribute, cu_device device)
{
    cu_result result = fake_begin("cuDeviceGetAttribute", false);
    if (result == CU_SUCCESS && (attribute < 0 || attribute >= FAKE_ATTRIBUTES)) {
        result = CU_INVALID_VALUE;
    } else if (result == CU_SUCCESS) {
        result = is_device(device) ? CU_SUCCESS : CU_INVALID_DEVICE;
        *ret = fake.attributes[attribute];
    }
    return fake_end(result);
}

cu_result fake_device_total(size_t *ret, cu_device device)
{
    cu_result result = fake_begin("cuDeviceTotalMem", false);
    if (result == CU_SUCCESS) {
        result = is_device(device) ? CU_SUCCESS : CU_INVALID_DEVICE;
        *ret = is_device(device) ? fake.devices[device].total_bytes : 0;
    }
    return fake_end(result);
}

cu_result fake_device_bus_id(char *ret, int bytes, cu_device device)
{
    cu_result result = fake_begin("cuDeviceGetPCIBusId", false);
    if (result == CU_SUCCESS) {
        result = is_device(device) ? CU_SUCCESS : CU_INVALID_DEVICE;
        (void)snprintf(ret, (size_t)bytes, "0000:%02X:00.0", (unsigned)device + 1);
    }
    return fake_end(result);
}

/* --- contexts --- */

cu_result fake_primary_retain(cu_context **ret, cu_device device)
{
    cu_result result = fake_begin("cuDevicePrimaryCtxRetain", false);
    if (result == CU_SUCCESS && !is_device(device)) {
        result = CU_INVALID_DEVICE;
    } else if (result == CU_SUCCESS) {
        fake.devices[device].retains++;
        *ret = &fake.devices[device].context;
    }
    return fake_end(result);
}

cu_result fake_primary_release(cu_device device)
{
    cu_result result = fake_begin("cuDevicePrimaryCtxRelease", false);
    if (result == CU_SUCCESS && (!is_device(device) || fake.devices[device].retains == 0)) {
        result = fake_fault(CU_INVALID_CONTEXT, "release of a context that is not retained");
    } else if (result == CU_SUCCESS) {
        fake.devices[device].retains--;
    }
    return fake_end(result);
}

cu_result fake_context_push(cu_context *context)
{
    cu_result result = fake_begin("cuCtxPushCurrent", false);
    if (result == CU_SUCCESS && (context == NULL || fake.devices[context->device].retains == 0)) {
        result = fake_fault(CU_INVALID_CONTEXT, "push of a context that is not retained");
    } else if (result == CU_SUCCESS && current_count == FAKE_CONTEXTS_MAX) {
        result = fake_fault(CU_INVALID_VALUE, "contexts are pushed and never popped");
    } else if (result == CU_SUCCESS) {
        mode_at_push[current_count] = capture_mode;
        current[current_count++] = context;
    }
    return fake_end(result);
}

cu_result fake_context_pop(cu_context **ret)
{
    cu_result result = fake_begin("cuCtxPopCurrent", true);
    if (result == CU_SUCCESS) {
        *ret = current[--current_count];
        if (mode_at_push[current_count] != capture_mode) {
            (void)fake_fault(CU_SUCCESS, "the thread's capture mode was not put back");
        }
    }
    return fake_end(result);
}

cu_result fake_context_synchronize(void)
{
    cu_result result = fake_begin("cuCtxSynchronize", true);
    if (result == CU_SUCCESS) {
        fake_complete_device(fake_current_ordinal());
    }
    return fake_end(result);
}

void fake_thread_reset(void)
{
    current_count = 0;
    capture_mode = 0;
}

cu_result fake_mode_exchange(int *mode)
{
    const int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return CU_SUCCESS;
}

cu_result fake_capture_mode(int *mode)
{
    const cu_result result = fake_begin("cuThreadExchangeStreamCaptureMode", true);
    if (result == CU_SUCCESS) {
        (void)fake_mode_exchange(mode);
    }
    return fake_end(result);
}
