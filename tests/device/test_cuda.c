/*
 * test_cuda.c - the GPU's calls, made to the fake driver.
 */
#include "base/units.h"
#include "device/contract.h"
#include "device/cuda_abi.h"
#include "device/fake.h"
#include "harness.h"

#include <unistd.h>

static plim_error failure;

static void done(plim_status status)
{
    if (status != PLIM_OK) {
        fail_msg("%s: %s", plim_status_name(status), failure.message);
    }
}

static void it_keeps_the_contract(void)
{
    fake_load();
    fake_driver.set_quiet(true); /* the contract misuses it */
    for (int32_t ordinal = 0; ordinal < 2; ordinal++) {
        contract_subject subject = { .device = fake_open(ordinal, NULL),
                                     .keeps_contents = true,
                                     .is_ours = true };
        contract_check(&subject);
        plim_device_destroy(&subject.device);
    }
    T_TRUE(fake_driver.faults() > 10);
    fake_driver.reset();
}

static void sensible_use_is_no_misuse(void)
{
    fake_load();
    contract_subject subject = { .device = fake_open(1, NULL), .keeps_contents = true };
    contract_check(&subject);
    plim_device_destroy(&subject.device);
    fake_check_clean();
}

static void it_tells_what_the_driver_says_of_it(void)
{
    fake_load();
    fake_driver.set_memory(1, 4 * GIB, GIB);
    fake_driver.set_attribute(CU_ATTRIBUTE_RDMA_WITH_VMM, 0);
    fake_driver.set_attribute(CU_ATTRIBUTE_FABRIC, 1);
    plim_device device = fake_open(1, NULL);
    plim_device_properties properties;
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    device.ops->properties(device.self, &properties);
    T_EQ_STR(properties.name, "Fake GPU 1");
    T_EQ_I64(properties.ordinal, 1);
    T_EQ_U64(properties.total_bytes, 4 * GIB);
    T_EQ_U64(properties.granularity_bytes, 2 * MIB);
    T_FALSE(properties.has_rdma);
    T_TRUE(properties.has_fd_export);
    T_TRUE(properties.has_fabric_export);
    T_FALSE(properties.is_host_readable);
    done(device.ops->info(device.self, &free_bytes, &total, &failure));
    T_EQ_U64(free_bytes, 3 * GIB);
    T_EQ_U64(total, 4 * GIB);
    plim_device_destroy(&device);
    fake_check_clean();
}

static void a_device_that_cannot_map_has_no_entries_for_it(void)
{
    fake_load();
    fake_driver.set_attribute(CU_ATTRIBUTE_VMM, 0);
    contract_subject subject = { .device = fake_open(0, NULL), .keeps_contents = true };
    T_NULL(subject.device.ops->map);
    T_NULL(subject.device.ops->handle_create);
    contract_check(&subject);
    plim_device_destroy(&subject.device);
    fake_check_clean();
}

static void an_old_driver_is_asked_for_symbols(void)
{
    fake_load();
    fake_driver.hide_lookup(true);
    contract_subject subject = { .device = fake_open(0, NULL), .keeps_contents = true };
    T_NOT_NULL(subject.device.ops->map);
    contract_check(&subject);
    plim_device_destroy(&subject.device);
    fake_check_clean();
}

/* --- what can be wrong with a driver --- */

