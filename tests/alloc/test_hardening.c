/*
 * test_hardening.c - misuse that an allocator must notice, and what it says then.
 */
#include "alloc/small_world.h"
#include "base/units.h"
#include "harness.h"
#include "plimsoll/allocator.h"

/* NOLINTBEGIN(performance-no-int-to-ptr): addresses of the host device are of this process */
static unsigned char *memory_at(plim_addr addr)
{
    return (unsigned char *)(uintptr_t)addr;
}
/* NOLINTEND(performance-no-int-to-ptr) */

static world make(plim_hardening hardening, const char *settings)
{
    world made = { 0 };
    const plim_host_options options = { .total_bytes = 512 * MIB };
    T_EQ_U64(plim_host_create(&options, &made.device, NULL), PLIM_OK);
    world_open(&made, (plim_allocator_options){ .hardening = hardening }, settings);
    return made;
}

static void expect_refused(const world *from, plim_addr addr, const char *why)
{
    plim_error err;
    T_EQ_U64(plim_free(from->allocator, addr, &err), PLIM_INVALID_ARGUMENT);
    if (strstr(err.message, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.message, why);
    }
    T_EQ_U64(plim_record_stream(from->allocator, addr, 7, &err), PLIM_INVALID_ARGUMENT);
    T_EQ_U64(plim_block_bytes(from->allocator, addr, NULL, NULL, &err), PLIM_INVALID_ARGUMENT);
    T_EQ_U64(plim_base_allocation(from->allocator, addr, NULL, NULL, &err), PLIM_INVALID_ARGUMENT);
}

/* --- pointers, at every level and on every path --- */

static const plim_hardening levels[] = { PLIM_HARDENING_NONE, PLIM_HARDENING_CHECKS,
                                         PLIM_HARDENING_CANARIES, PLIM_HARDENING_POISON };
static const char *const ways[] = { "", "expandable_segments:True" };

static void wrong_pointers_are_refused(void)
{
    for (size_t i = 0; i < T_COUNT(levels) * T_COUNT(ways); i++) {
        T_CASE("level %zu, way %zu", i / 2, i % 2);
        world made = make(levels[i / 2], ways[i % 2]);
        const plim_addr kept = world_get(&made, 4000, 0);
        const plim_addr gone = world_get(&made, 4000, 0);
        const plim_addr large = world_get(&made, 3 * MIB, 0);
        world_give(&made, gone);
        expect_refused(&made, gone, "freed already");
        expect_refused(&made, kept + 1, "inside a block");
        expect_refused(&made, kept + 512, "inside a block");
        expect_refused(&made, large + 2 * MIB, "inside a block");
        expect_refused(&made, 0x1234500, "no memory of this allocator");
        expect_refused(&made, UINT64_MAX, "no memory of this allocator");
        T_EQ_U64(plim_free(made.allocator, 0, NULL), PLIM_OK);
        world_give(&made, kept);
        expect_refused(&made, kept, "freed already");
        world_give(&made, large);
        expect_refused(&made, large, "freed already");
        T_EQ_U64(plim_empty_cache(made.allocator, NULL, NULL), PLIM_OK);
        expect_refused(&made, large, "invalid device pointer");
        world_end(&made);
    }
}

static void a_stale_address_is_refused_after_its_block_was_merged(void)
{
    world made = make(PLIM_HARDENING_NONE, "");
    plim_addr blocks[12];
    for (size_t i = 0; i < T_COUNT(blocks); i++) {
        blocks[i] = world_get(&made, 2048, 0);
    }
    for (size_t i = 0; i < T_COUNT(blocks); i += 2) {
        world_give(&made, blocks[i]);
    }
    for (size_t i = 1; i < T_COUNT(blocks); i += 2) {
        world_give(&made, blocks[i]);
    }
    const plim_addr all = world_get(&made, MIB, 0); /* lies over all of them */
    T_EQ_U64(all, blocks[0]);
    for (size_t i = 1; i < T_COUNT(blocks); i++) {
        expect_refused(&made, blocks[i], "inside a block");
    }
    world_give(&made, all);
    world_end(&made);
}

