/*
 * cuda.c - the device that is a GPU: each entry of the table is one call of the driver, made with
 * the device's primary context current.
 *
 * Calls that a stream capture elsewhere in the program would make illegal (CUDA Driver API,
 * cuThreadExchangeStreamCaptureMode) are made in relaxed mode: taking memory and asking an event
 * are no part of what is captured.
 */
#include "device/cuda_driver.h"

#include "base/error.h"
#include "base/memory.h"

#include "plimsoll/device.h"

#include <inttypes.h>
#include <stdio.h>

#define BUS_ID_BYTES       32
#define PROCESSES_AT_FIRST 64

typedef struct plim_cuda {
    const plim_mem *mem;
    plim_cuda_driver driver;
    plim_nvml nvml;
    cu_device device;
    cu_context *context;
    plim_device_properties properties;
} plim_cuda;

/* --- around every call --- */

static plim_status enter(const plim_cuda *cuda, plim_error *err)
{
    return plim_cuda_check(&cuda->driver, cuda->driver.context_push(cuda->context),
                           "cuCtxPushCurrent", err);
}

static plim_status leave(const plim_cuda *cuda, cu_result result, const char *call, plim_error *err)
{
    cu_context *popped = NULL;
    (void)cuda->driver.context_pop(&popped);
    return plim_cuda_check(&cuda->driver, result, call, err);
}

/* Swaps the thread's capture mode with *mode; called twice, it restores. */
static void swap_mode(const plim_cuda *cuda, int *mode)
{
    (void)cuda->driver.capture_mode(mode);
}

/* --- what it is --- */

static void properties(void *self, plim_device_properties *ret)
{
    const plim_cuda *const cuda = self;
    *ret = cuda->properties;
}

static plim_status info(void *self, uint64_t *ret_free_bytes, uint64_t *ret_total_bytes,
                        plim_error *err)
{
    const plim_cuda *const cuda = self;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    PLIM_TRY(enter(cuda, err));
    PLIM_TRY(leave(cuda, cuda->driver.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo", err));
    *ret_free_bytes = free_bytes;
    *ret_total_bytes = total_bytes;
    return PLIM_OK;
}

/* --- plain memory --- */

static plim_status memory_alloc(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    const plim_cuda *const cuda = self;
    cu_deviceptr addr = 0;
    int mode = CU_CAPTURE_MODE_RELAXED;
    PLIM_TRY(enter(cuda, err));
    swap_mode(cuda, &mode);
    const cu_result result = cuda->driver.mem_alloc(&addr, bytes);
    swap_mode(cuda, &mode);
    PLIM_TRY(leave(cuda, result, "cuMemAlloc", err));
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status memory_free(void *self, plim_addr addr, plim_error *err)
{
    const plim_cuda *const cuda = self;
    int mode = CU_CAPTURE_MODE_RELAXED;
    PLIM_TRY(enter(cuda, err));
    swap_mode(cuda, &mode);
    const cu_result result = cuda->driver.mem_free(addr);
    swap_mode(cuda, &mode);
    return leave(cuda, result, "cuMemFree", err);
}

/* --- ranges and handles --- */

static plim_status range_reserve(void *self, uint64_t bytes, plim_addr *ret_addr, plim_error *err)
{
    const plim_cuda *const cuda = self;
    cu_deviceptr addr = 0;
    PLIM_TRY(enter(cuda, err));
    PLIM_TRY(leave(cuda, cuda->driver.address_reserve(&addr, bytes, 0, 0, 0), "cuMemAddressReserve",
                   err));
    *ret_addr = addr;
    return PLIM_OK;
}

static plim_status range_free(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.address_free(addr, bytes), "cuMemAddressFree", err);
}

static int handle_type(plim_share share)
{
    switch (share) {
    case PLIM_SHARE_FD:
        return CU_HANDLE_POSIX_FD;
    case PLIM_SHARE_FABRIC:
        return CU_HANDLE_FABRIC;
    case PLIM_SHARE_NONE:
    default:
        return CU_HANDLE_NONE;
    }
}

static cu_mem_prop handle_properties(const plim_cuda *cuda, plim_share share)
{
    return (cu_mem_prop){
        .type = CU_ALLOCATION_PINNED,
        .requested_handle_types = handle_type(share),
        .location = { .type = CU_LOCATION_DEVICE, .id = cuda->device },
        .flags = { .is_rdma_capable = cuda->properties.has_rdma ? 1 : 0 },
    };
}

static plim_status handle_create(void *self, uint64_t bytes, plim_share share,
                                 plim_handle *ret_handle, plim_error *err)
{
    const plim_cuda *const cuda = self;
    const cu_mem_prop prop = handle_properties(cuda, share);
    cu_mem_handle handle = 0;
    PLIM_TRY(enter(cuda, err));
    PLIM_TRY(leave(cuda, cuda->driver.mem_create(&handle, bytes, &prop, 0), "cuMemCreate", err));
    *ret_handle = handle;
    return PLIM_OK;
}

static plim_status handle_release(void *self, plim_handle handle, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.mem_release(handle), "cuMemRelease", err);
}

static plim_status handle_export(void *self, plim_handle handle, plim_share share, void *data,
                                 plim_error *err)
{
    const plim_cuda *const cuda = self;
    if (share == PLIM_SHARE_NONE) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT, "cuda: export of a handle as nothing");
    }
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.mem_export(data, handle, handle_type(share), 0),
                 "cuMemExportToShareableHandle", err);
}