static void opening_fails_with_a_reason(void)
{
    static const struct {
        const char *what;
        const char *driver;
        int32_t ordinal;
        const char *failing;
        int code;
        plim_status status;
        int64_t native;
        const char *message;
    } cases[] = {
        { "no file", "/nowhere/libcuda.so.1", 0, NULL, 0, PLIM_UNSUPPORTED, 0, "/nowhere" },
        { "no driver", FAKE_NVML, 0, NULL, 0, PLIM_UNSUPPORTED, 0, "has no cuInit" },
        { "refusal", FAKE_CUDA, 0, "cuInit", 100, PLIM_IO, 100,
          "cuda: cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected (100)" },
        { "unknown code", FAKE_CUDA, 0, "cuInit", 9999, PLIM_IO, 9999, "unknown error" },
        { "no such device", FAKE_CUDA, 2, NULL, 0, PLIM_INVALID_ARGUMENT, 0, "shows 2" },
        { "negative", FAKE_CUDA, -1, NULL, 0, PLIM_INVALID_ARGUMENT, 0, "no device -1" },
        { "count", FAKE_CUDA, 0, "cuDeviceGetCount", 3, PLIM_IO, 3, "cuDeviceGetCount" },
        { "get", FAKE_CUDA, 0, "cuDeviceGet", 3, PLIM_IO, 3, "cuDeviceGet" },
        { "context", FAKE_CUDA, 0, "cuDevicePrimaryCtxRetain", 2, PLIM_OUT_OF_DEVICE_MEMORY, 2,
          "cuDevicePrimaryCtxRetain" },
        { "push", FAKE_CUDA, 0, "cuCtxPushCurrent", 201, PLIM_IO, 201, "cuCtxPushCurrent" },
        { "name", FAKE_CUDA, 0, "cuDeviceGetName", 1, PLIM_IO, 1, "cuDeviceGetName" },
        { "total", FAKE_CUDA, 0, "cuDeviceTotalMem", 1, PLIM_IO, 1, "cuDeviceTotalMem" },
        { "granularity", FAKE_CUDA, 0, "cuMemGetAllocationGranularity", 1, PLIM_IO, 1,
          "cuMemGetAllocationGranularity" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].what);
        fake_load();
        if (cases[i].failing != NULL) {
            fake_driver.fail_call(cases[i].failing, 1, cases[i].code);
        }
        const plim_cuda_options options = { .driver_path = cases[i].driver,
                                            .nvml_path = "",
                                            .ordinal = cases[i].ordinal };
        plim_device device = { 0 };
        T_EQ_I64(plim_cuda_open(&options, &device, &failure), cases[i].status);
        T_EQ_I64(failure.status, cases[i].status);
        T_EQ_I64(failure.native, cases[i].native);
        if (strstr(failure.message, cases[i].message) == NULL) {
            fail_msg("%s", failure.message);
        }
        T_NULL(device.ops);
        fake_check_clean();
    }
}

static void devices_are_counted(void)
{
    fake_load();
    T_EQ_I64(plim_cuda_count(FAKE_CUDA), 2);
    fake_driver.set_devices(0);
    T_EQ_I64(plim_cuda_count(FAKE_CUDA), 0);
    T_EQ_I64(plim_cuda_count("/nowhere/libcuda.so.1"), 0);
    fake_driver.reset();
    T_EQ_I64(setenv("PLIMSOLL_CUDA_DRIVER", FAKE_CUDA, 1), 0);
    T_EQ_I64(plim_cuda_count(NULL), 2);
    fake_driver.fail_call("cuDeviceGetCount", 1, CU_NOT_INITIALIZED);
    T_EQ_I64(plim_cuda_count(NULL), 0);
    T_EQ_I64(unsetenv("PLIMSOLL_CUDA_DRIVER"), 0);
}

/* --- what can go wrong later --- */

typedef struct opened {
    plim_device device;
    plim_addr addr;
    plim_addr range; /* two granules, the first mapped */
    plim_handle mapped;
    plim_handle spare;
    plim_stream stream;
    plim_fence fence;
} opened;

static opened open_with_things(void)
{
    opened calls = { .device = fake_open(0, NULL) };
    const plim_device_ops *const ops = calls.device.ops;
    void *const self = calls.device.self;
    done(ops->memory_alloc(self, MIB, &calls.addr, &failure));
    done(ops->range_reserve(self, 4 * MIB, &calls.range, &failure));
    done(ops->handle_create(self, 2 * MIB, PLIM_SHARE_FD, &calls.mapped, &failure));
    done(ops->handle_create(self, 2 * MIB, PLIM_SHARE_FD, &calls.spare, &failure));
    done(ops->map(self, calls.range, 2 * MIB, calls.mapped, &failure));
    done(ops->stream_create(self, &calls.stream, &failure));
    done(ops->fence_create(self, &calls.fence, &failure));
    return calls;
}