static void a_waiting_block_is_not_freed_again(void)
{
    plim_device device;
    const plim_sim_options options = { .total_bytes = 64 * MIB, .has_manual_fences = true };
    T_EQ_U64(plim_sim_create(&options, &device, NULL), PLIM_OK);
    const plim_settings settings = plim_settings_default();
    const plim_allocator_options how = { .devices = &device,
                                         .device_count = 1,
                                         .settings = &settings };
    world made = { .device = device };
    T_EQ_U64(plim_allocator_create(&how, &made.allocator, NULL), PLIM_OK);
    const plim_addr addr = world_get(&made, 4000, 0);
    T_EQ_U64(plim_record_stream(made.allocator, addr, 5, NULL), PLIM_OK);
    world_give(&made, addr);
    expect_refused(&made, addr, "waits for another stream");
    world_end(&made);
}

/* --- memory --- */

static void canaries_need_memory_that_can_be_read(void)
{
    plim_device device;
    const plim_sim_options options = { .total_bytes = 64 * MIB };
    T_EQ_U64(plim_sim_create(&options, &device, NULL), PLIM_OK);
    const plim_settings settings = plim_settings_default();
    plim_allocator_options how = { .devices = &device, .device_count = 1, .settings = &settings };
    plim_allocator *allocator = NULL;
    plim_error err;
    how.hardening = PLIM_HARDENING_CANARIES;
    T_EQ_U64(plim_allocator_create(&how, &allocator, &err), PLIM_UNSUPPORTED);
    T_NOT_NULL(strstr(err.message, "PLIM_HARDENING_CHECKS"));
    how.hardening = PLIM_HARDENING_POISON + 1;
    T_EQ_U64(plim_allocator_create(&how, &allocator, NULL), PLIM_INVALID_ARGUMENT);
    plim_device_destroy(&device);
}

static void writing_past_the_end_is_noticed(void)
{
    static const uint64_t sizes[] = { 1, 500, 512, 4000, MIB - 100, 3 * MIB + 5 };
    for (size_t i = 0; i < T_COUNT(sizes) * T_COUNT(ways); i++) {
        const uint64_t bytes = sizes[i / 2];
        T_CASE("%" PRIu64 " bytes, way %zu", bytes, i % 2);
        world made =
            make(i % 3 == 0 ? PLIM_HARDENING_POISON : PLIM_HARDENING_CANARIES, ways[i % 2]);
        const plim_addr good = world_get(&made, bytes, 0);
        memset(memory_at(good), 1, bytes);
        const plim_addr bad = world_get(&made, bytes, 0);
        memset(memory_at(bad), 2, bytes + 1);
        world_give(&made, good);
        plim_error err;
        T_EQ_U64(plim_free(made.allocator, bad, &err), PLIM_CORRUPT);
        T_NOT_NULL(strstr(err.message, "0 bytes after"));
        expect_refused(&made, bad, "freed already"); /* it went all the same */
        world_end(&made);
    }
}

static void freed_memory_is_poisoned(void)
{
    for (size_t way = 0; way < T_COUNT(ways); way++) {
        world made = make(PLIM_HARDENING_POISON, ways[way]);
        const plim_addr addr = world_get(&made, 3 * MIB, 0);
        memset(memory_at(addr), 0x11, 3 * MIB);
        world_give(&made, addr);
        unsigned char bytes[256];
        T_EQ_U64(made.device.ops->read(made.device.self, bytes, addr + MIB, sizeof bytes, NULL),
                 PLIM_OK);
        for (size_t i = 0; i < sizeof bytes; i++) {
            T_EQ_U64(bytes[i], PLIM_POISON_BYTE);
        }
        world_end(&made);
    }
}

/* Canaries take their room: a request of 512 bytes has a block of more. */
static void canaries_leave_the_request_whole(void)
{
    world made = make(PLIM_HARDENING_CANARIES, "");
    for (uint64_t bytes = 1; bytes < 5000; bytes += 7) {
        const plim_addr addr = world_get(&made, bytes, 0);
        uint64_t block = 0, requested = 0;
        T_EQ_U64(plim_block_bytes(made.allocator, addr, &block, &requested, NULL), PLIM_OK);
        T_EQ_U64(requested, bytes);
        T_TRUE(block > bytes);
        memset(memory_at(addr), 0xFF, bytes);
        world_give(&made, addr);
    }
    world_end(&made);
}

T_MAIN(T_TEST(wrong_pointers_are_refused),
       T_TEST(a_stale_address_is_refused_after_its_block_was_merged),
       T_TEST(a_waiting_block_is_not_freed_again), T_TEST(canaries_need_memory_that_can_be_read),
       T_TEST(writing_past_the_end_is_noticed), T_TEST(freed_memory_is_poisoned),
       T_TEST(canaries_leave_the_request_whole))