static plim_status map(void *self, plim_addr addr, uint64_t bytes, plim_handle handle,
                       plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.mem_map(addr, bytes, 0, handle, 0), "cuMemMap", err);
}

static plim_status unmap(void *self, plim_addr addr, uint64_t bytes, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.mem_unmap(addr, bytes), "cuMemUnmap", err);
}

static plim_status set_access(void *self, plim_addr addr, uint64_t bytes, int32_t accessor,
                              plim_error *err)
{
    const plim_cuda *const cuda = self;
    const cu_mem_access access = {
        .location = { .type = CU_LOCATION_DEVICE, .id = accessor },
        .flags = CU_ACCESS_READ_WRITE,
    };
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.mem_set_access(addr, bytes, &access, 1), "cuMemSetAccess", err);
}

/* --- streams: a handle is the driver's pointer as a number --- */

static cu_stream *stream_of(plim_stream stream)
{
    return (cu_stream *)(uintptr_t)stream;
}

static plim_status stream_create(void *self, plim_stream *ret_stream, plim_error *err)
{
    const plim_cuda *const cuda = self;
    cu_stream *stream = NULL;
    PLIM_TRY(enter(cuda, err));
    PLIM_TRY(leave(cuda, cuda->driver.stream_create(&stream, CU_STREAM_NON_BLOCKING),
                   "cuStreamCreate", err));
    *ret_stream = (plim_stream)(uintptr_t)stream;
    return PLIM_OK;
}

static plim_status stream_destroy(void *self, plim_stream stream, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.stream_destroy(stream_of(stream)), "cuStreamDestroy", err);
}

static plim_status stream_synchronize(void *self, plim_stream stream, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.stream_synchronize(stream_of(stream)), "cuStreamSynchronize",
                 err);
}

static bool stream_is_capturing(void *self, plim_stream stream)
{
    const plim_cuda *const cuda = self;
    int status = CU_CAPTURE_STATUS_NONE;
    if (enter(cuda, NULL) != PLIM_OK) {
        return false;
    }
    const plim_status left =
        leave(cuda, cuda->driver.stream_is_capturing(stream_of(stream), &status), "", NULL);
    return left == PLIM_OK && status != CU_CAPTURE_STATUS_NONE;
}

static plim_status synchronize(void *self, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.context_synchronize(), "cuCtxSynchronize", err);
}

/* --- fences: events without timing --- */

static cu_event *event_of(plim_fence fence)
{
    return (cu_event *)(uintptr_t)fence;
}

static plim_status fence_create(void *self, plim_fence *ret_fence, plim_error *err)
{
    const plim_cuda *const cuda = self;
    cu_event *event = NULL;
    PLIM_TRY(enter(cuda, err));
    PLIM_TRY(leave(cuda, cuda->driver.event_create(&event, CU_EVENT_DISABLE_TIMING),
                   "cuEventCreate", err));
    *ret_fence = (plim_fence)(uintptr_t)event;
    return PLIM_OK;
}

static plim_status fence_destroy(void *self, plim_fence fence, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.event_destroy(event_of(fence)), "cuEventDestroy", err);
}

static plim_status fence_record(void *self, plim_fence fence, plim_stream stream, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.event_record(event_of(fence), stream_of(stream)),
                 "cuEventRecord", err);
}

static plim_status fence_query(void *self, plim_fence fence, bool *ret_complete, plim_error *err)
{
    const plim_cuda *const cuda = self;
    int mode = CU_CAPTURE_MODE_RELAXED;
    PLIM_TRY(enter(cuda, err));
    swap_mode(cuda, &mode);
    const cu_result result = cuda->driver.event_query(event_of(fence));
    swap_mode(cuda, &mode);
    const bool is_pending = result == CU_NOT_READY;
    PLIM_TRY(leave(cuda, is_pending ? CU_SUCCESS : result, "cuEventQuery", err));
    *ret_complete = !is_pending;
    return PLIM_OK;
}