/* The calls that come down to the first of the functions below, about memory … */
static plim_status call_memory(const opened *calls, size_t n, uint64_t ret[2])
{
    const plim_device_ops *const ops = calls->device.ops;
    void *const self = calls->device.self;
    uint8_t data[PLIM_SHARE_BYTES_MAX];
    switch (n) {
    case 0:
        return ops->info(self, &ret[0], &ret[1], &failure);
    case 1:
        return ops->memory_alloc(self, 1, &ret[0], &failure);
    case 2:
        return ops->memory_free(self, calls->addr, &failure);
    case 3:
        return ops->range_reserve(self, 2 * MIB, &ret[0], &failure);
    case 4:
        return ops->range_free(self, calls->range, 4 * MIB, &failure);
    case 5:
        return ops->handle_create(self, 2 * MIB, PLIM_SHARE_NONE, &ret[0], &failure);
    case 6:
        return ops->handle_release(self, calls->spare, &failure);
    case 7:
        return ops->handle_export(self, calls->spare, PLIM_SHARE_FD, data, &failure);
    case 8:
        return ops->map(self, calls->range + 2 * MIB, 2 * MIB, calls->spare, &failure);
    case 9:
        return ops->unmap(self, calls->range, 2 * MIB, &failure);
    default:
        return ops->set_access(self, calls->range, 2 * MIB, 0, &failure);
    }
}

/* … and to the others, about streams, fences and contents. */
static plim_status call_stream(const opened *calls, size_t n, uint64_t *ret)
{
    const plim_device_ops *const ops = calls->device.ops;
    void *const self = calls->device.self;
    uint8_t byte = 0;
    bool is_complete = false;
    switch (n) {
    case 11:
        return ops->stream_create(self, ret, &failure);
    case 12:
        return ops->stream_destroy(self, calls->stream, &failure);
    case 13:
        return ops->stream_synchronize(self, calls->stream, &failure);
    case 14:
        return ops->synchronize(self, &failure);
    case 15:
        return ops->fence_create(self, ret, &failure);
    case 16:
        return ops->fence_destroy(self, calls->fence, &failure);
    case 17:
        return ops->fence_record(self, calls->fence, calls->stream, &failure);
    case 18:
        return ops->fence_query(self, calls->fence, &is_complete, &failure);
    case 19:
        return ops->fence_synchronize(self, calls->fence, &failure);
    case 20:
        return ops->fill(self, calls->addr, 1, 1, 0, &failure);
    case 21:
        return ops->copy(self, calls->addr, calls->addr + 10, 1, 0, &failure);
    case 22:
        return ops->read(self, &byte, calls->addr, 1, &failure);
    default:
        return ops->write(self, calls->addr, &byte, 1, &failure);
    }
}

/* The nth call of all. When it fails, what it was to return is untouched. */
static plim_status call(const opened *calls, size_t n)
{
    uint64_t ret[2] = { 77, 77 };
    const plim_status status = n <= 10 ? call_memory(calls, n, ret) : call_stream(calls, n, ret);
    T_TRUE(status == PLIM_OK || (ret[0] == 77 && ret[1] == 77));
    return status;
}

static void every_refusal_is_passed_on_with_its_number(void)
{
    static const char *const functions[] = {
        "cuMemGetInfo",     "cuMemAlloc",
        "cuMemFree",        "cuMemAddressReserve",
        "cuMemAddressFree", "cuMemCreate",
        "cuMemRelease",     "cuMemExportToShareableHandle",
        "cuMemMap",         "cuMemUnmap",
        "cuMemSetAccess",   "cuStreamCreate",
        "cuStreamDestroy",  "cuStreamSynchronize",
        "cuCtxSynchronize", "cuEventCreate",
        "cuEventDestroy",   "cuEventRecord",
        "cuEventQuery",     "cuEventSynchronize",
        "cuMemsetD8Async",  "cuMemcpyDtoDAsync",
        "cuMemcpyDtoH",     "cuMemcpyHtoD",
    };
    fake_load();
    for (size_t i = 0; i < T_COUNT(functions); i++) {
        T_CASE("%s", functions[i]);
        opened calls = open_with_things();
        const char *const names[] = { functions[i], "cuCtxPushCurrent" };
        for (size_t j = 0; j < T_COUNT(names); j++) {
            fake_driver.fail_call(names[j], 1, CU_OUT_OF_MEMORY);
            T_EQ_I64(call(&calls, i), PLIM_OUT_OF_DEVICE_MEMORY);
            T_EQ_I64(failure.native, CU_OUT_OF_MEMORY);
            fake_driver.fail_call(names[j], 1, 719);
            T_EQ_I64(call(&calls, i), PLIM_IO);
            T_EQ_I64(failure.native, 719);
            T_NOT_NULL(strstr(failure.message, names[j]));
        }
        plim_device_destroy(&calls.device);
        T_EQ_U64(fake_driver.faults(), 0);
        fake_driver.reset();
    }
}

