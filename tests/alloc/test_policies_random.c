/*
 * test_policies_random.c - the policies that stand beside PyTorch's, played at random: everything a
 * program can do (heap_player.h), all invariants after each step, events and statistics against a
 * model; and every call to the device and every allocation of host memory failing once.
 */
#include "alloc/heap_player.h"
#include "base/units.h"
#include "harness.h"

#define RUNS     10
#define STEPS    400
#define FEW      100
#define MORE     25
#define RUNS_MAX 16 /* of one kind of failure */

static t_player player;

static const struct {
    plim_policy_kind policy;
    uint64_t release_threshold_bytes;
    const char *settings;
} cases[] = {
    { PLIM_POLICY_NAIVE, 0, "" },
    { PLIM_POLICY_BFC, 0, "" },
    { PLIM_POLICY_BFC, 0, "garbage_collection_threshold:0.8" },
    { PLIM_POLICY_ASYNC, 0, "" },
    { PLIM_POLICY_ASYNC, 24 * MIB, "" },
    { PLIM_POLICY_ASYNC, PLIM_UNLIMITED, "" },
    { PLIM_POLICY_ARENA, 0, "" },
};

static uint64_t pick(void *ctx, uint64_t low, uint64_t high)
{
    (void)ctx;
    return t_random_between(low, high);
}

static t_player_options options_for(size_t row, uint64_t round, const plim_mem *mem)
{
    return (t_player_options){ .pick = pick,
                               .mem = mem,
                               .settings = cases[row].settings,
                               .policy = cases[row].policy,
                               .release_threshold_bytes = cases[row].release_threshold_bytes,
                               .device_bytes = (round % 2 == 0 ? 160 : 512) * MIB,
                               .hardening =
                                   round % 5 == 1 ? PLIM_HARDENING_CHECKS : PLIM_HARDENING_NONE,
                               .has_manual_fences = round % 3 != 0,
                               .is_mapping_transactional = true,
                               .has_callback = round % 4 == 0,
                               .is_plain = round % 6 == 5,
                               .checks_each = true,
                               .streams = 1 + (uint32_t)(round % 4),
                               .live = 20 + 30 * (round % 5) };
}

static void step(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        t_player_step(&player);
        if (player.model.fault[0] != '\0') {
            fail_msg("step %" PRIu64 ", operation %u: %s", i, player.operation, player.model.fault);
        }
    }
}

static void end(void)
{
    t_player_calm(&player);
    t_player_look(&player);
    step(0);
    t_player_deinit(&player);
    if (player.model.fault[0] != '\0') {
        fail_msg("%s", player.model.fault);
    }
}

static void holds_whatever_a_program_does(void)
{
    for (size_t row = 0; row < T_COUNT(cases); row++) {
        uint64_t done = 0, ooms = 0;
        for (uint64_t round = 0; round < RUNS; round++) {
            plim_error err;
            t_mem heap;
            t_mem_init(&heap);
            T_CASE("%s, row %zu, round %" PRIu64, plim_policy_name(cases[row].policy), row, round);
            const t_player_options options = options_for(row, round, &heap.mem);
            T_EQ_U64(t_player_init(&player, &options, &err), PLIM_OK);
            step(STEPS);
            done += player.done;
            ooms += player.ooms;
            end();
            T_EQ_U64(heap.live_bytes, 0);
        }
        T_TRUE(done > RUNS * STEPS / 4);
        T_TRUE(ooms > 0);
    }
}

static void the_same_steps_give_the_same_events(void)
{
    for (size_t row = 0; row < T_COUNT(cases); row++) {
        uint64_t hashes[2] = { 0, 0 };
        for (int run = 0; run < 2; run++) {
            plim_error err;
            const t_player_options options = options_for(row, 3, NULL);
            t_now.random = t_now.seed;
            T_EQ_U64(t_player_init(&player, &options, &err), PLIM_OK);
            step(STEPS);
            hashes[run] = player.model.event_hash;
            end();
        }
        T_EQ_U64(hashes[0], hashes[1]);
    }
}

/* --- failures --- */

typedef struct failure {
    plim_device_call call;
    bool is_kept;  /* the device keeps what it refuses to take back */
    bool is_blind; /* and the events said it was gone */
} failure;

