/*
 * test_sim.c - the device of addresses and counters.
 */
#include "base/units.h"
#include "device/contract.h"
#include "harness.h"

#define PLAIN_BASE    UINT64_C(0x7a0000000000)
#define RANGES_BASE   UINT64_C(0x700000000000)
#define PLACED_PIECES 300

static plim_error failure;

static plim_device create(plim_sim_options options)
{
    plim_device device;
    if (options.total_bytes == 0) {
        options.total_bytes = 80 * GIB;
    }
    if (plim_sim_create(&options, &device, &failure) != PLIM_OK) {
        fail_msg("%s", failure.message);
    }
    return device;
}

static plim_addr taken(const plim_device *device, uint64_t bytes)
{
    plim_addr addr = 0;
    T_EQ_I64(device->ops->memory_alloc(device->self, bytes, &addr, &failure), PLIM_OK);
    return addr;
}

static plim_addr reserved(const plim_device *device, uint64_t bytes)
{
    plim_addr addr = 0;
    T_EQ_I64(device->ops->range_reserve(device->self, bytes, &addr, &failure), PLIM_OK);
    return addr;
}

static void given_back(const plim_device *device, plim_addr addr)
{
    T_EQ_I64(device->ops->memory_free(device->self, addr, &failure), PLIM_OK);
}

static bool is_complete(const plim_device *device, plim_fence fence)
{
    bool complete = false;
    T_EQ_I64(device->ops->fence_query(device->self, fence, &complete, &failure), PLIM_OK);
    return complete;
}

static void it_keeps_the_contract(void)
{
    contract_subject subject = { .device = create((plim_sim_options){ .total_bytes = 64 * MIB }),
                                 .is_ours = true };
    contract_check(&subject);
    plim_device_destroy(&subject.device);
    T_NULL(subject.device.ops);
    subject.device = create((plim_sim_options){ .total_bytes = 300 * MIB + 5,
                                                .granularity_bytes = 4096,
                                                .ordinal = 3,
                                                .has_manual_fences = true });
    contract_check(&subject);
    plim_device_destroy(&subject.device);
    plim_device_destroy(&subject.device);
    plim_device_destroy(NULL);
}

/* As the recorder's stand-in places them. */
static void addresses_are_where_the_recordings_have_them(void)
{
    plim_device device = create((plim_sim_options){ 0 });
    T_EQ_U64(taken(&device, 1), PLAIN_BASE);
    T_EQ_U64(taken(&device, 3 * MIB), PLAIN_BASE + 2 * MIB);
    T_EQ_U64(taken(&device, 20 * MIB), PLAIN_BASE + 6 * MIB);
    given_back(&device, PLAIN_BASE + 2 * MIB);
    T_EQ_U64(taken(&device, 5 * MIB), PLAIN_BASE + 26 * MIB);
    T_EQ_U64(taken(&device, 2 * MIB), PLAIN_BASE + 2 * MIB);
    T_EQ_U64(plim_sim_taken_bytes(&device), 30 * MIB);
    T_EQ_U64(reserved(&device, 90 * GIB), RANGES_BASE);
    T_EQ_U64(reserved(&device, 90 * GIB), RANGES_BASE + 90 * GIB);
    plim_device_destroy(&device);
}

static void devices_do_not_share_addresses(void)
{
    plim_addr ranges[32];
    plim_addr plain[32];
    for (int32_t i = 0; i < 32; i++) {
        plim_device device =
            create((plim_sim_options){ .ordinal = i, .total_bytes = 64 * 1024 * GIB });
        ranges[i] = reserved(&device, 6 * 1024 * GIB);
        plain[i] = taken(&device, 200 * GIB);
        T_EQ_U64(plain[i], PLAIN_BASE + (uint64_t)i * 256 * GIB);
        /* What does not fit goes on elsewhere, and ends before the next device's. */
        T_TRUE(reserved(&device, 57 * 1024 * GIB) >= UINT64_C(1) << 48);
        T_TRUE(taken(&device, 100 * GIB) >= UINT64_C(1) << 52);
        T_TRUE(taken(&device, 63 * 1024 * GIB) >= UINT64_C(1) << 52);
        plim_device_destroy(&device);
    }
    for (int32_t i = 0; i < 32; i++) {
        T_TRUE(i >= 16 || ranges[i] < plain[i]); /* as on the first */
        for (int32_t j = 0; j < i; j++) {
            const uint64_t apart =
                ranges[i] < ranges[j] ? ranges[j] - ranges[i] : ranges[i] - ranges[j];
            T_TRUE(apart >= 7 * 1024 * GIB);
        }
    }
}

