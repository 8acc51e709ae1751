/*
 * heap_player.c - does things to an allocator at random. See heap_player.h.
 */
#include "alloc/heap_player_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LIVE_MARGIN  8
#define SOURCE_START UINT64_C(0x100000010000)

uint64_t t_player_pick(t_player *player, uint64_t low, uint64_t high)
{
    return player->options.pick(player->options.pick_ctx, low, high);
}

/* --- what is forgiven --- */

static bool is_failure(const t_player *player, plim_status status)
{
    return status == PLIM_IO || status == PLIM_OUT_OF_HOST_MEMORY ||
           status == PLIM_OUT_OF_DEVICE_MEMORY ||
           /* sim's word for mapping, or sharing, what is mapped in part */
           (status == PLIM_INVALID_ARGUMENT && player->model.has_uncertain_device);
}

void t_player_report(t_player *player, const char *text)
{
    const bool was_blind = player->model.is_blind;
    player->model.is_blind = false;
    t_model_fail(&player->model, "%s", text);
    player->model.is_blind = was_blind;
}

bool t_player_expect(t_player *player, plim_status status, plim_status wanted, const char *what)
{
    player->status = status;
    if (status == wanted) {
        return true;
    }
    if (player->options.forgives && is_failure(player, status)) {
        player->failed++;
        player->last_failure = status;
        return false;
    }
    char text[160];
    (void)snprintf(text, sizeof text, "%s: status %d, not %d", what, (int)status, (int)wanted);
    t_player_report(player, text);
    return false;
}

plim_stream t_player_pick_stream(t_player *player)
{
    return t_player_pick(player, 0, player->options.streams - 1) * 0x40;
}

int32_t t_player_pick_device(t_player *player)
{
    return t_player_pick(player, 0, 4) == 0 ? 1 : 0;
}

size_t t_player_pick_live(t_player *player)
{
    const size_t last = player->live_count - 1;
    switch (t_player_pick(player, 0, 7) == 0 ? T_ORDER_ANY : player->options.order) {
    case T_ORDER_NEWEST:
        return last;
    case T_ORDER_OLDEST:
        return 0;
    case T_ORDER_ANY:
        break;
    }
    return (size_t)t_player_pick(player, 0, last);
}

/* --- giving back --- */

static void forget(t_player *player, size_t at)
{
    player->live_count--;
    memmove(&player->live[at], &player->live[at + 1],
            (player->live_count - at) * sizeof player->live[0]);
}

void t_player_free_at(t_player *player, size_t at)
{
    const t_live live = player->live[at];
    plim_error err;
    if (live.is_uncached) {
        t_model_uncached(&player->model, live.device, live.addr, 0, false);
    }
    forget(player, at);
    player->addr = live.addr;
    const plim_status status = plim_free(player->allocator, live.addr, &err);
    /* A free that fails may be tried again where the block is still there. */
    if (!t_player_expect(player, status, PLIM_OK, "free") && live.is_uncached) {
        t_model_uncached(&player->model, live.device, live.addr, live.requested, true);
    }
}

static bool free_some(void *ctx, plim_allocator *allocator)
{
    t_player *player = ctx;
    (void)allocator;
    if (player->live_count == 0 || player->is_in_callback || t_player_pick(player, 0, 2) == 0) {
        return false;
    }
    player->is_in_callback = true;
    t_player_free_at(player, (size_t)t_player_pick(player, 0, player->live_count - 1));
    player->is_in_callback = false;
    return true;
}

/* --- the cache --- */

static void do_empty_cache(t_player *player)
{
    plim_error err;
    const uint64_t which = t_player_pick(player, 0, 2 * T_PLAYER_POOLS);
    const plim_pool_id *pool = which < T_PLAYER_POOLS ? &player->pools[which] : NULL;
    (void)t_player_expect(player, plim_empty_cache(player->allocator, pool, &err), PLIM_OK,
                          "empty_cache");
}

