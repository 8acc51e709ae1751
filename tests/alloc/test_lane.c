/*
 * test_lane.c - the fast path in cases that random play meets rarely: its stack of what can be
 * undone, peaks that two lanes share, frees from other threads' lanes.
 */
#include "alloc/core/heap.h"
#include "alloc/core/ledger.h"
#include "alloc/small_world.h"
#include "base/units.h"
#include "harness.h"

static plim_stat stat_of(const world *from, plim_stat_family family)
{
    plim_device_stats stats;
    T_EQ_U64(plim_allocator_stats(from->allocator, 0, &stats, NULL), PLIM_OK);
    return stats.families[family][PLIM_SLOT_ALL];
}

static const plim_lane *only_lane(const world *from)
{
    const plim_heap *heap = &from->allocator->heaps[0];
    T_EQ_U64(heap->open_lanes.count, 1);
    return heap->open_lanes.items[0];
}

/* --- what can be undone --- */

/* More than the stack remembers: the oldest are freed the ordinary way. */
static void forgets_the_oldest(void)
{
    world made = world_on_sim(GIB, "");
    plim_addr blocks[3 * PLIM_UNDO_MAX];
    world_give(&made, world_get(&made, 512, 0)); /* a segment, and an open lane */
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < T_COUNT(blocks); i++) {
            const plim_addr addr = world_get(&made, 512, 0);
            T_TRUE(round == 0 || addr == blocks[i]); /* the lowest first, as before */
            blocks[i] = addr;
            T_TRUE(only_lane(&made)->undo[1].count <= PLIM_UNDO_MAX);
        }
        for (size_t i = T_COUNT(blocks); i > 0; i--) {
            world_give(&made, blocks[i - 1]);
        }
    }
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).peak, (int64_t)T_COUNT(blocks));
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).allocated, 4 * (int64_t)T_COUNT(blocks) + 1);
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).current, 0);
    world_end(&made);
}

static void parks_and_unparks_with_other_requests_of_the_same_size(void)
{
    world made = world_on_sim(GIB, "");
    world_give(&made, world_get(&made, 4096, 0));
    plim_addr addr = 0;
    for (uint64_t bytes = 3585; bytes <= 4096; bytes += 73) { /* all rounded to 4096 */
        addr = world_get(&made, bytes, 0);
        uint64_t requested = 0;
        T_EQ_U64(only_lane(&made)->undo[1].live, 1);
        world_give(&made, addr);
        T_EQ_U64(only_lane(&made)->undo[1].live, 0);
        T_EQ_U64(only_lane(&made)->undo[1].count, 1); /* parked */
        T_EQ_U64(plim_block_bytes(made.allocator, addr, NULL, &requested, NULL),
                 PLIM_INVALID_ARGUMENT); /* for all to see: it is free */
    }
    T_EQ_U64(world_get(&made, 4000, 0), addr);
    T_EQ_I64(stat_of(&made, PLIM_STAT_REQUESTED_BYTES).current, 4000);
    T_EQ_I64(stat_of(&made, PLIM_STAT_REQUESTED_BYTES).peak, 4096);
    world_end(&made);
}

static void a_parked_block_is_free_for_larger_requests(void)
{
    world made = world_on_sim(GIB, "");
    world_give(&made, world_get(&made, MIB, 0));
    const plim_addr first = world_get(&made, 512, 0);
    const plim_addr second = world_get(&made, 512, 0);
    world_give(&made, second);
    world_give(&made, first); /* both parked */
    T_EQ_U64(world_get(&made, 2 * 512, 0), first);
    world_end(&made);
}

static void a_parked_block_is_not_freed_again(void)
{
    world made = world_on_sim(GIB, "");
    world_give(&made, world_get(&made, 512, 0));
    const plim_addr addr = world_get(&made, 512, 0);
    world_give(&made, addr);
    T_EQ_U64(plim_free(made.allocator, addr, NULL), PLIM_INVALID_ARGUMENT);
    T_EQ_U64(plim_record_stream(made.allocator, addr, 3, NULL), PLIM_INVALID_ARGUMENT);
    world_end(&made);
}