static void a_hundred_segments_of_a_large_device_fit(void)
{
    plim_device device = create((plim_sim_options){ .total_bytes = 288 * GIB });
    plim_addr last = 0;
    for (int i = 0; i < 100; i++) {
        const plim_addr addr = reserved(&device, 324 * GIB);
        T_TRUE(addr > last);
        last = addr;
    }
    plim_device_destroy(&device);
}

/* --- placement against a naive device --- */

typedef struct piece {
    plim_addr base;
    uint64_t bytes;
} piece;

/* Sorted by address. */
typedef struct naive {
    piece pieces[PLACED_PIECES];
    size_t count;
    plim_addr window;
} naive;

static plim_addr naive_place(naive *model, uint64_t bytes)
{
    plim_addr base = model->window;
    size_t i = 0;
    while (i < model->count && model->pieces[i].base - base < bytes) {
        base = model->pieces[i].base + model->pieces[i].bytes;
        i++;
    }
    memmove(model->pieces + i + 1, model->pieces + i, (model->count - i) * sizeof(piece));
    model->pieces[i] = (piece){ base, bytes };
    model->count++;
    return base;
}

static piece naive_remove(naive *model, size_t i)
{
    const piece gone = model->pieces[i];
    model->count--;
    memmove(model->pieces + i, model->pieces + i + 1, (model->count - i) * sizeof(piece));
    return gone;
}

static void placement_agrees_with_a_naive_device(void)
{
    plim_device device = create((plim_sim_options){ .ordinal = 2 });
    naive plain = { .window = PLAIN_BASE + 512 * GIB };
    naive ranges = { .window = RANGES_BASE - 2 * UINT64_C(0x070000000000) };
    for (int i = 0; i < 20000; i++) {
        const bool is_range = t_random_between(0, 3) == 0;
        naive *const model = is_range ? &ranges : &plain;
        const bool is_giving = t_random_between(0, PLACED_PIECES - 1) < model->count;
        const uint64_t granules = t_random_bytes(1, 40);
        if (is_giving) {
            const piece gone = naive_remove(model, (size_t)t_random_between(0, model->count - 1));
            if (is_range) {
                T_EQ_I64(device.ops->range_free(device.self, gone.base, gone.bytes, &failure),
                         PLIM_OK);
            } else {
                given_back(&device, gone.base);
            }
        } else if (is_range) {
            T_EQ_U64(reserved(&device, granules * 2 * MIB), naive_place(model, granules * 2 * MIB));
        } else {
            const uint64_t less = t_random_between(0, 2 * MIB - 1);
            T_EQ_U64(taken(&device, granules * 2 * MIB - less),
                     naive_place(model, granules * 2 * MIB));
        }
    }
    plim_device_destroy(&device);
}

/* --- what a parameter changes --- */