/* Whoever else has a context current finds it current afterwards. */
static void the_current_context_is_left_alone(void)
{
    fake_load();
    plim_device first = fake_open(0, NULL);
    plim_device second = fake_open(1, NULL);
    plim_addr a = 0;
    plim_addr b = 0;
    for (int i = 0; i < 100; i++) { /* the fake driver's stack of contexts would be full soon */
        done(first.ops->memory_alloc(first.self, MIB, &a, &failure));
        done(second.ops->memory_alloc(second.self, MIB, &b, &failure));
        T_EQ_I64(first.ops->fill(first.self, a, 1, MIB, 0, &failure), PLIM_OK);
        fake_driver.fail_call("cuMemFree", 1, CU_INVALID_VALUE);
        T_EQ_I64(first.ops->memory_free(first.self, a, &failure), PLIM_IO);
        done(first.ops->memory_free(first.self, a, &failure));
        done(second.ops->memory_free(second.self, b, &failure));
    }
    plim_device_destroy(&first);
    plim_device_destroy(&second);
    fake_check_clean();
}

static void memory_is_of_its_own_device(void)
{
    fake_load();
    fake_driver.set_quiet(true);
    plim_device first = fake_open(0, NULL);
    plim_device second = fake_open(1, NULL);
    plim_addr range = 0;
    plim_handle handle = 0;
    uint8_t byte = 3;
    done(first.ops->range_reserve(first.self, 2 * MIB, &range, &failure));
    done(first.ops->handle_create(first.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure));
    done(first.ops->map(first.self, range, 2 * MIB, handle, &failure));
    done(first.ops->set_access(first.self, range, 2 * MIB, 0, &failure));
    done(first.ops->write(first.self, range, &byte, 1, &failure));
    T_EQ_I64(second.ops->read(second.self, &byte, range, 1, &failure), PLIM_IO);
    T_EQ_I64(failure.native, CU_ILLEGAL_ADDRESS);
    done(first.ops->set_access(first.self, range, 2 * MIB, 1, &failure)); /* a peer */
    byte = 0;
    done(second.ops->read(second.self, &byte, range, 1, &failure));
    T_EQ_U64(byte, 3);
    T_EQ_I64(first.ops->set_access(first.self, range, 2 * MIB, 7, &failure), PLIM_IO);
    done(first.ops->unmap(first.self, range, 2 * MIB, &failure));
    done(first.ops->handle_release(first.self, handle, &failure));
    done(first.ops->range_free(first.self, range, 2 * MIB, &failure));
    plim_device_destroy(&first);
    plim_device_destroy(&second);
    fake_driver.reset();
}