static void do_configure(t_player *player)
{
    static const char *const texts[] = {
        "",
        "expandable_segments:True",
        "expandable_segments:False",
        "max_split_size_mb:32",
        "max_split_size_mb:25,max_non_split_rounding_mb:40",
        "garbage_collection_threshold:0.4",
        "roundup_power2_divisions:4",
        "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
        "release_lock_on_cudamalloc:True",
        "release_lock_on_cudamalloc:False",
        "graph_capture_record_stream_reuse:True",
        "large_segment_size_mb:24",
        "large_segment_size_mb:20",
        "throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.7",
        "throw_on_cudamalloc_oom:False,per_process_memory_fraction:1.0",
        "expandable_segments:True,garbage_collection_threshold:0.6,max_split_size_mb:64",
    };
    plim_error err;
    const char *text = texts[t_player_pick(player, 0, sizeof texts / sizeof texts[0] - 1)];
    if (player->options.is_plain) {
        return;
    }
    (void)t_player_expect(player, plim_allocator_configure(player->allocator, text, &err), PLIM_OK,
                          text);
    (void)plim_allocator_configure(player->allocator, "no_such_key:1", &err);
}

static void do_fraction(t_player *player)
{
    plim_error err;
    const int32_t device = t_player_pick_device(player);
    const double fraction =
        t_player_pick(player, 0, 1) == 0 ? 1.0 : (double)t_player_pick(player, 4, 10) / 10.0;
    (void)t_player_expect(player,
                          plim_set_memory_fraction(player->allocator, device, fraction, &err),
                          PLIM_OK, "set_memory_fraction");
    (void)plim_memory_fraction(player->allocator, device);
}

static void do_caching(t_player *player)
{
    player->is_caching = !player->is_caching || t_player_pick(player, 0, 1) == 0;
    plim_set_caching(player->allocator, player->is_caching);
}

static void do_used(t_player *player)
{
    const plim_device *device = &player->devices[t_player_pick(player, 0, T_MODEL_DEVICES - 1)];
    plim_sim_set_used(device, t_player_pick(player, 0, 2) * player->options.device_bytes / 4);
}

static void do_peer(t_player *player)
{
    plim_error err;
    const int32_t owner = t_player_pick_device(player);
    (void)t_player_expect(player,
                          plim_enable_peer_access(player->allocator, 1 - owner, owner, &err),
                          PLIM_OK, "enable_peer_access");
}

/* --- steps --- */

typedef struct operation {
    void (*run)(t_player *player);
    uint32_t weight;
    bool is_plain; /* played by plain players too */
} operation;

static const operation operations[] = {
    { t_player_malloc, 60, true },
    { t_player_free, 45, true },
    { t_player_burst, 25, true },
    { t_player_stats, 6, true },
    { t_player_questions, 4, true },
    { t_player_resets, 3, true },
    { t_player_record_stream, 15, false },
    { t_player_complete, 12, false },
    { t_player_misuse, 3, false },
    { do_empty_cache, 4, false },
    { do_configure, 4, false },
    { do_fraction, 2, false },
    { do_caching, 2, false },
    { do_used, 2, false },
    { do_peer, 1, false },
    { t_player_pool, 24, false },
    { t_player_history, 2, false },
    { t_player_snapshot, 3, false },
};

#define OPERATIONS (sizeof operations / sizeof operations[0])

static uint32_t pick_operation(t_player *player)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < OPERATIONS; i++) {
        sum += player->options.is_plain && !operations[i].is_plain ? 0 : operations[i].weight;
    }
    uint64_t at = t_player_pick(player, 0, sum - 1);
    uint32_t i = 0;
    for (; i + 1 < OPERATIONS; i++) {
        const bool is_out = player->options.is_plain && !operations[i].is_plain;
        const uint64_t weight = is_out ? 0 : operations[i].weight;
        if (at < weight) {
            break;
        }
        at -= weight;
    }
    return i;
}

void t_player_step(t_player *player)
{
    player->operation = pick_operation(player);
    player->addr = 0;
    player->status = PLIM_OK;
    const uint64_t most = player->options.live < T_PLAYER_LIVE - LIVE_MARGIN
                              ? player->options.live
                              : T_PLAYER_LIVE - LIVE_MARGIN;
    if (player->live_count >= most) {
        const uint64_t times = t_player_pick(player, 1, most);
        for (uint64_t i = 0; i < times; i++) {
            t_player_free(player);
        }
    }
    operations[player->operation].run(player);
    if (player->options.checks_each) {
        t_player_look(player);
    }
}

