/*
 * test_restore.c - an allocator that is restored from a snapshot of another is that other one.
 *
 * A program runs on an allocator; what stands is restored in a second one, whose device is told
 * where. Both are then the same to the block, and answer the same requests in the same way.
 */
#include "alloc/core/heap.h"
#include "alloc/restoring.h"

#define LIVE_MAX 400
#define STEPS    600
#define MORE     400
#define ROUNDS   8

/* --- a program --- */

typedef struct program {
    plim_addr live[LIVE_MAX];
    size_t count;
    uint64_t random; /* what it does next */
} program;

static const plim_stream streams[] = { 0, 0x5000, 0x11 };
static const plim_pool_id pools[] = { { 0, 1 }, { 3, 0 } };

static uint64_t size_of_request(void)
{
    switch (t_random_between(0, 3)) {
    case 0:
        return t_random_bytes(1, MIB);
    case 1:
        return t_random_between(1, 12 * MIB);
    default:
        return t_random_bytes(1, 70 * MIB);
    }
}

static void request(program *runs, const subject *of, bool has_pools, plim_addr *ret_addr)
{
    const plim_stream stream = streams[t_random_between(0, T_COUNT(streams) - 1)];
    const uint64_t bytes = size_of_request();
    const uint64_t which = has_pools ? t_random_between(0, 5) : 5;
    const bool is_private = which < T_COUNT(pools);
    if (is_private) {
        T_EQ_I64(plim_pool_begin(of->allocator, 0, pools[which], NULL, NULL, &failure), PLIM_OK);
    }
    plim_addr addr = 0;
    const plim_status status = plim_malloc(of->allocator, 0, bytes, stream, &addr, &failure);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_DEVICE_MEMORY);
    if (is_private) {
        T_EQ_I64(plim_pool_end(of->allocator, 0, pools[which], &failure), PLIM_OK);
    }
    if (status == PLIM_OK) {
        runs->live[runs->count++] = addr;
    }
    *ret_addr = addr;
}

/* One step of a program that t_random() decides; *ret_addr is what it got, or 0. */
static void step(program *runs, const subject *of, bool has_pools, plim_addr *ret_addr)
{
    const uint64_t kind = t_random_between(0, 99);
    *ret_addr = 0;
    if (kind == 0) {
        T_EQ_I64(plim_empty_cache(of->allocator, NULL, &failure), PLIM_OK);
    } else if (kind < 55 && runs->count < LIVE_MAX) {
        request(runs, of, has_pools, ret_addr);
    } else if (runs->count > 0) {
        const size_t at = (size_t)t_random_between(0, runs->count - 1);
        T_EQ_I64(plim_free(of->allocator, runs->live[at], &failure), PLIM_OK);
        runs->live[at] = runs->live[--runs->count];
    }
}

/* --- two that are the same --- */

static void expect_same_histories(const plim_history *a, const plim_history *b)
{
    const plim_device_history *const left = plim_history_device(a, 0);
    const plim_device_history *const right = plim_history_device(b, 0);
    T_EQ_U64(left->segment_count, right->segment_count);
    T_EQ_U64(left->block_count, right->block_count);
    for (size_t i = 0; i < left->segment_count; i++) {
        const plim_segment *const one = &left->segments[i];
        const plim_segment *const other = &right->segments[i];
        T_EQ_U64(one->addr, other->addr);
        T_EQ_U64(one->bytes, other->bytes);
        T_TRUE(plim_pool_ids_equal(one->pool, other->pool));
        T_EQ_U64(plim_history_stream(a, one->stream), plim_history_stream(b, other->stream));
        T_EQ_U64(one->block_first, other->block_first);
        T_EQ_U64(one->block_count, other->block_count);
        T_EQ_I64(one->is_large, other->is_large);
        T_EQ_I64(one->is_expandable, other->is_expandable);
    }
    for (size_t i = 0; i < left->block_count; i++) {
        T_EQ_U64(left->blocks[i].addr, right->blocks[i].addr);
        T_EQ_U64(left->blocks[i].bytes, right->blocks[i].bytes);
        T_EQ_I64(left->blocks[i].state, right->blocks[i].state);
        if (left->blocks[i].state != PLIM_BLOCK_INACTIVE) { /* of others it is stale */
            T_EQ_U64(left->blocks[i].requested_bytes, right->blocks[i].requested_bytes);
        }
    }
}

static void expect_same_stats(const subject *a, const subject *b)
{
    plim_device_stats left;
    plim_device_stats right;
    T_EQ_I64(plim_allocator_stats(a->allocator, 0, &left, &failure), PLIM_OK);
    T_EQ_I64(plim_allocator_stats(b->allocator, 0, &right, &failure), PLIM_OK);
    for (int family = 0; family < PLIM_STAT_COUNT; family++) {
        for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
            T_EQ_I64(left.families[family][slot].current, right.families[family][slot].current);
        }
    }
    T_EQ_I64(left.oversize_allocations.current, right.oversize_allocations.current);
    T_EQ_I64(left.oversize_segments.current, right.oversize_segments.current);
    T_EQ_I64(left.max_split_size, right.max_split_size);
    T_EQ_U64(plim_sim_taken_bytes(&a->device), plim_sim_taken_bytes(&b->device));
}

