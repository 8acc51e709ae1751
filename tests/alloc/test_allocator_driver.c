/*
 * test_allocator_driver.c - an allocator over the CUDA driver that is none: it is used as a driver
 * wants to be used, also when calls to it fail.
 */
#include "base/units.h"
#include "device/fake.h"
#include "harness.h"
#include "plimsoll/allocator.h"

#define LIVE               40
#define STEPS              250
#define NTH_MOST           12
#define CODE_OUT_OF_MEMORY 2
#define CODE_UNKNOWN       999

typedef struct run {
    plim_device device;
    plim_allocator *allocator;
    plim_addr live[LIVE];
    size_t count;
    plim_pool_id pool;
    plim_stream other; /* besides the default one */
    bool forgives;
    bool is_routed;
} run;

static run now;

static void expect(plim_status status, const plim_error *err)
{
    const bool is_failure = status == PLIM_IO || status == PLIM_OUT_OF_DEVICE_MEMORY;
    if (status != PLIM_OK && !(now.forgives && is_failure)) {
        fail_msg("status %d: %s", (int)status, err->message);
    }
}

static void give(size_t at)
{
    plim_error err;
    expect(plim_free(now.allocator, now.live[at], &err), &err);
    now.count--;
    now.live[at] = now.live[now.count];
}

static void get(void)
{
    plim_error err;
    const uint64_t bytes = t_random_bytes(1, 24 * MIB);
    const plim_stream stream = t_random_between(0, 1) == 0 ? 0 : now.other;
    plim_addr addr = 0;
    const plim_status status = plim_malloc(now.allocator, 0, bytes, stream, &addr, &err);
    if (status == PLIM_OK) {
        now.live[now.count] = addr;
        now.count++;
    } else if (status != PLIM_OUT_OF_DEVICE_MEMORY) {
        expect(status, &err);
    }
}

static void route(void)
{
    plim_error err;
    expect(now.is_routed ? plim_pool_end(now.allocator, 0, now.pool, &err)
                         : plim_pool_begin(now.allocator, 0, now.pool, NULL, NULL, &err),
           &err);
    now.is_routed = !now.is_routed;
}

static void step(void)
{
    plim_error err;
    switch (t_random_between(0, 19)) {
    case 0:
        expect(plim_empty_cache(now.allocator, NULL, &err), &err);
        break;
    case 1:
        route();
        break;
    case 2:
        if (now.count > 0) {
            expect(plim_record_stream(now.allocator, now.live[0], now.other, &err), &err);
        }
        break;
    default:
        if (now.count == LIVE || (now.count > 0 && t_random_between(0, 2) == 0)) {
            give((size_t)t_random_between(0, now.count - 1));
        } else {
            get();
        }
        break;
    }
    if (plim_allocator_check(now.allocator, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
}

static void start(const char *settings)
{
    memset(&now, 0, sizeof now);
    t_now.random = t_now.seed;
    fake_load();
    fake_driver.set_devices(1);
    fake_driver.set_memory(0, 256 * MIB, 16 * MIB);
    now.device = fake_open(0, NULL);
    T_EQ_U64(now.device.ops->stream_create(now.device.self, &now.other, NULL), PLIM_OK);
    plim_settings parsed = plim_settings_default();
    T_EQ_U64(plim_settings_parse(settings, &parsed, NULL), PLIM_OK);
    const plim_allocator_options options = { .devices = &now.device,
                                             .device_count = 1,
                                             .settings = &parsed,
                                             .is_mapping_transactional = true };
    T_EQ_U64(plim_allocator_create(&options, &now.allocator, NULL), PLIM_OK);
    now.pool = plim_new_pool_id(now.allocator, false);
}

static void stop(void)
{
    now.forgives = false;
    if (now.is_routed) {
        route();
    }
    while (now.count > 0) {
        give(now.count - 1);
    }
    plim_error err;
    if (plim_allocator_check(now.allocator, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_allocator_destroy(now.allocator);
    T_EQ_U64(now.device.ops->stream_destroy(now.device.self, now.other, NULL), PLIM_OK);
    plim_device_destroy(&now.device);
    fake_check_clean();
}

static const char *const ways[] = { "", "expandable_segments:True" };

static void uses_the_driver_as_it_wants_to_be_used(void)
{
    for (size_t way = 0; way < T_COUNT(ways); way++) {
        start(ways[way]);
        for (int i = 0; i < 4 * STEPS; i++) {
            step();
        }
        stop();
    }
}

static void misuses_nothing_after_a_failure(void)
{
    static const char *const calls[] = { "cuMemAlloc",   "cuMemCreate",    "cuMemAddressReserve",
                                         "cuMemMap",     "cuMemSetAccess", "cuEventCreate",
                                         "cuEventRecord" };
    static const int codes[] = { CODE_OUT_OF_MEMORY, CODE_UNKNOWN };
    for (size_t c = 0; c < T_COUNT(calls) * T_COUNT(ways) * T_COUNT(codes); c++) {
        for (uint64_t nth = 1; nth <= NTH_MOST; nth += 1 + nth / 4) {
            const char *call = calls[c / 4];
            T_CASE("%s, number %" PRIu64 ", case %zu", call, nth, c);
            start(ways[c % 2]);
            now.forgives = true;
            fake_driver.fail_call(call, nth, codes[c / 2 % 2]);
            for (int i = 0; i < STEPS / 2; i++) {
                step();
            }
            fake_driver.fail_call(call, 0, 0);
            now.forgives = false;
            for (int i = 0; i < STEPS / 10; i++) {
                step();
            }
            stop();
        }
    }
}

T_MAIN(T_TEST(uses_the_driver_as_it_wants_to_be_used), T_TEST(misuses_nothing_after_a_failure))