static const failure failures[] = {
    { PLIM_CALL_MEMORY_ALLOC, false, false },  { PLIM_CALL_MEMORY_FREE, false, true },
    { PLIM_CALL_RANGE_RESERVE, false, false }, { PLIM_CALL_RANGE_FREE, true, false },
    { PLIM_CALL_HANDLE_CREATE, false, false }, { PLIM_CALL_HANDLE_RELEASE, true, false },
    { PLIM_CALL_MAP, false, false },           { PLIM_CALL_UNMAP, true, false },
    { PLIM_CALL_SET_ACCESS, false, false },    { PLIM_CALL_STREAM_SYNC, false, false },
    { PLIM_CALL_DEVICE_SYNC, false, false },   { PLIM_CALL_FENCE_CREATE, false, false },
    { PLIM_CALL_FENCE_RECORD, false, false },  { PLIM_CALL_FENCE_QUERY, false, false },
    { PLIM_CALL_FENCE_SYNC, false, false },    { PLIM_CALL_INFO, false, false },
};

/* Returns how many calls of the kind were made. */
static uint64_t fail_nth(size_t row, const failure *how, uint64_t nth, plim_status status)
{
    plim_error err;
    t_mem heap;
    t_mem_init(&heap);
    t_player_options options = options_for(row, 2, &heap.mem);
    options.forgives = true;
    t_now.random = t_now.seed;
    T_EQ_U64(t_player_init(&player, &options, &err), PLIM_OK);
    player.model.has_uncertain_device = how->is_kept;
    player.model.is_blind = how->is_blind;
    plim_sim_fail(&player.devices[0], how->call, nth, status);
    step(FEW);
    const uint64_t calls = plim_sim_calls(&player.devices[0], how->call);
    plim_sim_fail(&player.devices[0], how->call, 0, PLIM_OK);
    player.options.forgives = how->is_kept;
    step(MORE);
    end();
    T_EQ_U64(heap.live_bytes, 0);
    return calls;
}

static void survives_each_failing_call_to_the_device(void)
{
    static const plim_status statuses[] = { PLIM_OUT_OF_DEVICE_MEMORY, PLIM_IO };
    for (size_t row = 0; row < T_COUNT(cases); row++) {
        for (size_t i = 0; i < T_COUNT(failures) * T_COUNT(statuses); i++) {
            const failure *how = &failures[i / T_COUNT(statuses)];
            const plim_status status = statuses[i % T_COUNT(statuses)];
            uint64_t calls = 1, stride = 1;
            for (uint64_t nth = 1; nth <= calls; nth += stride) {
                T_CASE("%s, row %zu, %s, status %d, call %" PRIu64,
                       plim_policy_name(cases[row].policy), row, plim_device_call_name(how->call),
                       (int)status, nth);
                calls = fail_nth(row, how, nth, status);
                stride = 1 + calls / RUNS_MAX;
            }
        }
    }
}

/* False: there was nothing left to fail. */
static bool fail_allocation(size_t row, uint64_t n)
{
    plim_error err;
    t_mem heap;
    t_mem_init(&heap);
    heap.fail_at = n;
    t_player_options options = options_for(row, 2, &heap.mem);
    options.forgives = true;
    t_now.random = t_now.seed;
    const plim_status status = t_player_init(&player, &options, &err);
    if (status == PLIM_OK) {
        step(FEW);
        if (player.failed == 1) {
            T_EQ_U64(player.last_failure, PLIM_OUT_OF_HOST_MEMORY);
        }
        heap.fail_at = 0;
        player.options.forgives = false;
        step(MORE);
        end();
    } else {
        T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
    }
    T_EQ_U64(heap.live_bytes, 0);
    return heap.failed;
}

static void survives_each_failing_allocation(void)
{
    for (size_t row = 0; row < T_COUNT(cases); row++) {
        uint64_t n = 1;
        T_CASE("%s, row %zu, allocation 1", plim_policy_name(cases[row].policy), row);
        while (fail_allocation(row, n)) {
            n += n < RUNS_MAX ? 1 : 1 + n / RUNS_MAX;
            T_CASE("%s, row %zu, allocation %" PRIu64, plim_policy_name(cases[row].policy), row, n);
        }
        T_TRUE(n > RUNS_MAX);
    }
}

T_MAIN(T_TEST(holds_whatever_a_program_does), T_TEST(the_same_steps_give_the_same_events),
       T_TEST(survives_each_failing_call_to_the_device), T_TEST(survives_each_failing_allocation))