static void what_others_hold_is_not_free(void)
{
    plim_device device =
        create((plim_sim_options){ .total_bytes = 10 * GIB, .used_bytes = 4 * GIB });
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    const plim_addr addr = taken(&device, 5 * GIB);
    T_EQ_I64(device.ops->info(device.self, &free_bytes, &total, &failure), PLIM_OK);
    T_EQ_U64(free_bytes, GIB);
    T_EQ_U64(total, 10 * GIB);
    plim_sim_set_used(&device, 7 * GIB); /* more than there is room for: it happens */
    T_EQ_I64(device.ops->info(device.self, &free_bytes, &total, &failure), PLIM_OK);
    T_EQ_U64(free_bytes, 0);
    plim_addr more = 0;
    T_EQ_I64(device.ops->memory_alloc(device.self, 1, &more, &failure), PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_STR(failure.message, "sim: 2097152 bytes requested, 0 of 10737418240 are free");
    given_back(&device, addr);
    T_EQ_U64(plim_sim_taken_bytes(&device), 0);
    plim_device_destroy(&device);
}

static void it_can_be_a_device_that_cannot_map(void)
{
    plim_device device =
        create((plim_sim_options){ .cannot_map = true, .name = "Quadro", .ordinal = 1 });
    plim_device_properties properties;
    device.ops->properties(device.self, &properties);
    T_EQ_U64(properties.granularity_bytes, 0);
    T_EQ_STR(properties.name, "Quadro");
    T_EQ_I64(properties.ordinal, 1);
    T_NULL(device.ops->map);
    T_NULL(device.ops->range_reserve);
    T_NULL(device.ops->handle_create);
    const contract_subject subject = { .device = device, .is_ours = true };
    contract_check(&subject);
    plim_device_destroy(&device);
}

static void senseless_options_are_refused(void)
{
    static const plim_sim_options bad[] = {
        { .total_bytes = 0 },
        { .total_bytes = UINT64_MAX },
        { .total_bytes = GIB, .ordinal = -1 },
        { .total_bytes = GIB, .ordinal = 32 },
        { .total_bytes = GIB, .granularity_bytes = 3 * MIB },
        { .total_bytes = GIB, .granularity_bytes = 2 * GIB },
    };
    for (size_t i = 0; i < T_COUNT(bad); i++) {
        T_CASE("options %zu", i);
        plim_device device = { 0 };
        T_EQ_I64(plim_sim_create(&bad[i], &device, &failure), PLIM_INVALID_ARGUMENT);
        T_EQ_I64(plim_sim_create(&bad[i], &device, NULL), PLIM_INVALID_ARGUMENT);
        T_NULL(device.ops);
    }
}

static void its_memory_cannot_leave_the_process(void)
{
    plim_device device = create((plim_sim_options){ 0 });
    plim_handle handle = 0;
    uint8_t data[PLIM_SHARE_BYTES_MAX];
    T_EQ_I64(device.ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_FD, &handle, &failure),
             PLIM_UNSUPPORTED);
    T_EQ_I64(device.ops->handle_export(device.self, 1, PLIM_SHARE_FD, data, &failure),
             PLIM_UNSUPPORTED);
    T_EQ_U64(plim_sim_taken_bytes(&device), 0);
    plim_device_destroy(&device);
}

static void access_of_a_peer_is_no_access_of_its_own(void)
{
    plim_device device = create((plim_sim_options){ .ordinal = 1 });
    const plim_device_ops *const ops = device.ops;
    plim_handle handle = 0;
    uint8_t byte = 1;
    const plim_addr range = reserved(&device, 2 * MIB);
    T_EQ_I64(ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure), PLIM_OK);
    T_EQ_I64(ops->map(device.self, range, 2 * MIB, handle, &failure), PLIM_OK);
    T_EQ_I64(ops->set_access(device.self, range, 2 * MIB, 0, &failure), PLIM_OK);
    T_EQ_I64(ops->read(device.self, &byte, range, 1, &failure), PLIM_INVALID_ARGUMENT);
    T_EQ_I64(ops->set_access(device.self, range, 2 * MIB, -1, &failure), PLIM_INVALID_ARGUMENT);
    T_EQ_I64(ops->set_access(device.self, range, 2 * MIB, 1, &failure), PLIM_OK);
    T_EQ_I64(ops->set_access(device.self, range, 2 * MIB, 1, &failure), PLIM_OK); /* again */
    T_EQ_I64(ops->read(device.self, &byte, range, 1, &failure), PLIM_OK);
    T_EQ_U64(byte, 0);
    plim_device_destroy(&device);
}

/* --- fences --- */