/* --- several lanes --- */

static void lanes_share_the_room_to_the_peak(void)
{
    world made = world_on_sim(GIB, "");
    plim_addr held[4][8];
    for (int round = 0; round < 50; round++) {
        for (uint64_t s = 0; s < T_COUNT(held); s++) {
            for (size_t i = 0; i < T_COUNT(held[s]); i++) {
                held[s][i] = world_get(&made, 1024 * (1 + (uint64_t)round % 3), s);
            }
        }
        for (uint64_t s = 0; s < T_COUNT(held); s++) {
            for (size_t i = 0; i < T_COUNT(held[s]); i++) {
                world_give(&made, held[s][(i * 5 + (size_t)round) % T_COUNT(held[s])]);
            }
        }
    }
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).peak, 32);
    T_EQ_I64(stat_of(&made, PLIM_STAT_ACTIVE_BYTES).peak, 32 * 3072);
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).allocated, 50 * 32);
    world_end(&made);
}

static void more_streams_than_lanes_can_be_open(void)
{
    world made = world_on_sim(GIB, "");
    plim_addr held[100];
    for (int round = 0; round < 5; round++) {
        for (uint64_t s = 0; s < T_COUNT(held); s++) {
            held[s] = world_get(&made, 700, s * 7);
        }
        for (size_t s = T_COUNT(held); s > 0; s--) {
            world_give(&made, held[s - 1]);
        }
    }
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).peak, (int64_t)T_COUNT(held));
    T_EQ_I64(stat_of(&made, PLIM_STAT_ALLOCATION).allocated, 5 * (int64_t)T_COUNT(held));
    world_end(&made);
}

/* --- what is counted late --- */

/* Two exact fits and a new split are parked; none of it may look like a peak, or hide one. */
static void counting_late_makes_up_no_peak(void)
{
    plim_device_stats stats = { 0 };
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        stats.families[PLIM_STAT_INACTIVE_SPLIT_BYTES][slot].current = 100;
        stats.families[PLIM_STAT_INACTIVE_SPLIT_BYTES][slot].peak = 130;
    }
    plim_ledger ledger;
    plim_ledger_open(&ledger, &stats, 1);
    plim_ledger_change fit = { { 0 } }, fits = { { 0 } }, split = { { 0 } };
    fit.by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = -20;
    fits.by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = -25;
    split.by[PLIM_STAT_INACTIVE_SPLIT_BYTES] = 30;
    T_TRUE(plim_ledger_defer(&ledger, false, &split));    /* 70 */
    T_TRUE(plim_ledger_defer(&ledger, false, &fit));      /* 90 */
    T_TRUE(plim_ledger_defer(&ledger, false, &fits));     /* 115 */
    T_FALSE(plim_ledger_defer(&ledger, false, &fit));     /* 135: above the peak */
    T_FALSE(plim_ledger_undefer(&ledger, false, &split)); /* 145 */
    T_TRUE(plim_ledger_undefer(&ledger, false, &fits));   /* 90 */
    plim_ledger_count_deferred(&ledger, false, &split);
    plim_ledger_count_deferred(&ledger, false, &fit);
    plim_ledger_fold(&ledger, &stats);
    const plim_stat *bytes = &stats.families[PLIM_STAT_INACTIVE_SPLIT_BYTES][PLIM_SLOT_ALL];
    T_EQ_I64(bytes->current, 90);
    T_EQ_I64(bytes->peak, 130);
    T_EQ_I64(bytes->allocated, 20);
    T_EQ_I64(bytes->freed, 30);
}

T_MAIN(T_TEST(forgets_the_oldest), T_TEST(parks_and_unparks_with_other_requests_of_the_same_size),
       T_TEST(a_parked_block_is_free_for_larger_requests),
       T_TEST(a_parked_block_is_not_freed_again), T_TEST(lanes_share_the_room_to_the_peak),
       T_TEST(more_streams_than_lanes_can_be_open), T_TEST(counting_late_makes_up_no_peak))
