/*
 * test_host.c - the device of real memory.
 */
#include "base/units.h"
#include "device/contract.h"
#include "harness.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

static plim_error failure;

static plim_device create(uint64_t total_bytes, uint64_t granularity_bytes)
{
    const plim_host_options options = { .total_bytes = total_bytes,
                                        .granularity_bytes = granularity_bytes };
    plim_device device;
    if (plim_host_create(&options, &device, &failure) != PLIM_OK) {
        fail_msg("%s", failure.message);
    }
    return device;
}

static void done(plim_status status)
{
    if (status != PLIM_OK) {
        fail_msg("%s: %s", plim_status_name(status), failure.message);
    }
}

static volatile uint8_t *bytes_at(plim_addr addr)
{
    return (volatile uint8_t *)(uintptr_t)addr;
}

/* True if the kernel would let the process read there. */
static bool can_be_read(plim_addr addr)
{
    int ends[2];
    T_EQ_I64(pipe(ends), 0);
    const ssize_t written = write(ends[1], (const void *)(uintptr_t)addr, 1);
    const int error = errno;
    (void)close(ends[0]);
    (void)close(ends[1]);
    T_TRUE(written == 1 || error == EFAULT);
    return written == 1;
}

static void it_keeps_the_contract(void)
{
    contract_subject subject = { .device = create(64 * MIB, 0),
                                 .is_ours = true,
                                 .keeps_contents = true };
    contract_check(&subject);
    plim_device_destroy(&subject.device);
    subject.device = create(64 * MIB, 65536);
    contract_check(&subject);
    plim_device_destroy(&subject.device);
}

static void addresses_are_those_of_the_process(void)
{
    plim_device device = create(GIB, 0);
    const plim_device_ops *const ops = device.ops;
    plim_addr addr = 0;
    plim_addr range = 0;
    plim_handle handle = 0;
    done(ops->memory_alloc(device.self, 10, &addr, &failure));
    bytes_at(addr)[9] = 7;
    uint8_t byte = 0;
    done(ops->read(device.self, &byte, addr + 9, 1, &failure));
    T_EQ_U64(byte, 7);

    done(ops->range_reserve(device.self, 8 * MIB, &range, &failure));
    T_FALSE(can_be_read(range));
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure));
    done(ops->map(device.self, range + 2 * MIB, 2 * MIB, handle, &failure));
    T_FALSE(can_be_read(range + 2 * MIB)); /* access is another matter */
    done(ops->set_access(device.self, range + 2 * MIB, 2 * MIB, 0, &failure));
    T_TRUE(can_be_read(range + 2 * MIB));
    T_FALSE(can_be_read(range));
    T_FALSE(can_be_read(range + 4 * MIB));
    /* In two places at once. */
    done(ops->map(device.self, range + 6 * MIB, 2 * MIB, handle, &failure));
    done(ops->set_access(device.self, range + 6 * MIB, 2 * MIB, 1, &failure));
    bytes_at(range + 2 * MIB)[5] = 55;
    T_EQ_U64(bytes_at(range + 6 * MIB)[5], 55);
    done(ops->unmap(device.self, range + 2 * MIB, 2 * MIB, &failure));
    T_FALSE(can_be_read(range + 2 * MIB));
    T_EQ_U64(bytes_at(range + 6 * MIB)[5], 55);
    plim_device_destroy(&device); /* with all of that left */
    T_FALSE(can_be_read(range + 6 * MIB));
    T_FALSE(can_be_read(addr));
}