static plim_status fence_synchronize(void *self, plim_fence fence, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.event_synchronize(event_of(fence)), "cuEventSynchronize", err);
}

/* --- contents --- */

static plim_status fill(void *self, plim_addr addr, uint8_t value, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.memset_async(addr, value, bytes, stream_of(stream)),
                 "cuMemsetD8Async", err);
}

static plim_status copy(void *self, plim_addr to, plim_addr from, uint64_t bytes,
                        plim_stream stream, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.copy_async(to, from, bytes, stream_of(stream)),
                 "cuMemcpyDtoDAsync", err);
}

/* Streams made here do not wait for the default stream, on which the driver copies: so all of
 * the device is waited for. */
static plim_status read_bytes(void *self, void *to, plim_addr from, uint64_t bytes, plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(synchronize(self, err));
    PLIM_TRY(enter(cuda, err));
    return leave(cuda, cuda->driver.copy_to_host(to, from, bytes), "cuMemcpyDtoH", err);
}

static plim_status write_bytes(void *self, plim_addr to, const void *from, uint64_t bytes,
                               plim_error *err)
{
    const plim_cuda *const cuda = self;
    PLIM_TRY(synchronize(self, err));
    PLIM_TRY(enter(cuda, err));
    PLIM_TRY(leave(cuda, cuda->driver.copy_to_device(to, from, bytes), "cuMemcpyHtoD", err));
    return synchronize(self, err); /* it may return with the last step under way */
}

/* --- processes --- */

/* All of them, to be freed by the caller with ret_capacity; NULL: unknown. */
static nvml_process *list_processes(const plim_cuda *cuda, unsigned *ret_count,
                                    unsigned *ret_capacity)
{
    unsigned capacity = PROCESSES_AT_FIRST;
    for (int attempt = 0; attempt < 3; attempt++) { /* more may start meanwhile */
        nvml_process *const list = plim_mem_alloc(cuda->mem, capacity, sizeof *list);
        if (list == NULL) {
            return NULL;
        }
        unsigned count = capacity;
        const int result = cuda->nvml.processes(cuda->nvml.device, &count, list);
        if (result == NVML_SUCCESS && count <= capacity) {
            *ret_count = count;
            *ret_capacity = capacity;
            return list;
        }
        plim_mem_free(cuda->mem, list, capacity, sizeof *list);
        if (result != NVML_INSUFFICIENT_SIZE || count <= capacity) {
            return NULL;
        }
        capacity = count;
    }
    return NULL;
}

static size_t processes(void *self, plim_device_process *ret, size_t capacity)
{
    const plim_cuda *const cuda = self;
    unsigned count = 0;
    unsigned list_capacity = 0;
    if (cuda->nvml.library == NULL) {
        return 0;
    }
    nvml_process *const list = list_processes(cuda, &count, &list_capacity);
    if (list == NULL) {
        return 0;
    }
    const size_t filled = count < capacity ? count : capacity;
    for (size_t i = 0; i < filled; i++) {
        ret[i] = (plim_device_process){
            .pid = list[i].pid,
            .used_bytes = list[i].used_bytes == NVML_VALUE_NOT_AVAILABLE ? PLIM_USED_UNKNOWN
                                                                         : list[i].used_bytes,
        };
    }
    plim_mem_free(cuda->mem, list, list_capacity, sizeof *list);
    return filled;
}

/* --- opening and closing --- */

static void destroy(void *self)
{
    plim_cuda *const cuda = self;
    plim_nvml_close(&cuda->nvml);
    if (cuda->context != NULL) {
        (void)cuda->driver.primary_release(cuda->device);
    }
    plim_cuda_driver_close(&cuda->driver);
    plim_mem_free(cuda->mem, cuda, 1, sizeof *cuda);
}

#define PLIM_CUDA_OPS                                                                             \
    .properties = properties, .info = info, .memory_alloc = memory_alloc,                         \
    .memory_free = memory_free, .stream_create = stream_create, .stream_destroy = stream_destroy, \
    .stream_synchronize = stream_synchronize, .stream_is_capturing = stream_is_capturing,         \
    .synchronize = synchronize, .fence_create = fence_create, .fence_destroy = fence_destroy,     \
    .fence_record = fence_record, .fence_query = fence_query,                                     \
    .fence_synchronize = fence_synchronize, .fill = fill, .copy = copy, .read = read_bytes,       \
    .write = write_bytes, .processes = processes, .destroy = destroy

static const plim_device_ops plain_ops = { PLIM_CUDA_OPS };
static const plim_device_ops mapping_ops = {
    PLIM_CUDA_OPS,
    .range_reserve = range_reserve,
    .range_free = range_free,
    .handle_create = handle_create,
    .handle_release = handle_release,
    .handle_export = handle_export,
    .map = map,
    .unmap = unmap,
    .set_access = set_access,
};

