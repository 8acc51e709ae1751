/*
 * test_pool_stats.c - what a private pool has reserved, apart from what the device has.
 */
#include "base/units.h"
#include "plimsoll/allocator.h"

#include "harness.h"

static void a_pool_counts_what_it_reserves(void)
{
    const plim_sim_options sim = { .total_bytes = 1024 * MIB };
    plim_device device;
    T_EQ_U64(plim_sim_create(&sim, &device, NULL), PLIM_OK);
    const plim_settings settings = plim_settings_default();
    const plim_allocator_options options = { .devices = &device,
                                             .device_count = 1,
                                             .settings = &settings };
    plim_allocator *allocator = NULL;
    T_EQ_U64(plim_allocator_create(&options, &allocator, NULL), PLIM_OK);
    const plim_pool_id pool = plim_new_pool_id(allocator, false);
    plim_stat stats[PLIM_SLOT_COUNT];
    T_EQ_U64(plim_pool_reserved(allocator, 0, pool, stats, NULL), PLIM_INVALID_ARGUMENT);

    plim_addr small = 0, large = 0, outside = 0;
    T_EQ_U64(plim_pool_begin(allocator, 0, pool, NULL, NULL, NULL), PLIM_OK);
    T_EQ_U64(plim_malloc(allocator, 0, 1000, 0, &small, NULL), PLIM_OK);
    T_EQ_U64(plim_malloc(allocator, 0, 5 * MIB, 0, &large, NULL), PLIM_OK);
    T_EQ_U64(plim_pool_end(allocator, 0, pool, NULL), PLIM_OK);
    T_EQ_U64(plim_malloc(allocator, 0, 50 * MIB, 0, &outside, NULL), PLIM_OK);
    T_EQ_U64(plim_pool_reserved(allocator, 0, pool, stats, NULL), PLIM_OK);
    T_EQ_I64(stats[PLIM_SLOT_ALL].current, 22 * MIB);
    T_EQ_I64(stats[PLIM_SLOT_SMALL].current, 2 * MIB);
    T_EQ_I64(stats[PLIM_SLOT_LARGE].peak, 20 * MIB);

    T_EQ_U64(plim_free(allocator, large, NULL), PLIM_OK);
    T_EQ_U64(plim_pool_release(allocator, 0, pool, NULL), PLIM_OK);
    T_EQ_U64(plim_empty_cache(allocator, NULL, NULL), PLIM_OK);
    T_EQ_U64(plim_pool_reserved(allocator, 0, pool, stats, NULL), PLIM_OK); /* `small` lives */
    T_EQ_I64(stats[PLIM_SLOT_ALL].current, 2 * MIB);
    T_EQ_I64(stats[PLIM_SLOT_ALL].peak, 22 * MIB);
    T_EQ_I64(stats[PLIM_SLOT_ALL].freed, 20 * MIB);
    plim_allocator_reset_peak_stats(allocator, 0);
    T_EQ_U64(plim_pool_reserved(allocator, 0, pool, stats, NULL), PLIM_OK);
    T_EQ_I64(stats[PLIM_SLOT_ALL].peak, 2 * MIB);
    plim_allocator_destroy(allocator);
    plim_device_destroy(&device);
}

T_MAIN(T_TEST(a_pool_counts_what_it_reserves))