static void thousands_of_handles_need_one_descriptor(void)
{
    enum { COUNT = 5000 };
    plim_device device = create(COUNT * UINT64_C(65536), 65536);
    const plim_device_ops *const ops = device.ops;
    static plim_handle handles[COUNT];
    plim_addr range = 0;
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    done(ops->range_reserve(device.self, COUNT * UINT64_C(65536), &range, &failure));
    for (uint64_t i = 0; i < COUNT; i++) {
        const plim_addr addr = range + (i * 7919 % COUNT) * 65536;
        done(ops->handle_create(device.self, 65536, PLIM_SHARE_NONE, &handles[i], &failure));
        done(ops->map(device.self, addr, 65536, handles[i], &failure));
        done(ops->set_access(device.self, addr, 65536, 0, &failure));
        bytes_at(addr)[i % 65536] = (uint8_t)i;
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        T_EQ_U64(bytes_at(range + (i * 7919 % COUNT) * 65536)[i % 65536], (uint8_t)i);
        done(ops->handle_release(device.self, handles[i], &failure));
    }
    done(ops->info(device.self, &free_bytes, &total, &failure));
    T_EQ_U64(free_bytes, 0);
    done(ops->unmap(device.self, range, COUNT * UINT64_C(65536), &failure));
    done(ops->info(device.self, &free_bytes, &total, &failure));
    T_EQ_U64(free_bytes, total);
    plim_device_destroy(&device);
}

/* Released memory goes back to the system: what takes its place in the file begins empty. */
static void released_memory_is_gone(void)
{
    plim_device device = create(GIB, 0);
    const plim_device_ops *const ops = device.ops;
    plim_addr range = 0;
    done(ops->range_reserve(device.self, 2 * MIB, &range, &failure));
    for (int i = 0; i < 3; i++) {
        plim_handle handle = 0;
        done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure));
        done(ops->map(device.self, range, 2 * MIB, handle, &failure));
        done(ops->set_access(device.self, range, 2 * MIB, 0, &failure));
        T_EQ_U64(bytes_at(range)[12345], 0);
        bytes_at(range)[12345] = 1;
        done(ops->unmap(device.self, range, 2 * MIB, &failure));
        done(ops->handle_release(device.self, handle, &failure));
    }
    plim_device_destroy(&device);
}

/* … and the file does not grow with each handle: it stays within a limit, and is held to it. */
static void a_limit_on_files_is_an_ordinary_answer(void)
{
    struct rlimit before;
    T_EQ_I64(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit lower = before;
    lower.rlim_cur = 8 * MIB;
    T_EQ_I64(setrlimit(RLIMIT_FSIZE, &lower), 0);
    plim_device device = create(GIB, 0);
    const plim_device_ops *const ops = device.ops;
    plim_handle handles[5] = { 0 };
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < 40; i++) {
        plim_handle *const handle = &handles[i % 4];
        T_TRUE(*handle == 0 || ops->handle_release(device.self, *handle, &failure) == PLIM_OK);
        done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, handle, &failure));
    }
    T_EQ_I64(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handles[4], &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    T_NOT_NULL(strstr(failure.message, "ulimit -f"));
    T_EQ_I64(ops->handle_create(device.self, 10 * MIB, PLIM_SHARE_FD, &handles[4], &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(setrlimit(RLIMIT_FSIZE, &before), 0);
    done(ops->info(device.self, &free_bytes, &total, &failure));
    T_EQ_U64(total - free_bytes, 8 * MIB);
    plim_device_destroy(&device);
}

static int lowest_free_descriptor(void)
{
    const int file = dup(0);
    T_TRUE(file >= 0);
    T_EQ_I64(close(file), 0);
    return file;
}

static void descriptors_are_given_back(void)
{
    const int before = lowest_free_descriptor();
    plim_device device = create(GIB, 0);
    const plim_device_ops *const ops = device.ops;
    plim_handle released = 0;
    plim_handle left = 0;
    const int with_device = lowest_free_descriptor();
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FD, &released, &failure));
    T_TRUE(lowest_free_descriptor() > with_device);
    done(ops->handle_release(device.self, released, &failure));
    T_EQ_I64(lowest_free_descriptor(), with_device);
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FD, &left, &failure));
    plim_device_destroy(&device);
    T_EQ_I64(lowest_free_descriptor(), before);
}

