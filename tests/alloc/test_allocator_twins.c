/*
 * test_allocator_twins.c - the fast path does exactly what the slow path does.
 *
 * Two allocators are asked the same. One may use the fast path; the other checks itself after
 * every operation, which closes it. Addresses, events in their order and statistics, peaks
 * included, must be equal. Nothing is asked of the first that would stop its world, but when the
 * statistics are compared.
 */
#include "alloc/core/heap.h"
#include "alloc/heap_player.h"
#include "base/units.h"
#include "harness.h"

#define STEPS 6000

static t_player fast;
static t_player slow;

static uint64_t pick(void *ctx, uint64_t low, uint64_t high)
{
    (void)ctx;
    return t_random_between(low, high);
}

/* --- what the fast path is in the middle of --- */

typedef struct sightings {
    uint64_t sole;
    uint64_t shared;
    uint64_t parked;
} sightings;

static void look_inside(sightings *seen)
{
    for (size_t d = 0; d < T_MODEL_DEVICES; d++) {
        const plim_heap *heap = &fast.allocator->heaps[d];
        seen->sole += heap->open_lanes.count == 1 ? 1 : 0;
        seen->shared += heap->open_lanes.count > 1 ? 1 : 0;
        for (size_t i = 0; i < heap->open_lanes.count; i++) {
            const plim_lane *lane = heap->open_lanes.items[i];
            seen->parked += lane->undo[0].count - lane->undo[0].live;
            seen->parked += lane->undo[1].count - lane->undo[1].live;
        }
    }
}

/* --- comparing --- */

static void expect_same_stats(void)
{
    for (int32_t d = 0; d < T_MODEL_DEVICES; d++) {
        plim_device_stats a, b;
        T_EQ_U64(plim_allocator_stats(fast.allocator, d, &a, NULL), PLIM_OK);
        T_EQ_U64(plim_allocator_stats(slow.allocator, d, &b, NULL), PLIM_OK);
        for (size_t i = 0; i < plim_stats_count(); i++) {
            if (plim_stats_value(&a, i) != plim_stats_value(&b, i)) {
                fail_msg("%s of device %d is %" PRId64 ", should be %" PRId64, plim_stats_name(i),
                         (int)d, plim_stats_value(&a, i), plim_stats_value(&b, i));
            }
        }
    }
}

static void expect_same(uint64_t step)
{
    if (fast.model.fault[0] != '\0' || slow.model.fault[0] != '\0') {
        fail_msg("step %" PRIu64 ": fast: %s; slow: %s", step, fast.model.fault, slow.model.fault);
    }
    if (fast.status != slow.status || fast.addr != slow.addr ||
        fast.model.event_count != slow.model.event_count ||
        fast.model.event_hash != slow.model.event_hash) {
        fail_msg("step %" PRIu64 ", operation %u: 0x%" PRIx64 " instead of 0x%" PRIx64 ", %" PRIu64
                 " events instead of %" PRIu64,
                 step, fast.operation, fast.addr, slow.addr, fast.model.event_count,
                 slow.model.event_count);
    }
}

static void step_both(void)
{
    const uint64_t before = t_now.random;
    t_player_step(&fast);
    t_now.random = before;
    t_player_step(&slow);
}

static sightings play(t_player_options options, uint64_t steps, uint64_t compare_every)
{
    sightings seen = { 0, 0, 0 };
    plim_error err;
    options.pick = pick;
    T_EQ_U64(t_player_init(&fast, &options, &err), PLIM_OK);
    options.hardening = PLIM_HARDENING_CHECKS;
    T_EQ_U64(t_player_init(&slow, &options, &err), PLIM_OK);
    for (uint64_t i = 0; i < steps; i++) {
        step_both();
        expect_same(i);
        look_inside(&seen);
        if (compare_every > 0 && t_random_between(1, compare_every) == 1) {
            expect_same_stats();
        }
    }
    expect_same_stats();
    t_player_calm(&fast);
    t_player_calm(&slow);
    expect_same_stats();
    t_player_deinit(&fast);
    t_player_deinit(&slow);
    expect_same(steps);
    return seen;
}

/* --- tests --- */

typedef struct row {
    const char *settings;
    bool has_few_sizes;
    t_order order;
    uint32_t streams;
    uint64_t live;
    plim_policy_kind policy;
} row;

static const row rows[] = {
    { "", true, T_ORDER_NEWEST, 1, 40, PLIM_POLICY_TORCH },
    { "", true, T_ORDER_ANY, 1, 60, PLIM_POLICY_TORCH },
    { "", true, T_ORDER_OLDEST, 2, 60, PLIM_POLICY_TORCH },
    { "", false, T_ORDER_NEWEST, 3, 200, PLIM_POLICY_TORCH },
    { "", true, T_ORDER_NEWEST, 4, 100, PLIM_POLICY_TORCH },
    { "expandable_segments:True", true, T_ORDER_NEWEST, 1, 40, PLIM_POLICY_TORCH },
    { "expandable_segments:True", false, T_ORDER_ANY, 3, 100, PLIM_POLICY_TORCH },
    { "max_split_size_mb:32", true, T_ORDER_NEWEST, 2, 60, PLIM_POLICY_TORCH },
    { "roundup_power2_divisions:4", false, T_ORDER_NEWEST, 2, 100, PLIM_POLICY_TORCH },
    { "", true, T_ORDER_NEWEST, 1, 60, PLIM_POLICY_BFC },
    { "roundup_power2_divisions:4", false, T_ORDER_ANY, 1, 100, PLIM_POLICY_BFC },
    { "max_split_size_mb:32", false, T_ORDER_NEWEST, 1, 60, PLIM_POLICY_BFC },
    { "", true, T_ORDER_NEWEST, 1, 60, PLIM_POLICY_ASYNC },
    { "expandable_segments:True", false, T_ORDER_ANY, 1, 100, PLIM_POLICY_ASYNC },
    { "", true, T_ORDER_NEWEST, 3, 100, PLIM_POLICY_ASYNC },
    { "max_split_size_mb:32", false, T_ORDER_OLDEST, 4, 60, PLIM_POLICY_ASYNC },
};

static void requests_are_served_alike(void)
{
    sightings all = { 0, 0, 0 };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        const sightings seen = play((t_player_options){ .settings = rows[i].settings,
                                                        .policy = rows[i].policy,
                                                        .device_bytes = 2048 * MIB,
                                                        .is_plain = true,
                                                        .has_few_sizes = rows[i].has_few_sizes,
                                                        .order = rows[i].order,
                                                        .streams = rows[i].streams,
                                                        .live = rows[i].live },
                                    STEPS, 40);
        T_TRUE(seen.sole + seen.shared > 0);
        all.sole += seen.sole;
        all.shared += seen.shared;
        all.parked += seen.parked;
    }
    T_TRUE(all.sole > STEPS);
    T_TRUE(all.shared > STEPS);
    T_TRUE(all.parked > STEPS / 10);
}

/* Streams, pools, events and settings come between: lanes open and close all the time. */
static void everything_else_is_done_alike(void)
{
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        (void)play((t_player_options){ .settings = rows[i].settings,
                                       .policy = rows[i].policy,
                                       .device_bytes = 512 * MIB,
                                       .has_manual_fences = i % 2 == 0,
                                       .has_callback = i % 3 == 0,
                                       .has_few_sizes = rows[i].has_few_sizes,
                                       .order = rows[i].order,
                                       .streams = rows[i].streams,
                                       .live = rows[i].live },
                   STEPS / 4, 0);
    }
}

T_MAIN(T_TEST(requests_are_served_alike), T_TEST(everything_else_is_done_alike))