void t_player_look(t_player *player)
{
    plim_error err;
    if (plim_allocator_check(player->allocator, &err) != PLIM_OK) {
        t_player_report(player, err.message);
    }
    t_player_stats(player);
}

void t_player_calm(t_player *player)
{
    player->options.forgives = false;
    for (size_t d = 0; d < T_MODEL_DEVICES; d++) {
        plim_sim_complete_all(&player->devices[d]);
        plim_sim_set_used(&player->devices[d], 0);
        for (size_t which = 0; which < T_PLAYER_POOLS; which++) {
            t_pool_state *state = &player->states[d][which];
            if (state->is_begun) {
                t_player_pool_end(player, (int32_t)d, which);
            }
            while (state->uses > 0) {
                t_player_pool_release(player, (int32_t)d, which);
            }
        }
    }
    while (player->live_count > 0) {
        t_player_free_at(player, player->live_count - 1);
    }
}

/* --- making and ending --- */

static plim_status make_devices(t_player *player, plim_error *err)
{
    for (int32_t d = 0; d < T_MODEL_DEVICES; d++) {
        const plim_sim_options options = {
            .mem = player->options.mem,
            .ordinal = d,
            .total_bytes = player->options.device_bytes,
            .has_manual_fences = player->options.has_manual_fences,
            .on_call = t_model_on_call,
            .on_call_ctx = &player->model,
        };
        const plim_status status = plim_sim_create(&options, &player->devices[d], err);
        if (status != PLIM_OK) {
            return status;
        }
    }
    return PLIM_OK;
}

static plim_status make_allocator(t_player *player, plim_error *err)
{
    plim_settings settings = plim_settings_default();
    plim_status status = player->options.settings != NULL
                             ? plim_settings_parse(player->options.settings, &settings, err)
                             : PLIM_OK;
    if (status != PLIM_OK) {
        return status;
    }
    const plim_allocator_options options = {
        .mem = player->options.mem,
        .devices = player->devices,
        .device_count = T_MODEL_DEVICES,
        .settings = &settings,
        .hardening = player->options.hardening,
        .is_mapping_transactional = player->options.is_mapping_transactional,
        .policy = player->options.policy,
        .release_threshold_bytes = player->options.release_threshold_bytes,
    };
    status = plim_allocator_create(&options, &player->allocator, err);
    if (status != PLIM_OK) {
        return status;
    }
    const plim_event_sink sink = t_model_sink(&player->model);
    status = plim_add_event_sink(player->allocator, &sink, err);
    if (status == PLIM_OK && player->options.has_callback) {
        status = plim_add_free_memory_callback(player->allocator, free_some, player, err);
    }
    return status;
}

static void destroy(t_player *player)
{
    plim_allocator_destroy(player->allocator);
    player->allocator = NULL;
    for (int32_t d = 0; d < T_MODEL_DEVICES; d++) {
        if (player->devices[d].ops != NULL && !player->model.has_uncertain_device &&
            plim_sim_taken_bytes(&player->devices[d]) > 0) {
            t_player_report(player, "a device holds memory after the end");
        }
        plim_device_destroy(&player->devices[d]);
    }
    if (player->source.given > 0) {
        t_player_report(player, "a source misses memory after the end");
    }
}

plim_status t_player_init(t_player *player, const t_player_options *options, plim_error *err)
{
    memset(player, 0, sizeof *player);
    player->options = *options;
    player->is_caching = true;
    player->source = (t_source){ &player->model, SOURCE_START, 0 };
    t_model_init(&player->model);
    plim_status status = make_devices(player, err);
    if (status == PLIM_OK) {
        status = make_allocator(player, err);
    }
    if (status != PLIM_OK) {
        destroy(player);
        return status;
    }
    for (size_t i = 0; i < T_PLAYER_POOLS; i++) {
        player->pools[i] = plim_new_pool_id(player->allocator, i == 1);
    }
    return PLIM_OK;
}

void t_player_deinit(t_player *player)
{
    destroy(player);
}