static void a_handle_can_leave_the_process(void)
{
    plim_device device = create(GIB, 0);
    const plim_device_ops *const ops = device.ops;
    plim_addr range = 0;
    plim_handle shared = 0;
    plim_handle own = 0;
    int file = -1;
    done(ops->range_reserve(device.self, 2 * MIB, &range, &failure));
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FD, &shared, &failure));
    done(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &own, &failure));
    T_EQ_I64(ops->handle_export(device.self, own, PLIM_SHARE_FD, &file, &failure),
             PLIM_INVALID_ARGUMENT);
    T_EQ_I64(ops->handle_export(device.self, shared, PLIM_SHARE_FABRIC, &file, &failure),
             PLIM_INVALID_ARGUMENT);
    T_EQ_I64(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FABRIC, &own, &failure),
             PLIM_UNSUPPORTED);
    done(ops->map(device.self, range, 2 * MIB, shared, &failure));
    done(ops->set_access(device.self, range, 2 * MIB, 0, &failure));
    done(ops->handle_export(device.self, shared, PLIM_SHARE_FD, &file, &failure));
    bytes_at(range)[77] = 78;
    done(ops->unmap(device.self, range, 2 * MIB, &failure));
    done(ops->handle_release(device.self, shared, &failure));
    T_EQ_I64(ops->handle_export(device.self, shared, PLIM_SHARE_FD, &file, &failure),
             PLIM_INVALID_ARGUMENT);
    /* As another process would that was sent it, and keeps it. */
    uint8_t *const seen = mmap(NULL, 2 * MIB, PROT_READ, MAP_SHARED, file, 0);
    T_TRUE(seen != MAP_FAILED);
    T_EQ_U64(seen[77], 78);
    T_EQ_I64(munmap(seen, 2 * MIB), 0);
    T_EQ_I64(close(file), 0);
    plim_device_destroy(&device);
}

/* 0: unknown. */
static long mappings_max(void)
{
    char text[32] = "";
    FILE *const file = fopen("/proc/sys/vm/max_map_count", "r");
    if (file == NULL) {
        return 0;
    }
    const bool is_read = fgets(text, sizeof text, file) != NULL;
    (void)fclose(file);
    return is_read ? strtol(text, NULL, 10) : 0;
}

/* Each piece with a neighbour of another kind is a mapping of its own, and those are limited. */
static void too_many_mappings_are_an_ordinary_answer(void)
{
    enum { PIECES = 40000 };
    const long count_max = mappings_max();
    if (IS_SANITIZED) {
        T_SKIP("the sanitizer itself needs mappings");
    }
    if (count_max == 0 || count_max > 2 * PIECES) {
        T_SKIP("this system allows %ld mappings", count_max);
    }
    plim_device device = create(GIB, 4096);
    const plim_device_ops *const ops = device.ops;
    plim_addr range = 0;
    plim_handle handle = 0;
    plim_status status = PLIM_OK;
    uint64_t mapped = 0;
    done(ops->range_reserve(device.self, 2 * PIECES * UINT64_C(4096), &range, &failure));
    done(ops->handle_create(device.self, 4096, PLIM_SHARE_NONE, &handle, &failure));
    while (status == PLIM_OK && mapped < PIECES) {
        status = ops->map(device.self, range + 2 * mapped * 4096, 4096, handle, &failure);
        mapped += status == PLIM_OK;
    }
    T_EQ_I64(status, PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(failure.native, ENOMEM);
    T_NOT_NULL(strstr(failure.message, "max_map_count"));
    /* It goes on as soon as there are fewer. */
    done(ops->unmap(device.self, range, 4096, &failure));
    done(ops->unmap(device.self, range + UINT64_C(8192), 4096, &failure));
    done(ops->map(device.self, range + 2 * mapped * 4096, 4096, handle, &failure));
    done(ops->unmap(device.self, range + UINT64_C(16384), 4096, &failure));
    done(ops->unmap(device.self, range + UINT64_C(24576), 4096, &failure));
    done(ops->map(device.self, range, 4096, handle, &failure));
    done(ops->set_access(device.self, range, 4096, 0, &failure));
    bytes_at(range)[0] = 1;
    plim_device_destroy(&device);
}

static void senseless_options_are_refused(void)
{
    static const plim_host_options bad[] = {
        { .total_bytes = 0 },
        { .total_bytes = UINT64_MAX },
        { .total_bytes = GIB, .ordinal = -1 },
        { .total_bytes = GIB, .granularity_bytes = 3 * MIB },
        { .total_bytes = GIB, .granularity_bytes = 512 },
        { .total_bytes = GIB, .granularity_bytes = 2 * GIB },
    };
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        T_CASE("options %zu", i);
        plim_device device = { 0 };
        T_EQ_I64(plim_host_create(&bad[i], &device, &failure), PLIM_INVALID_ARGUMENT);
        T_NULL(device.ops);
    }
}