static void pending_work_is_waited_for(void)
{
    fake_load();
    fake_driver.set_pending(true);
    plim_device device = fake_open(0, NULL);
    const plim_device_ops *const ops = device.ops;
    plim_stream stream = 0;
    plim_fence fence = 0;
    bool is_complete = true;
    done(ops->stream_create(device.self, &stream, &failure));
    done(ops->fence_create(device.self, &fence, &failure));
    done(ops->fence_record(device.self, fence, stream, &failure));
    done(ops->fence_query(device.self, fence, &is_complete, &failure));
    T_FALSE(is_complete);
    fake_driver.complete(0);
    done(ops->fence_query(device.self, fence, &is_complete, &failure));
    T_FALSE(is_complete);
    fake_driver.complete(stream);
    done(ops->fence_query(device.self, fence, &is_complete, &failure));
    T_TRUE(is_complete);

    /* Reading and writing wait for all that is under way on the device. */
    plim_addr addr = 0;
    uint8_t byte = 0;
    done(ops->memory_alloc(device.self, MIB, &addr, &failure));
    for (int i = 0; i < 2; i++) {
        done(ops->fence_record(device.self, fence, stream, &failure));
        done(i == 0 ? ops->read(device.self, &byte, addr, 1, &failure)
                    : ops->write(device.self, addr, &byte, 1, &failure));
        done(ops->fence_query(device.self, fence, &is_complete, &failure));
        T_TRUE(is_complete);
    }
    done(ops->memory_free(device.self, addr, &failure));

    /* The driver notices memory that goes while it may be in use. */
    plim_addr range = 0;
    plim_handle handle = 0;
    done(ops->range_reserve(device.self, 2 * MIB, &range, &failure));
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure));
    done(ops->map(device.self, range, 2 * MIB, handle, &failure));
    done(ops->fence_record(device.self, fence, stream, &failure));
    done(ops->fence_synchronize(device.self, fence, &failure));
    done(ops->unmap(device.self, range, 2 * MIB, &failure));
    T_EQ_U64(fake_driver.faults(), 0);
    fake_driver.set_quiet(true);
    done(ops->map(device.self, range, 2 * MIB, handle, &failure));
    done(ops->fence_record(device.self, fence, stream, &failure));
    done(ops->unmap(device.self, range, 2 * MIB, &failure));
    T_EQ_U64(fake_driver.faults(), 1);
    T_EQ_STR(fake_driver.fault_text(), "cuMemUnmap while work on device 0 is pending");
    plim_device_destroy(&device);
    fake_driver.reset();
}

static void a_capture_elsewhere_does_not_stop_it(void)
{
    fake_load();
    plim_device device = fake_open(0, NULL);
    const plim_device_ops *const ops = device.ops;
    plim_stream stream = 0;
    plim_fence fence = 0;
    plim_addr addr = 0;
    bool is_complete = false;
    done(ops->stream_create(device.self, &stream, &failure));
    done(ops->fence_create(device.self, &fence, &failure));
    fake_driver.set_capturing(stream, true);
    T_TRUE(ops->stream_is_capturing(device.self, stream));
    T_FALSE(ops->stream_is_capturing(device.self, 0));
    fake_driver.fail_call("cuStreamIsCapturing", 1, CU_INVALID_CONTEXT);
    T_FALSE(ops->stream_is_capturing(device.self, stream));
    done(ops->memory_alloc(device.self, MIB, &addr, &failure));
    done(ops->memory_free(device.self, addr, &failure));
    done(ops->fence_query(device.self, fence, &is_complete, &failure));
    T_TRUE(is_complete);
    fake_driver.set_capturing(stream, false);
    done(ops->fence_destroy(device.self, fence, &failure));
    done(ops->stream_destroy(device.self, stream, &failure));
    plim_device_destroy(&device);
    fake_check_clean();
}

static void handles_can_leave_the_process(void)
{
    fake_load();
    fake_driver.set_attribute(CU_ATTRIBUTE_FABRIC, 1);
    plim_device device = fake_open(0, NULL);
    const plim_device_ops *const ops = device.ops;
    plim_handle handle = 0;
    int file = -1;
    uint8_t fabric[PLIM_SHARE_BYTES_MAX];
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FD, &handle, &failure));
    done(ops->handle_export(device.self, handle, PLIM_SHARE_FD, &file, &failure));
    T_EQ_I64(close(file), 0);
    T_EQ_I64(ops->handle_export(device.self, handle, PLIM_SHARE_FABRIC, fabric, &failure), PLIM_IO);
    T_EQ_I64(ops->handle_export(device.self, handle, PLIM_SHARE_NONE, fabric, &failure),
             PLIM_INVALID_ARGUMENT);
    done(ops->handle_release(device.self, handle, &failure));
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FABRIC, &handle, &failure));
    done(ops->handle_export(device.self, handle, PLIM_SHARE_FABRIC, fabric, &failure));
    done(ops->handle_release(device.self, handle, &failure));
    fake_driver.set_attribute(CU_ATTRIBUTE_FABRIC, 0);
    T_EQ_I64(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FABRIC, &handle, &failure),
             PLIM_IO);
    T_EQ_I64(failure.native, CU_NOT_SUPPORTED);
    plim_device_destroy(&device);
    fake_check_clean();
}