static void fences_wait_to_be_completed(void)
{
    plim_device device = create((plim_sim_options){ .has_manual_fences = true });
    const plim_device_ops *const ops = device.ops;
    plim_fence first = 0;
    plim_fence second = 0;
    plim_fence other = 0;
    T_EQ_I64(ops->fence_create(device.self, &first, &failure), PLIM_OK);
    T_EQ_I64(ops->fence_create(device.self, &second, &failure), PLIM_OK);
    T_EQ_I64(ops->fence_create(device.self, &other, &failure), PLIM_OK);
    T_TRUE(is_complete(&device, first));
    T_EQ_I64(ops->fence_record(device.self, first, 7, &failure), PLIM_OK);
    T_EQ_I64(ops->fence_record(device.self, second, 7, &failure), PLIM_OK);
    T_EQ_I64(ops->fence_record(device.self, other, 8, &failure), PLIM_OK);
    T_FALSE(is_complete(&device, first));
    plim_sim_complete(&device, 9); /* nobody's */
    T_EQ_I64(ops->fence_synchronize(device.self, first, &failure), PLIM_OK);
    T_TRUE(is_complete(&device, first));
    T_FALSE(is_complete(&device, second));
    plim_sim_complete(&device, 7);
    T_TRUE(is_complete(&device, second));
    T_FALSE(is_complete(&device, other));

    /* Recorded again, it waits again. */
    T_EQ_I64(ops->fence_record(device.self, first, 8, &failure), PLIM_OK);
    T_FALSE(is_complete(&device, first));
    plim_sim_complete_all(&device);
    T_TRUE(is_complete(&device, first));
    T_TRUE(is_complete(&device, other));

    T_EQ_I64(ops->fence_record(device.self, first, 8, &failure), PLIM_OK);
    T_EQ_I64(ops->stream_synchronize(device.self, 7, &failure), PLIM_OK);
    T_FALSE(is_complete(&device, first));
    T_EQ_I64(ops->stream_synchronize(device.self, 8, &failure), PLIM_OK);
    T_TRUE(is_complete(&device, first));
    T_EQ_I64(ops->fence_record(device.self, first, 8, &failure), PLIM_OK);
    T_EQ_I64(ops->synchronize(device.self, &failure), PLIM_OK);
    T_TRUE(is_complete(&device, first));

    const plim_addr addr = taken(&device, 1);
    T_EQ_I64(ops->fence_record(device.self, first, 8, &failure), PLIM_OK);
    given_back(&device, addr); /* freeing waits for the device */
    T_TRUE(is_complete(&device, first));
    plim_device_destroy(&device);
}

static void a_destroyed_fence_stays_unknown(void)
{
    plim_device device = create((plim_sim_options){ 0 });
    plim_fence old = 0;
    plim_fence fresh = 0;
    bool complete = false;
    T_EQ_I64(device.ops->fence_create(device.self, &old, &failure), PLIM_OK);
    T_EQ_I64(device.ops->fence_destroy(device.self, old, &failure), PLIM_OK);
    T_EQ_I64(device.ops->fence_create(device.self, &fresh, &failure), PLIM_OK);
    T_TRUE(old != fresh);
    T_EQ_I64(device.ops->fence_query(device.self, old, &complete, &failure), PLIM_INVALID_ARGUMENT);
    T_EQ_I64(device.ops->fence_record(device.self, old, 0, &failure), PLIM_INVALID_ARGUMENT);
    T_EQ_I64(device.ops->fence_synchronize(device.self, old, &failure), PLIM_INVALID_ARGUMENT);
    T_EQ_I64(device.ops->fence_query(device.self, 0, &complete, &failure), PLIM_INVALID_ARGUMENT);
    T_TRUE(is_complete(&device, fresh));
    plim_device_destroy(&device);
}

static void a_stream_is_captured_as_long_as_it_is_said(void)
{
    plim_device device = create((plim_sim_options){ 0 });
    T_FALSE(device.ops->stream_is_capturing(device.self, 5));
    plim_sim_set_capturing(&device, 5, true);
    T_TRUE(device.ops->stream_is_capturing(device.self, 5));
    T_FALSE(device.ops->stream_is_capturing(device.self, 0));
    plim_sim_set_capturing(&device, 5, false);
    T_FALSE(device.ops->stream_is_capturing(device.self, 5));
    plim_device_destroy(&device);
}

/* --- what it tells --- */

typedef struct call_log {
    plim_device_record records[64];
    size_t count;
} call_log;

static void log_call(void *ctx, const plim_device_record *record)
{
    call_log *const log = ctx;
    T_TRUE(log->count < T_COUNT(log->records));
    log->records[log->count++] = *record;
}

