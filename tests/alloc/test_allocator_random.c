/*
 * test_allocator_random.c - whatever is done to an allocator, everything that must hold holds.
 */
#include "alloc/heap_player.h"
#include "base/units.h"
#include "harness.h"

#define STEPS 1500

static t_player player;

static uint64_t pick(void *ctx, uint64_t low, uint64_t high)
{
    (void)ctx;
    return t_random_between(low, high);
}

static void expect_no_fault(const t_player *played, uint64_t step)
{
    if (played->model.fault[0] != '\0') {
        fail_msg("step %" PRIu64 ", operation %u: %s", step, played->operation,
                 played->model.fault);
    }
}

static void play(const t_player_options *options, uint64_t steps)
{
    plim_error err;
    t_mem heap;
    t_mem_init(&heap);
    t_player_options full = *options;
    full.pick = pick;
    full.mem = &heap.mem;
    if (t_player_init(&player, &full, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    for (uint64_t i = 0; i < steps; i++) {
        t_player_step(&player);
        expect_no_fault(&player, i);
    }
    T_TRUE(player.done > 0);
    if (t_random_between(0, 1) == 0) { /* else it ends with all that stands */
        t_player_calm(&player);
        t_player_look(&player);
    } else {
        for (size_t i = 0; i < player.live_count; i++) { /* nobody gives these back */
            player.model.sides[player.live[i].device].uncached.count = 0;
        }
    }
    t_player_deinit(&player);
    expect_no_fault(&player, steps);
    T_EQ_U64(heap.live_bytes, 0);
}

typedef struct row {
    const char *settings;
    uint64_t mib;
    bool is_tidy; /* transactional mappings, fences that complete at once */
    bool has_callback;
    t_order order;
    uint32_t streams;
    uint64_t live;
} row;

static void holds_under_all_settings(void)
{
    static const row rows[] = {
        { "", 512, false, false, T_ORDER_ANY, 3, 100 },
        { "", 96, true, true, T_ORDER_NEWEST, 2, 200 },
        { "expandable_segments:True", 512, false, false, T_ORDER_ANY, 3, 100 },
        { "expandable_segments:True", 128, true, true, T_ORDER_OLDEST, 2, 60 },
        { "max_split_size_mb:21", 400, false, true, T_ORDER_ANY, 4, 100 },
        { "garbage_collection_threshold:0.5", 256, false, false, T_ORDER_ANY, 2, 100 },
        { "roundup_power2_divisions:8", 512, true, false, T_ORDER_OLDEST, 5, 300 },
        { "release_lock_on_cudamalloc:True", 200, false, true, T_ORDER_ANY, 1, 50 },
        { "expandable_segments:True,max_split_size_mb:30,garbage_collection_threshold:0.3", 300,
          true, true, T_ORDER_NEWEST, 3, 80 },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        play(&(t_player_options){ .settings = rows[i].settings,
                                  .device_bytes = rows[i].mib * MIB,
                                  .is_mapping_transactional = rows[i].is_tidy,
                                  .has_manual_fences = !rows[i].is_tidy,
                                  .has_callback = rows[i].has_callback,
                                  .checks_each = true,
                                  .order = rows[i].order,
                                  .streams = rows[i].streams,
                                  .live = rows[i].live },
             STEPS);
    }
}

/* Looking after each step keeps the fast path from ever having anything to undo. */
static void holds_without_looking_after_each_step(void)
{
    for (int i = 0; i < 12; i++) {
        T_CASE("round %d", i);
        play(&(t_player_options){ .settings = i % 2 == 0 ? "" : "expandable_segments:True",
                                  .device_bytes = 512 * MIB,
                                  .has_manual_fences = i % 3 == 0,
                                  .has_callback = i % 4 == 0,
                                  .order = (t_order)(i % 3),
                                  .streams = 1 + (uint32_t)i % T_PLAYER_STREAMS,
                                  .live = 400 },
             2 * STEPS);
    }
}

static void holds_where_every_operation_checks_itself(void)
{
    play(&(t_player_options){ .device_bytes = 300 * MIB,
                              .hardening = PLIM_HARDENING_CHECKS,
                              .has_manual_fences = true,
                              .has_callback = true,
                              .streams = 3,
                              .live = 60 },
         2 * STEPS);
}

T_MAIN(T_TEST(holds_under_all_settings), T_TEST(holds_without_looking_after_each_step),
       T_TEST(holds_where_every_operation_checks_itself))
