/*
 * heap_player_pools.c - the player makes pools, routes requests to them and lets go of them.
 */
#include "alloc/heap_player_parts.h"

#include <inttypes.h>

#define SOURCE_STEP  UINT64_C(0x10000)
#define SOURCE_LIMIT (UINT64_C(64) << 20)
#define WITH_SOURCE  3 /* the pool whose memory comes from the player */

static plim_addr source_alloc(void *ctx, uint64_t bytes, int32_t device, plim_stream stream)
{
    (void)stream;
    t_source *source = ctx;
    if (source->given + bytes > SOURCE_LIMIT) {
        return 0;
    }
    const plim_addr addr = source->next;
    source->next += (bytes + 2 * SOURCE_STEP - 1) / SOURCE_STEP * SOURCE_STEP;
    source->given += bytes;
    t_model_source(source->model, device, addr, bytes, true);
    return addr;
}

static void source_free(void *ctx, plim_addr addr, uint64_t bytes, int32_t device,
                        plim_stream stream)
{
    (void)stream;
    t_source *source = ctx;
    source->given -= bytes;
    t_model_source(source->model, device, addr, bytes, false);
}

static bool accepts(void *ctx, plim_stream stream)
{
    const t_player *player = ctx;
    return stream == player->filtered;
}

/* --- pools --- */

static void do_pool_begin(t_player *player, int32_t device, size_t which)
{
    t_pool_state *state = &player->states[device][which];
    plim_error err;
    const bool is_filtered = t_player_pick(player, 0, 1) == 1;
    const plim_status status = plim_pool_begin(player->allocator, device, player->pools[which],
                                               is_filtered ? accepts : NULL, player, &err);
    if (t_player_expect(player, status, state->is_begun ? PLIM_INVALID_ARGUMENT : PLIM_OK,
                        "pool_begin") &&
        status == PLIM_OK) {
        state->is_begun = true;
        state->uses++;
    }
}

void t_player_pool_end(t_player *player, int32_t device, size_t which)
{
    t_pool_state *state = &player->states[device][which];
    plim_error err;
    const plim_status status = plim_pool_end(player->allocator, device, player->pools[which], &err);
    (void)t_player_expect(player, status, state->is_begun ? PLIM_OK : PLIM_INVALID_ARGUMENT,
                          "pool_end");
    state->is_begun = false;
}

static void do_pool_retain(t_player *player, int32_t device, size_t which)
{
    const plim_segment_source source = { source_alloc, source_free, &player->source };
    plim_error err;
    const plim_status status = plim_pool_retain(player->allocator, device, player->pools[which],
                                                which == WITH_SOURCE ? &source : NULL, &err);
    if (t_player_expect(player, status, PLIM_OK, "pool_retain")) {
        player->states[device][which].uses++;
    }
}

void t_player_pool_release(t_player *player, int32_t device, size_t which)
{
    t_pool_state *state = &player->states[device][which];
    plim_error err;
    const plim_status status =
        plim_pool_release(player->allocator, device, player->pools[which], &err);
    (void)t_player_expect(player, status, state->uses > 0 ? PLIM_OK : PLIM_INVALID_ARGUMENT,
                          "pool_release");
    state->uses -= state->uses > 0 ? 1 : 0;
}

static void do_pool_flags(t_player *player, int32_t device, size_t which)
{
    plim_error err;
    const bool is_split = t_player_pick(player, 0, 3) == 0;
    const bool uses = t_player_pick(player, 0, 1) == 1;
    const plim_pool_id id = player->pools[which];
    const plim_status status =
        is_split ? plim_pool_set_no_split(player->allocator, device, id, &err)
                 : plim_pool_set_use_on_oom(player->allocator, device, id, uses, &err);
    if (player->states[device][which].uses > 0) {
        (void)t_player_expect(player, status, PLIM_OK, "a pool's flag");
    }
}

static void do_pool_holds(t_player *player, int32_t device, size_t which)
{
    plim_addr addrs[T_MODEL_BLOCKS];
    size_t count = 0;
    const plim_pool_id id = player->pools[which];
    const t_side *side = &player->model.sides[device];
    for (size_t i = 0; i < side->block_count; i++) {
        const t_active *block = &side->blocks[i];
        if (block->pool.a == id.a && block->pool.b == id.b && !block->is_freed) {
            addrs[count] = block->addr;
            count++;
        }
    }
    bool holds = false;
    plim_error err;
    const plim_status status = plim_pool_holds_exactly(
        player->allocator, device, id, (plim_addr_list){ addrs, count }, &holds, &err);
    if (status == PLIM_OK && !holds) {
        t_model_fail(&player->model, "a pool does not hold what the events say");
    }
    if (plim_pool_use_count(player->allocator, device, id) != player->states[device][which].uses) {
        t_model_fail(&player->model, "a pool has another number of users");
    }
}

void t_player_pool(t_player *player)
{
    const int32_t device = t_player_pick_device(player);
    const size_t which = (size_t)t_player_pick(player, 0, T_PLAYER_POOLS - 1);
    switch (t_player_pick(player, 0, 6)) {
    case 0:
        do_pool_begin(player, device, which);
        break;
    case 1:
        t_player_pool_end(player, device, which);
        break;
    case 2:
        do_pool_retain(player, device, which);
        break;
    case 3:
        t_player_pool_release(player, device, which);
        break;
    case 4:
        do_pool_flags(player, device, which);
        break;
    case 5:
        player->filtered = t_player_pick_stream(player);
        break;
    default:
        do_pool_holds(player, device, which);
        break;
    }
}