static void calls_are_told_counted_and_cost(void)
{
    static call_log log;
    log.count = 0;
    plim_sim_options options = { .on_call = log_call, .on_call_ctx = &log, .ordinal = 1 };
    options.costs.call_us[PLIM_CALL_MEMORY_ALLOC] = 1000;
    options.costs.call_us[PLIM_CALL_MAP] = 30;
    plim_device device = create(options);
    plim_handle handle = 0;
    const plim_addr addr = taken(&device, 100);
    const plim_addr range = reserved(&device, 4 * MIB);
    T_EQ_I64(device.ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure),
             PLIM_OK);
    T_EQ_I64(device.ops->map(device.self, range, 2 * MIB, handle, &failure), PLIM_OK);
    T_EQ_I64(device.ops->set_access(device.self, range, 2 * MIB, 4, &failure), PLIM_OK);
    T_EQ_I64(device.ops->memory_free(device.self, addr + 1, &failure), PLIM_INVALID_ARGUMENT);
    given_back(&device, addr);

    static const plim_device_call calls[] = { PLIM_CALL_MEMORY_ALLOC,  PLIM_CALL_RANGE_RESERVE,
                                              PLIM_CALL_HANDLE_CREATE, PLIM_CALL_MAP,
                                              PLIM_CALL_SET_ACCESS,    PLIM_CALL_MEMORY_FREE,
                                              PLIM_CALL_MEMORY_FREE };
    T_EQ_U64(log.count, T_COUNT(calls));
    for (size_t i = 0; i < T_COUNT(calls); i++) {
        T_EQ_I64(log.records[i].call, calls[i]);
        T_EQ_I64(log.records[i].ordinal, 1);
    }
    T_EQ_U64(log.records[0].addr, addr);
    T_EQ_U64(log.records[0].bytes, 100);
    T_EQ_U64(log.records[3].addr, range);
    T_EQ_U64(log.records[3].handle, handle);
    T_EQ_I64(log.records[4].accessor, 4);
    T_EQ_I64(log.records[5].status, PLIM_INVALID_ARGUMENT);
    T_EQ_U64(log.records[6].bytes, 2 * MIB);
    T_EQ_U64(plim_sim_calls(&device, PLIM_DEVICE_CALL_COUNT), T_COUNT(calls));
    T_EQ_U64(plim_sim_calls(&device, PLIM_CALL_MEMORY_FREE), 2);
    T_EQ_U64(plim_sim_calls(&device, PLIM_CALL_UNMAP), 0);
    T_EQ_U64((uint64_t)plim_sim_count(&device).clock_us, 1030);
    plim_device_destroy(&device);
}

static void calls_fail_when_they_are_told_to(void)
{
    plim_device device = create((plim_sim_options){ 0 });
    plim_addr addr = 77;
    plim_sim_fail(&device, PLIM_CALL_MEMORY_ALLOC, 2, PLIM_OUT_OF_DEVICE_MEMORY);
    const plim_addr first = taken(&device, 1);
    T_EQ_I64(device.ops->memory_alloc(device.self, 1, &addr, &failure), PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_U64(addr, 77);
    T_EQ_STR(failure.message, "sim: malloc was made to fail");
    T_EQ_U64(plim_sim_taken_bytes(&device), 2 * MIB);
    T_EQ_U64(taken(&device, 1), first + 2 * MIB); /* once is enough */
    plim_sim_fail(&device, PLIM_CALL_MEMORY_ALLOC, 1, PLIM_IO);
    plim_sim_fail(&device, PLIM_CALL_MEMORY_ALLOC, 0, PLIM_OK);
    (void)taken(&device, 1);

    /* Every kind of call can. */
    uint64_t free_bytes = 0;
    uint64_t total = 0;
    bool complete = false;
    uint8_t data[PLIM_SHARE_BYTES_MAX];
    for (int call = 0; call < PLIM_DEVICE_CALL_COUNT; call++) {
        plim_sim_fail(&device, (plim_device_call)call, 1, PLIM_IO);
    }
    const plim_device_ops *const ops = device.ops;
    const plim_status statuses[] = {
        ops->memory_alloc(device.self, 1, &addr, NULL),
        ops->memory_free(device.self, first, NULL),
        ops->range_reserve(device.self, 2 * MIB, &addr, NULL),
        ops->range_free(device.self, 0, 2 * MIB, NULL),
        ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &addr, NULL),
        ops->handle_release(device.self, 1, NULL),
        ops->handle_export(device.self, 1, PLIM_SHARE_FD, data, NULL),
        ops->map(device.self, 0, 2 * MIB, 1, NULL),
        ops->unmap(device.self, 0, 2 * MIB, NULL),
        ops->set_access(device.self, 0, 2 * MIB, 0, NULL),
        ops->stream_synchronize(device.self, 0, NULL),
        ops->synchronize(device.self, NULL),
        ops->fence_create(device.self, &addr, NULL),
        ops->fence_destroy(device.self, 1, NULL),
        ops->fence_record(device.self, 1, 0, NULL),
        ops->fence_query(device.self, 1, &complete, NULL),
        ops->fence_synchronize(device.self, 1, NULL),
        ops->info(device.self, &free_bytes, &total, NULL),
    };
    T_EQ_U64(T_COUNT(statuses), PLIM_DEVICE_CALL_COUNT);
    for (size_t i = 0; i < T_COUNT(statuses); i++) {
        T_CASE("%s", plim_device_call_name((plim_device_call)i));
        T_EQ_I64(statuses[i], PLIM_IO);
    }
    T_EQ_U64(addr, 77);
    plim_device_destroy(&device);
}