/* --- processes --- */

static size_t processes(const char *mood, plim_device_process *ret, size_t capacity)
{
    T_EQ_I64(setenv("FAKE_NVML", mood, 1), 0);
    plim_device device = fake_open(0, NULL);
    const size_t count = device.ops->processes(device.self, ret, capacity);
    plim_device_destroy(&device);
    T_EQ_I64(unsetenv("FAKE_NVML"), 0);
    return count;
}

static void processes_are_told_if_they_are_known(void)
{
    fake_load();
    plim_device_process list[200];
    T_EQ_U64(processes("", list, T_COUNT(list)), 2);
    T_EQ_I64(list[0].pid, 1000);
    T_EQ_U64(list[0].used_bytes, GIB);
    T_EQ_I64(list[1].pid, 1001);
    T_EQ_U64(list[1].used_bytes, PLIM_USED_UNKNOWN);
    T_EQ_U64(processes("", list, 1), 1);
    T_EQ_U64(processes("", NULL, 0), 0);
    T_EQ_U64(processes("many", list, T_COUNT(list)), 100);
    T_EQ_I64(list[99].pid, 1099);
    T_EQ_U64(processes("growing", list, T_COUNT(list)), 0);
    T_EQ_U64(processes("refuses", list, T_COUNT(list)), 0);
    T_EQ_U64(processes("lost", list, T_COUNT(list)), 0);
    static const char *const paths[] = { "", "/nowhere/libnvidia-ml.so.1", FAKE_CUDA };
    for (size_t i = 0; i < T_COUNT(paths); i++) {
        T_CASE("NVML at '%s'", paths[i]);
        const plim_cuda_options options = { .driver_path = FAKE_CUDA, .nvml_path = paths[i] };
        plim_device device;
        done(plim_cuda_open(&options, &device, &failure));
        T_EQ_U64(device.ops->processes(device.self, list, T_COUNT(list)), 0);
        plim_device_destroy(&device);
    }
    fake_check_clean();
}

/* --- host memory --- */

static bool open_and_ask(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_cuda_options options = { .driver_path = FAKE_CUDA,
                                        .nvml_path = FAKE_NVML,
                                        .mem = mem };
    plim_device device;
    plim_device_process list[4];
    if (plim_cuda_open(&options, &device, &failure) != PLIM_OK) {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
        return false;
    }
    const bool is_told = device.ops->processes(device.self, list, T_COUNT(list)) == 2;
    plim_device_destroy(&device);
    return is_told;
}

static void running_out_of_host_memory_leaves_it_whole(void)
{
    fake_load();
    t_fail_each_allocation(open_and_ask, NULL);
    fake_check_clean();
}

T_MAIN(T_TEST(it_keeps_the_contract), T_TEST(sensible_use_is_no_misuse),
       T_TEST(it_tells_what_the_driver_says_of_it),
       T_TEST(a_device_that_cannot_map_has_no_entries_for_it),
       T_TEST(an_old_driver_is_asked_for_symbols), T_TEST(opening_fails_with_a_reason),
       T_TEST(devices_are_counted), T_TEST(every_refusal_is_passed_on_with_its_number),
       T_TEST(the_current_context_is_left_alone), T_TEST(memory_is_of_its_own_device),
       T_TEST(pending_work_is_waited_for), T_TEST(a_capture_elsewhere_does_not_stop_it),
       T_TEST(handles_can_leave_the_process), T_TEST(processes_are_told_if_they_are_known),
       T_TEST(running_out_of_host_memory_leaves_it_whole))