/* 0 where the driver does not know the attribute. */
static bool has(const plim_cuda *cuda, int attribute)
{
    int value = 0;
    return cuda->driver.device_attribute(&value, attribute, cuda->device) == CU_SUCCESS &&
           value != 0;
}

static plim_status find_device(plim_cuda *cuda, int32_t ordinal, plim_error *err)
{
    int count = 0;
    PLIM_TRY(
        plim_cuda_check(&cuda->driver, cuda->driver.device_count(&count), "cuDeviceGetCount", err));
    if (ordinal < 0 || ordinal >= count) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "cuda: there is no device %" PRId32 ", the driver shows %d", ordinal,
                         count);
    }
    return plim_cuda_check(&cuda->driver, cuda->driver.device_get(&cuda->device, ordinal),
                           "cuDeviceGet", err);
}

static plim_status learn(plim_cuda *cuda, int32_t ordinal, plim_error *err)
{
    const plim_cuda_driver *const driver = &cuda->driver;
    plim_device_properties *const ret = &cuda->properties;
    size_t total_bytes = 0;
    size_t granularity_bytes = 0;
    PLIM_TRY(plim_cuda_check(driver,
                             driver->device_name(ret->name, (int)sizeof ret->name, cuda->device),
                             "cuDeviceGetName", err));
    ret->name[sizeof ret->name - 1] = '\0';
    PLIM_TRY(plim_cuda_check(driver, driver->device_total(&total_bytes, cuda->device),
                             "cuDeviceTotalMem", err));
    if (driver->can_map && has(cuda, CU_ATTRIBUTE_VMM)) {
        ret->has_rdma = has(cuda, CU_ATTRIBUTE_RDMA_WITH_VMM);
        ret->has_fd_export = has(cuda, CU_ATTRIBUTE_POSIX_FD);
        ret->has_fabric_export = has(cuda, CU_ATTRIBUTE_FABRIC);
        const cu_mem_prop prop = handle_properties(cuda, PLIM_SHARE_NONE);
        PLIM_TRY(plim_cuda_check(
            driver, driver->mem_granularity(&granularity_bytes, &prop, CU_GRANULARITY_MINIMUM),
            "cuMemGetAllocationGranularity", err));
    }
    ret->ordinal = ordinal;
    ret->total_bytes = total_bytes;
    ret->granularity_bytes = granularity_bytes;
    return PLIM_OK;
}

static plim_status open_device(plim_cuda *cuda, const plim_cuda_options *options, plim_error *err)
{
    char bus_id[BUS_ID_BYTES] = { 0 };
    PLIM_TRY(plim_cuda_driver_open(&cuda->driver, options->driver_path, err));
    PLIM_TRY(find_device(cuda, options->ordinal, err));
    PLIM_TRY(plim_cuda_check(&cuda->driver,
                             cuda->driver.primary_retain(&cuda->context, cuda->device),
                             "cuDevicePrimaryCtxRetain", err));
    PLIM_TRY(enter(cuda, err));
    const plim_status learned = learn(cuda, options->ordinal, err);
    (void)leave(cuda, CU_SUCCESS, "", NULL);
    PLIM_TRY(learned);
    if (cuda->driver.device_bus_id(bus_id, (int)sizeof bus_id, cuda->device) == CU_SUCCESS) {
        (void)plim_nvml_open(&cuda->nvml, options->nvml_path,
                             bus_id); /* or the processes stay unknown */
    }
    return PLIM_OK;
}

plim_status plim_cuda_open(const plim_cuda_options *options, plim_device *ret_device,
                           plim_error *err)
{
    const plim_mem *const mem = plim_mem_or_heap(options->mem);
    plim_cuda *const cuda = plim_mem_alloc_zeroed(mem, 1, sizeof *cuda);
    if (cuda == NULL) {
        return plim_fail_memory(err, "opening a GPU");
    }
    cuda->mem = mem;
    const plim_status status = open_device(cuda, options, err);
    if (status != PLIM_OK) {
        destroy(cuda);
        return status;
    }
    *ret_device = (plim_device){
        .ops = cuda->properties.granularity_bytes > 0 ? &mapping_ops : &plain_ops,
        .self = cuda,
    };
    return PLIM_OK;
}

int32_t plim_cuda_count(const char *driver_path)
{
    plim_cuda_driver driver;
    int count = 0;
    if (plim_cuda_driver_open(&driver, driver_path, NULL) != PLIM_OK) {
        return 0;
    }
    if (driver.device_count(&count) != CU_SUCCESS) {
        count = 0;
    }
    plim_cuda_driver_close(&driver);
    return count;
}