static void calls_have_names(void)
{
    T_EQ_STR(plim_device_call_name(PLIM_CALL_MEMORY_ALLOC), "malloc");
    T_EQ_STR(plim_device_call_name(PLIM_CALL_INFO), "mem_info");
    T_EQ_STR(plim_device_call_name(PLIM_DEVICE_CALL_COUNT), "unknown");
}

/* --- host memory --- */

static bool live_a_little(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_sim_options options = { .mem = mem, .total_bytes = GIB };
    plim_device device;
    if (plim_sim_create(&options, &device, &failure) != PLIM_OK) {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
        return false;
    }
    const plim_device_ops *const ops = device.ops;
    plim_addr addr = 0;
    plim_addr range = 0;
    plim_handle handle = 0;
    plim_fence fence = 0;
    plim_stream stream = 0;
    const bool is_done =
        ops->memory_alloc(device.self, 1, &addr, &failure) == PLIM_OK &&
        ops->range_reserve(device.self, 4 * MIB, &range, &failure) == PLIM_OK &&
        ops->handle_create(device.self, 2 * MIB, PLIM_SHARE_NONE, &handle, &failure) == PLIM_OK &&
        ops->map(device.self, range, 2 * MIB, handle, &failure) == PLIM_OK &&
        ops->set_access(device.self, range, 2 * MIB, 0, &failure) == PLIM_OK &&
        ops->stream_create(device.self, &stream, &failure) == PLIM_OK &&
        ops->fence_create(device.self, &fence, &failure) == PLIM_OK &&
        ops->fence_record(device.self, fence, 11, &failure) == PLIM_OK;
    if (!is_done) {
        T_EQ_I64(failure.status, PLIM_OUT_OF_HOST_MEMORY);
    }
    /* What was done is whole, and can be undone. */
    T_TRUE(addr == 0 || ops->memory_free(device.self, addr, &failure) == PLIM_OK);
    T_TRUE(handle == 0 || ops->handle_release(device.self, handle, &failure) == PLIM_OK);
    (void)ops->unmap(device.self, range, 2 * MIB, &failure);
    T_TRUE(range == 0 || ops->range_free(device.self, range, 4 * MIB, &failure) == PLIM_OK);
    T_EQ_U64(plim_sim_taken_bytes(&device), 0);
    plim_device_destroy(&device);
    return is_done;
}

static void running_out_of_host_memory_leaves_it_whole(void)
{
    t_fail_each_allocation(live_a_little, NULL);
}

T_MAIN(T_TEST(it_keeps_the_contract), T_TEST(addresses_are_where_the_recordings_have_them),
       T_TEST(devices_do_not_share_addresses), T_TEST(a_hundred_segments_of_a_large_device_fit),
       T_TEST(placement_agrees_with_a_naive_device), T_TEST(what_others_hold_is_not_free),
       T_TEST(it_can_be_a_device_that_cannot_map), T_TEST(senseless_options_are_refused),
       T_TEST(its_memory_cannot_leave_the_process),
       T_TEST(access_of_a_peer_is_no_access_of_its_own), T_TEST(fences_wait_to_be_completed),
       T_TEST(a_destroyed_fence_stays_unknown), T_TEST(a_stream_is_captured_as_long_as_it_is_said),
       T_TEST(calls_are_told_counted_and_cost), T_TEST(calls_fail_when_they_are_told_to),
       T_TEST(calls_have_names), T_TEST(running_out_of_host_memory_leaves_it_whole))
