/*
 * fuzz_allocator.c - any bytes as operations on an allocator: what must hold holds after each.
 *
 * The first bytes choose the settings; the rest are the choices of the player
 * (tests/alloc/heap_player.h), each as long as its range wants. It plays until they are used up.
 */
#include "alloc/heap_player.h"
#include "base/assert.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS_MAX 600

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct choices {
    const uint8_t *at;
    size_t left;
} choices;

static uint64_t pick(void *ctx, uint64_t low, uint64_t high)
{
    choices *from = ctx;
    const uint64_t span = high - low + 1;
    uint64_t value = 0;
    for (uint64_t room = span - 1; room > 0 && from->left > 0; room >>= 8) {
        value = value << 8 | *from->at;
        from->at++;
        from->left--;
    }
    return low + (span == 0 ? value : value % span);
}

static void expect_no_fault(const t_player *player)
{
    if (player->model.fault[0] != '\0') {
        (void)fprintf(stderr, "operation %u: %s\n", player->operation, player->model.fault);
        abort();
    }
}

static t_player_options options_from(choices *from)
{
    static const char *const settings[] = {
        "",
        "expandable_segments:True",
        "max_split_size_mb:32",
        "expandable_segments:True,garbage_collection_threshold:0.5",
        "roundup_power2_divisions:4,release_lock_on_cudamalloc:True",
    };
    const uint64_t bits = pick(from, 0, 255);
    return (t_player_options){
        .pick = pick,
        .pick_ctx = from,
        .settings = settings[pick(from, 0, sizeof settings / sizeof settings[0] - 1)],
        .device_bytes = (64 + pick(from, 0, 15) * 32) * MIB,
        .hardening = (bits & 1) != 0 ? PLIM_HARDENING_CHECKS : PLIM_HARDENING_NONE,
        .is_mapping_transactional = (bits & 2) != 0,
        .has_manual_fences = (bits & 4) != 0,
        .has_callback = (bits & 8) != 0,
        .has_few_sizes = (bits & 16) != 0,
        .checks_each = (bits & 32) != 0,
        .order = (bits & 64) != 0 ? T_ORDER_NEWEST : T_ORDER_ANY,
        .streams = 1 + (uint32_t)pick(from, 0, 3),
        .live = 40,
    };
}

/* NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static t_player player;
    choices from = { data, size };
    const t_player_options options = options_from(&from);
    plim_error err;
    PLIM_ASSERT(t_player_init(&player, &options, &err) == PLIM_OK);
    for (int step = 0; step < STEPS_MAX && from.left > 0; step++) {
        t_player_step(&player);
        expect_no_fault(&player);
    }
    t_player_look(&player);
    expect_no_fault(&player);
    t_player_calm(&player);
    t_player_deinit(&player);
    expect_no_fault(&player);
    return 0;
}