/* True if ranges begin where they did: where nothing is mapped at their start, that is a guess. */
static bool have_same_ranges(const subject *a, const subject *b)
{
    size_t count = 0;
    size_t same = 0;
    for (const plim_segment_record *one = a->allocator->heaps[0].segments; one != NULL;
         one = one->next) {
        const plim_segment_record *other = b->allocator->heaps[0].segments;
        for (; other != NULL && other->addr != one->addr; other = other->next) {
        }
        count++;
        same += other != NULL && other->bytes == one->bytes ? 1 : 0;
    }
    return same == count;
}

static plim_heap_state state_of(const plim_history *history, const plim_stream *handles,
                                const subject *to)
{
    const plim_device_history *const from = plim_history_device(history, 0);
    return (plim_heap_state){ .segments = from->segments,
                              .segment_count = (size_t)from->segment_count,
                              .blocks = from->blocks,
                              .block_count = (size_t)from->block_count,
                              .streams = handles,
                              .place = place,
                              .place_ctx = (void *)(uintptr_t)&to->device };
}

static plim_stream *streams_of(const plim_history *history)
{
    const uint32_t count = plim_history_stream_count(history);
    plim_stream *const handles = calloc(count + 1, sizeof *handles);
    T_NOT_NULL(handles);
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = plim_history_stream(history, i);
    }
    return handles;
}

/* Restores `to` from a snapshot of `from`; everything lies where it lay. */
static void restore(const subject *from, const subject *to)
{
    plim_history *const history = snapshot_of(from);
    plim_stream *const handles = streams_of(history);
    const plim_heap_state state = state_of(history, handles, to);
    plim_addr *const addrs = calloc(state.block_count + 1, sizeof *addrs);
    T_NOT_NULL(addrs);
    if (plim_allocator_restore(to->allocator, 0, &state, addrs, &failure) != PLIM_OK) {
        fail_msg("%s", failure.message);
    }
    for (size_t i = 0; i < state.block_count; i++) {
        const bool is_live = state.blocks[i].state == PLIM_BLOCK_ACTIVE_ALLOCATED;
        T_EQ_U64(addrs[i], is_live ? state.blocks[i].addr : 0);
    }
    check(to);
    plim_history *const again = snapshot_of(to);
    expect_same_histories(history, again);
    expect_same_stats(from, to);
    expect_fresh_stats(to);
    plim_history_destroy(again);
    plim_history_destroy(history);
    free(handles);
    free(addrs);
}

/* The same from here on: addresses, driver calls, statistics. */
static void expect_same_future(program *runs, const subject *a, const subject *b, bool has_pools)
{
    program other = *runs;
    uint64_t calls[2][PLIM_DEVICE_CALL_COUNT];
    for (size_t i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        calls[0][i] = plim_sim_calls(&a->device, (plim_device_call)i);
        calls[1][i] = plim_sim_calls(&b->device, (plim_device_call)i);
    }
    for (int i = 0; i < MORE; i++) {
        plim_addr left = 0;
        plim_addr right = 0;
        const uint64_t now = t_now.random;
        step(runs, a, has_pools, &left);
        t_now.random = now;
        step(&other, b, has_pools, &right);
        T_EQ_U64(left, right);
    }
    check(a);
    check(b);
    for (size_t i = 0; i < PLIM_DEVICE_CALL_COUNT; i++) {
        T_EQ_U64(plim_sim_calls(&a->device, (plim_device_call)i) - calls[0][i],
                 plim_sim_calls(&b->device, (plim_device_call)i) - calls[1][i]);
    }
    expect_same_stats(a, b);
    plim_history *const left = snapshot_of(a);
    plim_history *const right = snapshot_of(b);
    expect_same_histories(left, right);
    plim_history_destroy(left);
    plim_history_destroy(right);
}

static const struct {
    const char *conf;
    bool has_pools;
} cases[] = {
    { "", false },
    { "", true },
    { "expandable_segments:True", false },
    { "expandable_segments:True", true },
    { "max_split_size_mb:32", false },
    { "max_split_size_mb:24,expandable_segments:True", true },
    { "roundup_power2_divisions:4", true },
    { "large_segment_size_mb:40,expandable_segments:True", true },
};

static void what_is_restored_is_what_stood(void)
{
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        size_t continued = 0;
        for (int round = 0; round < ROUNDS; round++) {
            T_CASE("%s, round %d", cases[i].conf, round);
            static program runs;
            runs = (program){ .count = 0 };
            subject from;
            subject to;
            create(&from, cases[i].conf, NULL);
            create(&to, cases[i].conf, NULL);
            const uint64_t steps = t_random_between(0, STEPS);
            for (uint64_t s = 0; s < steps; s++) {
                plim_addr addr = 0;
                step(&runs, &from, cases[i].has_pools, &addr);
            }
            restore(&from, &to);
            if (have_same_ranges(&from, &to)) {
                expect_same_future(&runs, &from, &to, cases[i].has_pools);
                continued++;
            }
            destroy(&from);
            destroy(&to);
        }
        print_message("%s: %zu of %d\n", cases[i].conf, continued, ROUNDS);
        T_TRUE(continued > ROUNDS / 2);
    }
}

