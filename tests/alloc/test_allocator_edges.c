/*
 * test_allocator_edges.c - small programs that once broke an allocator, or might.
 */
#include "alloc/small_world.h"
#include "base/units.h"
#include "harness.h"
#include "plimsoll/allocator.h"

/* --- pools --- */

static void a_pool_outlives_its_users_while_requests_go_there(void)
{
    world made = world_on_sim(512 * MIB, "");
    const plim_pool_id pool = plim_new_pool_id(made.allocator, false);
    T_EQ_U64(plim_pool_begin(made.allocator, 0, pool, NULL, NULL, NULL), PLIM_OK);
    T_EQ_U64(plim_pool_release(made.allocator, 0, pool, NULL), PLIM_OK);
    T_EQ_U64(plim_empty_cache(made.allocator, NULL, NULL), PLIM_OK);
    world_give(&made, world_get(&made, MIB, 0));
    T_EQ_U64(plim_pool_end(made.allocator, 0, pool, NULL), PLIM_OK);
    T_EQ_U64(plim_empty_cache(made.allocator, NULL, NULL), PLIM_OK);
    world_end(&made);
}

static bool end_the_pool(void *ctx, plim_allocator *allocator)
{
    const plim_pool_id *pool = ctx;
    (void)plim_pool_end(allocator, 0, *pool, NULL);
    (void)plim_pool_release(allocator, 0, *pool, NULL);
    (void)plim_empty_cache(allocator, NULL, NULL);
    return false; /* nothing was freed, but much has changed */
}

static void a_callback_may_end_the_pool_of_the_request(void)
{
    world made = world_on_sim(512 * MIB, "");
    plim_pool_id pool = plim_new_pool_id(made.allocator, false);
    T_EQ_U64(plim_add_free_memory_callback(made.allocator, end_the_pool, &pool, NULL), PLIM_OK);
    T_EQ_U64(plim_pool_begin(made.allocator, 0, pool, NULL, NULL, NULL), PLIM_OK);
    world_give(&made, world_get(&made, MIB, 0));
    T_EQ_I64(plim_pool_use_count(made.allocator, 0, pool), 0);
    world_end(&made);
}

/* --- failures --- */

static void observe(void *ctx, const plim_oom_facts *facts)
{
    (void)facts;
    *(int *)ctx += 1;
}

/* A driver that has no memory for an event does not make the request one that found none. */
static void only_requests_run_out_of_memory(void)
{
    world made = world_on_sim(512 * MIB, "");
    int observed = 0;
    plim_error err;
    plim_addr addr = 0;
    T_EQ_U64(plim_add_oom_observer(made.allocator, observe, &observed, NULL), PLIM_OK);
    const plim_addr kept = world_get(&made, MIB, 0);
    T_EQ_U64(plim_record_stream(made.allocator, kept, 5, NULL), PLIM_OK);
    world_give(&made, kept);
    plim_sim_fail(&made.device, PLIM_CALL_FENCE_QUERY, 1, PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_U64(plim_malloc(made.allocator, 0, MIB, 0, &addr, &err), PLIM_IO);
    T_EQ_U64(err.status, PLIM_IO);
    T_EQ_I64(observed, 0);
    T_EQ_U64(plim_malloc(made.allocator, 0, MIB, 0, &addr, &err), PLIM_OK);
    T_EQ_U64(plim_malloc(made.allocator, 0, 1024 * MIB, 0, &addr, &err), PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(observed, 1);
    world_end(&made);
}

/* A device that is short of host memory for one mapping maps there again afterwards. */
static void a_mapping_without_host_memory_leaves_nothing(void)
{
    bool has_failed = true;
    for (uint64_t n = 1; has_failed; n++) {
        T_CASE("allocation %" PRIu64, n);
        t_mem heap;
        t_mem_init(&heap);
        world made = { .is_sim = true };
        const plim_sim_options options = { .mem = &heap.mem, .total_bytes = 512 * MIB };
        T_EQ_U64(plim_sim_create(&options, &made.device, NULL), PLIM_OK);
        world_open(&made, (plim_allocator_options){ 0 }, "expandable_segments:True");
        heap.fail_at = heap.call_count + n;
        plim_addr addr = 0;
        const plim_status status = plim_malloc(made.allocator, 0, 60 * MIB, 0, &addr, NULL);
        has_failed = heap.failed;
        T_EQ_U64(status, has_failed ? PLIM_OUT_OF_HOST_MEMORY : PLIM_OK);
        world_give(&made, has_failed ? world_get(&made, 60 * MIB, 0) : addr);
        world_end(&made);
        T_EQ_U64(heap.live_bytes, 0);
    }
}

static void a_callback_needs_a_function(void)
{
    world made = world_on_sim(64 * MIB, "");
    T_EQ_U64(plim_add_free_memory_callback(made.allocator, NULL, NULL, NULL),
             PLIM_INVALID_ARGUMENT);
    T_EQ_U64(plim_add_oom_observer(made.allocator, NULL, NULL, NULL), PLIM_INVALID_ARGUMENT);
    plim_error err;
    T_EQ_U64(plim_allocator_configure(made.allocator, NULL, &err), PLIM_INVALID_ARGUMENT);
    plim_addr addr = 0;
    T_EQ_U64(plim_malloc(made.allocator, 0, 128 * MIB, 0, &addr, &err), PLIM_OUT_OF_DEVICE_MEMORY);
    world_end(&made);
}

T_MAIN(T_TEST(a_pool_outlives_its_users_while_requests_go_there),
       T_TEST(a_callback_may_end_the_pool_of_the_request), T_TEST(only_requests_run_out_of_memory),
       T_TEST(a_mapping_without_host_memory_leaves_nothing), T_TEST(a_callback_needs_a_function))