static void addresses_that_no_machine_has_are_an_ordinary_answer(void)
{
    plim_device device = create(GIB, 0);
    plim_addr addr = 0;
    T_EQ_I64(device.ops->range_reserve(device.self, UINT64_C(1) << 60, &addr, &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(device.ops->range_reserve(device.self, -(2 * MIB), &addr, &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    plim_device_destroy(&device);
}

static bool live_a_little(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_host_options options = { .mem = mem, .total_bytes = GIB };
    plim_device device;
    if (plim_host_create(&options, &device, &failure) != PLIM_OK) {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
        return false;
    }
    const plim_device_ops *const ops = device.ops;
    plim_addr addr = 0;
    plim_addr range = 0;
    plim_handle handles[2] = { 0 };
    const bool is_done =
        ops->memory_alloc(device.self, 1, &addr, &failure) == PLIM_OK &&
        ops->range_reserve(device.self, 4 * MIB, &range, &failure) == PLIM_OK &&
        ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handles[0], &failure) ==
            PLIM_OK &&
        ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FD, &handles[1], &failure) == PLIM_OK &&
        ops->map(device.self, range, 2 * MIB, handles[0], &failure) == PLIM_OK &&
        ops->map(device.self, range + 2 * MIB, 2 * MIB, handles[1], &failure) == PLIM_OK &&
        ops->set_access(device.self, range, 4 * MIB, 0, &failure) == PLIM_OK;
    if (!is_done) {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
    }
    T_TRUE(addr == 0 || ops->memory_free(device.self, addr, &failure) == PLIM_OK);
    for (int i = 0; i < 2; i++) {
        T_TRUE(handles[i] == 0 ||
               ops->handle_release(device.self, handles[i], &failure) == PLIM_OK);
        (void)ops->unmap(device.self, range + (uint64_t)i * 2 * MIB, 2 * MIB, &failure);
    }
    T_TRUE(range == 0 || ops->range_free(device.self, range, 4 * MIB, &failure) == PLIM_OK);
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    done(ops->info(device.self, &free_bytes, &total, &failure));
    T_EQ_U64(free_bytes, total);
    plim_device_destroy(&device);
    return is_done;
}

static void running_out_of_host_memory_leaves_it_whole(void)
{
    t_fail_each_allocation(live_a_little, NULL);
}

T_MAIN(T_TEST(it_keeps_the_contract), T_TEST(addresses_are_those_of_the_process),
       T_TEST(thousands_of_handles_need_one_descriptor), T_TEST(released_memory_is_gone),
       T_TEST(a_limit_on_files_is_an_ordinary_answer), T_TEST(descriptors_are_given_back),
       T_TEST(a_handle_can_leave_the_process), T_TEST(too_many_mappings_are_an_ordinary_answer),
       T_TEST(senseless_options_are_refused),
       T_TEST(addresses_that_no_machine_has_are_an_ordinary_answer),
       T_TEST(running_out_of_host_memory_leaves_it_whole))