/* --- failing --- */

/* A state of all kinds: pools, streams, ranges, many blocks. */
static void make_busy(subject *from)
{
    static program runs;
    runs = (program){ .count = 0 };
    create(from, "expandable_segments:True", NULL);
    for (int i = 0; i < 150; i++) {
        plim_addr addr = 0;
        step(&runs, from, true, &addr);
    }
    T_EQ_I64(plim_allocator_configure(from->allocator, "expandable_segments:False", &failure),
             PLIM_OK);
    for (int i = 0; i < 100; i++) {
        plim_addr addr = 0;
        step(&runs, from, true, &addr);
    }
}

/* True if it was restored; what failed left nothing. */
static bool try_to_restore(const subject *to, const plim_heap_state *state, plim_addr *addrs,
                           plim_status expected)
{
    memset(addrs, 0, (state->block_count + 1) * sizeof *addrs);
    const plim_status status = plim_allocator_restore(to->allocator, 0, state, addrs, &failure);
    check(to);
    if (status == PLIM_OK) {
        return true;
    }
    T_EQ_I64(status, expected);
    T_EQ_I64(failure.status, expected);
    T_EQ_U64(plim_sim_taken_bytes(&to->device), 0);
    for (size_t i = 0; i < state->block_count; i++) {
        T_EQ_U64(addrs[i], 0);
    }
    plim_device_stats stats;
    T_EQ_I64(plim_allocator_stats(to->allocator, 0, &stats, &failure), PLIM_OK);
    for (size_t i = 0; i < plim_stats_count(); i++) {
        T_TRUE(strcmp(plim_stats_name(i), "max_split_size") == 0 ||
               plim_stats_value(&stats, i) == 0);
    }
    return false;
}

static void every_allocation_of_host_memory_may_fail(void)
{
    subject from;
    make_busy(&from);
    plim_history *const history = snapshot_of(&from);
    plim_stream *const handles = streams_of(history);
    subject to;
    plim_heap_state state = state_of(history, handles, &to);
    plim_addr *const addrs = calloc(state.block_count + 1, sizeof *addrs);
    T_NOT_NULL(addrs);
    bool is_over = false;
    uint64_t failures = 0;
    for (uint64_t n = 1; !is_over; n++) {
        t_mem heap;
        t_mem_init(&heap);
        create(&to, "", &heap.mem);
        heap.fail_at = heap.call_count + n;
        const bool is_done = try_to_restore(&to, &state, addrs, PLIM_OUT_OF_HOST_MEMORY);
        is_over = !heap.failed;
        T_TRUE(is_done || heap.failed);
        failures += is_done ? 0 : 1;
        heap.fail_at = 0;
        if (!is_done) { /* and then it works */
            T_TRUE(try_to_restore(&to, &state, addrs, PLIM_OK));
        }
        plim_allocator_destroy(to.allocator);
        T_EQ_U64(heap.live_bytes, 0);
        T_EQ_U64(plim_sim_taken_bytes(&to.device), 0);
        plim_device_destroy(&to.device);
    }
    T_TRUE(failures > 20);
    plim_history_destroy(history);
    free(handles);
    free(addrs);
    destroy(&from);
}

static void every_call_of_the_device_may_fail(void)
{
    static const plim_device_call calls[] = { PLIM_CALL_MEMORY_ALLOC, PLIM_CALL_RANGE_RESERVE,
                                              PLIM_CALL_HANDLE_CREATE, PLIM_CALL_MAP,
                                              PLIM_CALL_SET_ACCESS };
    subject from;
    make_busy(&from);
    plim_history *const history = snapshot_of(&from);
    plim_stream *const handles = streams_of(history);
    subject to;
    plim_heap_state state = state_of(history, handles, &to);
    plim_addr *const addrs = calloc(state.block_count + 1, sizeof *addrs);
    T_NOT_NULL(addrs);
    for (size_t i = 0; i < T_COUNT(calls); i++) {
        bool is_done = false;
        for (uint64_t n = 1; !is_done; n++) {
            T_CASE("%s %" PRIu64, plim_device_call_name(calls[i]), n);
            create(&to, "", NULL);
            plim_sim_fail(&to.device, calls[i], n, PLIM_IO);
            is_done = try_to_restore(&to, &state, addrs, PLIM_IO);
            T_TRUE(!is_done || n > 1);
            if (!is_done) {
                T_TRUE(try_to_restore(&to, &state, addrs, PLIM_OK));
            }
            destroy(&to);
        }
    }
    plim_history_destroy(history);
    free(handles);
    free(addrs);
    destroy(&from);
}

T_MAIN(T_TEST(what_is_restored_is_what_stood), T_TEST(every_allocation_of_host_memory_may_fail),
       T_TEST(every_call_of_the_device_may_fail))
