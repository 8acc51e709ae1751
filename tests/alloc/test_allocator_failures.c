/*
 * test_allocator_failures.c - every call to the device and every allocation of host memory fails
 * once, in the middle of everything: the error is told, and the allocator stays whole.
 *
 * What is asserted after a failure:
 *   - all invariants, after each step that follows
 *   - events and statistics still agree with the model; but not once the device refused to take
 *     plain memory back, which is told before it is tried, as PyTorch does
 *   - with the failure over, the rest works: everywhere where mappings are transactional, and where
 *     they are not, all but growing a segment into a mapping that failed half way
 *   - at the end the devices hold nothing; but where a device refused to unmap or to release, it
 *     may keep that
 */
#include "alloc/heap_player.h"
#include "base/units.h"
#include "harness.h"

#define STEPS    150
#define MORE     25
#define RUNS_MAX 60 /* of one kind of failure; the rest is passed over at random */

static t_player player;

static uint64_t pick(void *ctx, uint64_t low, uint64_t high)
{
    (void)ctx;
    return t_random_between(low, high);
}

static void expect_no_fault(void)
{
    if (player.model.fault[0] != '\0') {
        fail_msg("operation %u: %s", player.operation, player.model.fault);
    }
}

static t_player_options options_for(uint64_t round, const plim_mem *mem)
{
    return (t_player_options){ .pick = pick,
                               .mem = mem,
                               .settings = round % 2 == 0 ? "expandable_segments:True" : "",
                               .device_bytes = 160 * MIB,
                               .has_manual_fences = true,
                               .is_mapping_transactional = round / 2 % 2 == 0,
                               .has_callback = round % 3 == 0,
                               .checks_each = true,
                               .forgives = true,
                               .streams = 2,
                               .live = 30 };
}

static void step(uint64_t times)
{
    for (uint64_t i = 0; i < times; i++) {
        t_player_step(&player);
        expect_no_fault();
    }
}

/* --- the device --- */

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
    { PLIM_CALL_FENCE_CREATE, false, false },  { PLIM_CALL_FENCE_RECORD, false, false },
    { PLIM_CALL_FENCE_QUERY, false, false },   { PLIM_CALL_FENCE_SYNC, false, false },
    { PLIM_CALL_INFO, false, false },
};

/* What failed half way without transactions stays as it is, and so may fail again. */
static bool may_fail_again(const failure *how)
{
    return how->is_kept || !player.options.is_mapping_transactional;
}

/* Returns how many calls of the kind were made. */
static uint64_t fail_nth(const failure *how, uint64_t nth, plim_status status, uint64_t round)
{
    plim_error err;
    t_mem heap;
    t_mem_init(&heap);
    const t_player_options options = options_for(round, &heap.mem);
    t_now.random = t_now.seed;
    T_EQ_U64(t_player_init(&player, &options, &err), PLIM_OK);
    player.model.has_uncertain_device = how->is_kept || !options.is_mapping_transactional;
    player.model.is_blind = how->is_blind;
    plim_sim_fail(&player.devices[0], how->call, nth, status);
    step(STEPS);
    const uint64_t calls = plim_sim_calls(&player.devices[0], how->call);
    plim_sim_fail(&player.devices[0], how->call, 0, PLIM_OK);
    if (player.failed == 1 && player.last_failure != status &&
        player.last_failure != PLIM_OUT_OF_DEVICE_MEMORY && player.last_failure != PLIM_IO) {
        fail_msg("status %d is told as %d", (int)status, (int)player.last_failure);
    }
    player.options.forgives = may_fail_again(how);
    step(MORE);
    t_player_calm(&player);
    t_player_look(&player);
    expect_no_fault();
    player.model.has_uncertain_device = how->is_kept;
    t_player_deinit(&player);
    expect_no_fault();
    T_EQ_U64(heap.live_bytes, 0);
    return calls;
}

static void survives_each_failing_call_to_the_device(void)
{
    static const plim_status statuses[] = { PLIM_OUT_OF_DEVICE_MEMORY, PLIM_IO };
    for (size_t i = 0; i < T_COUNT(failures); i++) {
        for (uint64_t round = 0; round < 4 * T_COUNT(statuses); round++) {
            const plim_status status = statuses[round / 4];
            uint64_t calls = 1, stride = 1;
            for (uint64_t nth = 1; nth <= calls; nth += stride) {
                T_CASE("%s, status %d, call %" PRIu64 ", round %" PRIu64,
                       plim_device_call_name(failures[i].call), (int)status, nth, round);
                calls = fail_nth(&failures[i], nth, status, round);
                stride = 1 + calls / RUNS_MAX;
            }
        }
    }
}

/* --- the host --- */

/* False: there was nothing left to fail. */
static bool fail_allocation(uint64_t n, uint64_t round)
{
    plim_error err;
    t_mem heap;
    t_mem_init(&heap);
    heap.fail_at = n;
    const t_player_options options = options_for(round, &heap.mem);
    t_now.random = t_now.seed;
    const plim_status status = t_player_init(&player, &options, &err);
    if (status == PLIM_OK) {
        player.model.has_uncertain_device = !options.is_mapping_transactional;
        step(STEPS);
        if (player.failed == 1) {
            T_EQ_U64(player.last_failure, PLIM_OUT_OF_HOST_MEMORY);
        }
        heap.fail_at = 0;
        player.options.forgives = !options.is_mapping_transactional;
        step(MORE);
        t_player_calm(&player);
        t_player_look(&player);
        player.model.has_uncertain_device = false;
        t_player_deinit(&player);
        expect_no_fault();
    } else {
        T_EQ_U64(status, PLIM_OUT_OF_HOST_MEMORY);
    }
    T_EQ_U64(heap.live_bytes, 0);
    return heap.failed;
}

static void survives_each_failing_allocation(void)
{
    for (uint64_t round = 0; round < 4; round++) {
        uint64_t n = 1;
        while (fail_allocation(n, round)) {
            n += n < RUNS_MAX ? 1 : 1 + n / RUNS_MAX;
            T_CASE("allocation %" PRIu64 ", round %" PRIu64, n, round);
        }
        T_TRUE(n > RUNS_MAX);
    }
}

T_MAIN(T_TEST(survives_each_failing_call_to_the_device), T_TEST(survives_each_failing_allocation))
