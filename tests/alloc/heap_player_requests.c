/*
 * heap_player_requests.c - the player asks for memory and gives it back.
 */
#include "alloc/heap_player_parts.h"
#include "base/units.h"

#include <inttypes.h>

#define BURST_MAX   6
#define BAD_ADDRESS UINT64_C(0x123456789200)

/* --- requests --- */

static uint64_t pick_bytes(t_player *player)
{
    static const uint64_t usual[] = { /* two that are rounded to the same size, some that fill */
                                      1,        512,      513,      1024,    4096,    65536,
                                      MIB - 1,  MIB,      MIB + 1,  2 * MIB, 3 * MIB, 5 * MIB,
                                      10 * MIB, 20 * MIB, 32 * MIB, 40 * MIB
    };
    const uint64_t usual_count = sizeof usual / sizeof usual[0];
    const uint64_t kinds = player->options.has_few_sizes ? 0 : 3;
    switch (t_player_pick(player, 0, kinds)) {
    case 0:
        return usual[t_player_pick(player, 0, usual_count - 1)];
    case 1:
        return t_player_pick(player, 1, 64) * 512;
    case 2:
        return t_player_pick(player, 1, MIB);
    default:
        return t_player_pick(player, 1, player->options.device_bytes / 8);
    }
}

/* The requests. */
typedef struct wish {
    int32_t device;
    plim_stream stream;
    uint64_t bytes;
} wish;

static wish pick_wish(t_player *player)
{
    const int32_t device = t_player_pick_device(player);
    const plim_stream stream = t_player_pick_stream(player);
    return (wish){ device, stream, pick_bytes(player) };
}

static void request(t_player *player, const wish *wanted)
{
    const int32_t device = wanted->device;
    const uint64_t bytes = wanted->bytes;
    plim_addr addr = 0;
    plim_error err;
    const plim_status status =
        plim_malloc(player->allocator, device, bytes, wanted->stream, &addr, &err);
    if (status == PLIM_OUT_OF_DEVICE_MEMORY) {
        player->status = status;
        player->addr = 0;
        player->ooms++;
        return;
    }
    if (!t_player_expect(player, status, PLIM_OK, "malloc")) {
        return;
    }
    player->addr = addr;
    player->done++;
    if (!player->is_caching) {
        t_model_uncached(&player->model, device, addr, bytes, true);
    } else {
        const t_active *block = t_model_find(&player->model, device, addr);
        if (block == NULL || block->is_freed || block->requested != bytes) {
            t_model_fail(&player->model, "malloc gave 0x%" PRIx64 ", the events do not", addr);
        }
    }
    player->live[player->live_count] = (t_live){
        .addr = addr, .requested = bytes, .device = device, .is_uncached = !player->is_caching
    };
    player->live_count++;
}

void t_player_malloc(t_player *player)
{
    const wish wanted = pick_wish(player);
    request(player, &wanted);
}

void t_player_free(t_player *player)
{
    if (player->live_count > 0) {
        t_player_free_at(player, t_player_pick_live(player));
    }
}

/* What a model's step does: the same requests again and again, given back newest first. */
void t_player_burst(t_player *player)
{
    wish wishes[BURST_MAX];
    const uint64_t count = t_player_pick(player, 1, BURST_MAX);
    const uint64_t times = t_player_pick(player, 1, 3);
    for (uint64_t i = 0; i < count; i++) {
        wishes[i] = pick_wish(player);
    }
    for (uint64_t t = 0; t < times; t++) {
        const size_t kept = player->live_count;
        for (uint64_t i = 0; i < count; i++) {
            request(player, &wishes[i]);
        }
        while (player->live_count > kept) {
            t_player_free_at(player, player->live_count - 1);
        }
    }
}

void t_player_record_stream(t_player *player)
{
    if (player->live_count > 0) {
        t_live *live = &player->live[t_player_pick_live(player)];
        const plim_stream stream = t_player_pick_stream(player);
        plim_error err;
        const plim_status status = plim_record_stream(player->allocator, live->addr, stream, &err);
        (void)t_player_expect(player, status, live->is_uncached ? PLIM_INVALID_ARGUMENT : PLIM_OK,
                              "record_stream");
    }
}

void t_player_complete(t_player *player)
{
    const plim_device *device = &player->devices[t_player_pick(player, 0, T_MODEL_DEVICES - 1)];
    if (t_player_pick(player, 0, 3) == 0) {
        plim_sim_complete_all(device);
    } else {
        plim_sim_complete(device, t_player_pick_stream(player));
    }
}

void t_player_misuse(t_player *player)
{
    plim_error err;
    plim_addr addr = BAD_ADDRESS;
    const plim_stream stream = t_player_pick_stream(player);
    if (player->live_count > 0 && t_player_pick(player, 0, 1) == 0) {
        const t_live *live = &player->live[t_player_pick_live(player)];
        addr = live->addr + 128; /* no block starts at an odd multiple of 128 */
    }
    (void)t_player_expect(player, plim_free(player->allocator, addr, &err), PLIM_INVALID_ARGUMENT,
                          "free of nothing");
    (void)t_player_expect(player, plim_record_stream(player->allocator, addr, stream, &err),
                          PLIM_INVALID_ARGUMENT, "record_stream of nothing");
}
