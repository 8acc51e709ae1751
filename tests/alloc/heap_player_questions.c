/*
 * heap_player_questions.c - the player asks, and holds the answers against the model.
 */
#include "alloc/heap_player_parts.h"

#include <inttypes.h>

/* --- questions --- */

void t_player_stats(t_player *player)
{
    for (int32_t device = 0; device < T_MODEL_DEVICES; device++) {
        plim_device_stats stats;
        plim_error err;
        if (t_player_expect(player, plim_allocator_stats(player->allocator, device, &stats, &err),
                            PLIM_OK, "stats")) {
            t_model_compare_stats(&player->model, device, &stats);
        }
        t_model_compare_device(&player->model, device);
    }
}

void t_player_resets(t_player *player)
{
    const int32_t device = t_player_pick_device(player);
    if (t_player_pick(player, 0, 1) == 0) {
        plim_allocator_reset_peak_stats(player->allocator, device);
        t_model_reset_peaks(&player->model, device);
    } else {
        plim_allocator_reset_accumulated_stats(player->allocator, device);
        t_model_reset_accumulated(&player->model, device);
    }
}

void t_player_history(t_player *player)
{
    const plim_record_options options = {
        .is_enabled = t_player_pick(player, 0, 2) > 0,
        .stacks = (plim_stack_level)t_player_pick(player, 0, 3),
        .max_events = t_player_pick(player, 0, 50),
        .clears = t_player_pick(player, 0, 1) == 1,
    };
    plim_error err;
    (void)t_player_expect(player, plim_record_history(player->allocator, &options, &err), PLIM_OK,
                          "record_history");
}

void t_player_snapshot(t_player *player)
{
    const uint64_t which = t_player_pick(player, 0, T_PLAYER_POOLS + 4);
    const bool is_all = which >= T_PLAYER_POOLS;
    plim_history *history = NULL;
    plim_error err;
    const plim_status status = plim_allocator_snapshot(
        player->allocator, is_all ? NULL : &player->pools[which], which % 2 == 0, &history, &err);
    if (t_player_expect(player, status, PLIM_OK, "snapshot")) {
        if (is_all) {
            t_model_compare_snapshot(&player->model, history);
        }
        plim_history_destroy(history);
    }
}

static void ask_about(t_player *player, const t_live *live)
{
    uint64_t bytes = 0, requested = 0, base_bytes = 0;
    plim_addr base = 0;
    plim_error err;
    const plim_status wanted = live->is_uncached ? PLIM_INVALID_ARGUMENT : PLIM_OK;
    plim_status status = plim_block_bytes(player->allocator, live->addr, &bytes, &requested, &err);
    if (t_player_expect(player, status, wanted, "block_bytes") && status == PLIM_OK &&
        (requested != live->requested || bytes < requested)) {
        t_model_fail(&player->model, "block_bytes of 0x%" PRIx64 " is wrong", live->addr);
    }
    status = plim_base_allocation(player->allocator, live->addr, &base, &base_bytes, &err);
    if (t_player_expect(player, status, wanted, "base_allocation") && status == PLIM_OK &&
        (base > live->addr || live->addr + bytes > base + base_bytes)) {
        t_model_fail(&player->model, "base_allocation of 0x%" PRIx64 " is wrong", live->addr);
    }
}

void t_player_questions(t_player *player)
{
    uint64_t largest = t_player_pick(player, 0, 1);
    plim_error err;
    (void)t_player_expect(
        player, plim_cache_info(player->allocator, t_player_pick_device(player), &largest, &err),
        PLIM_OK, "cache_info");
    plim_metadata metadata;
    plim_allocator_metadata(player->allocator, &metadata);
    plim_oom_facts facts;
    if (plim_allocator_last_oom(player->allocator, 0, &facts)) {
        char text[PLIM_OOM_TEXT_BYTES];
        (void)plim_oom_text(&facts, PLIM_TORCH_NEWEST, text, sizeof text);
        (void)plim_oom_advice(&facts, text, PLIM_OOM_ADVICE_BYTES);
    }
    if (player->live_count > 0) {
        ask_about(player, &player->live[t_player_pick_live(player)]);
    }
}
