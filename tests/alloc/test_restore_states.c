/*
 * test_restore_states.c - states made by hand, sound and not, are restored or refused.
 */
#include "alloc/core/heap.h"
#include "alloc/restoring.h"

#define BASE UINT64_C(0x302000000) /* as drivers give them: in no window of the device */

typedef struct made {
    plim_segment segments[8];
    plim_block blocks[24];
    size_t segment_count;
    size_t block_count;
} made;

static void add_segment(made *to, plim_addr addr, bool is_large, bool is_expandable)
{
    to->segments[to->segment_count++] = (plim_segment){ .addr = addr,
                                                        .stream = 1,
                                                        .block_first = to->block_count,
                                                        .is_large = is_large,
                                                        .is_expandable = is_expandable };
}

static void add_block(made *to, uint64_t bytes, bool is_live)
{
    plim_segment *const segment = &to->segments[to->segment_count - 1];
    to->blocks[to->block_count++] =
        (plim_block){ .addr = segment->addr + segment->bytes,
                      .bytes = bytes,
                      .requested_bytes = bytes - 1,
                      .state = is_live ? PLIM_BLOCK_ACTIVE_ALLOCATED : PLIM_BLOCK_INACTIVE };
    segment->bytes += bytes;
    segment->block_count++;
}

static const plim_stream made_streams[] = { 0, 7 };

static plim_heap_state state_of_made(const made *from, const subject *to)
{
    return (plim_heap_state){ .segments = from->segments,
                              .segment_count = from->segment_count,
                              .blocks = from->blocks,
                              .block_count = from->block_count,
                              .streams = made_streams,
                              .place = to != NULL ? place : NULL,
                              .place_ctx = to != NULL ? (void *)(uintptr_t)&to->device : NULL };
}

/* A plain segment of each class, and two runs of a range. */
static made sound(void)
{
    made state = { .segment_count = 0 };
    add_segment(&state, BASE, true, false);
    add_block(&state, 5 * MIB, true);
    add_block(&state, 7 * MIB, false);
    add_block(&state, 8 * MIB, true);
    add_segment(&state, BASE + 20 * MIB, false, false);
    add_block(&state, 512, true);
    add_block(&state, 2 * MIB - 512, false);
    add_segment(&state, BASE + 80 * MIB, true, true);
    add_block(&state, 30 * MIB, true);
    add_block(&state, 10 * MIB, false);
    add_segment(&state, BASE + 160 * MIB, true, true);
    add_block(&state, 20 * MIB, true);
    return state;
}

static void a_state_is_restored_where_it_was(void)
{
    made state = sound();
    subject to;
    create(&to, "expandable_segments:True", NULL);
    const plim_heap_state from = state_of_made(&state, &to);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    for (size_t i = 0; i < state.block_count; i++) {
        const bool is_live = state.blocks[i].state == PLIM_BLOCK_ACTIVE_ALLOCATED;
        T_EQ_U64(addrs[i], is_live ? state.blocks[i].addr : 0);
    }
    T_EQ_U64(plim_sim_calls(&to.device, PLIM_CALL_MEMORY_ALLOC), 2);
    T_EQ_U64(plim_sim_calls(&to.device, PLIM_CALL_RANGE_RESERVE), 1);
    T_EQ_U64(plim_sim_calls(&to.device, PLIM_CALL_HANDLE_CREATE), 3);
    /* What is free serves requests: the smallest that fits, then what is unmapped between. */
    plim_addr addr = 0;
    T_EQ_I64(plim_malloc(to.allocator, 0, MIB + 1, 7, &addr, &failure), PLIM_OK);
    T_EQ_U64(addr, BASE + 5 * MIB);
    T_EQ_I64(plim_malloc(to.allocator, 0, 29 * MIB, 7, &addr, &failure), PLIM_OK);
    T_EQ_U64(addr, BASE + 110 * MIB);
    check(&to);
    /* Everything can be freed. */
    for (size_t i = 0; i < state.block_count; i++) {
        T_EQ_I64(plim_free(to.allocator, addrs[i], &failure), PLIM_OK);
    }
    T_EQ_I64(plim_free(to.allocator, addr, &failure), PLIM_OK);
    T_EQ_I64(plim_free(to.allocator, BASE + 5 * MIB, &failure), PLIM_OK);
    check(&to);
    T_EQ_I64(plim_empty_cache(to.allocator, NULL, &failure), PLIM_OK);
    T_EQ_U64(plim_sim_taken_bytes(&to.device), 0);
    destroy(&to);
}

/* A device that chooses by itself: what a segment holds stays together. */
static void what_lies_elsewhere_is_told(void)
{
    made state = sound();
    subject to;
    create(&to, "", NULL);
    const plim_heap_state from = state_of_made(&state, NULL);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    T_EQ_U64(addrs[0], UINT64_C(0x7a0000000000));
    T_EQ_U64(addrs[2], addrs[0] + 12 * MIB);
    T_EQ_U64(addrs[3], addrs[0] + 20 * MIB);
    T_EQ_U64(addrs[5], UINT64_C(0x700000000000));
    T_EQ_U64(addrs[7], addrs[5] + 80 * MIB);
    uint64_t bytes = 0;
    T_EQ_I64(plim_block_bytes(to.allocator, addrs[7], &bytes, NULL, &failure), PLIM_OK);
    T_EQ_U64(bytes, 20 * MIB);
    destroy(&to);
}

/* Files that somebody made up have such: what counts is where in its segment a block lies. */
static void odd_addresses_become_even(void)
{
    made state = sound();
    state.segments[3].addr += 1;
    state.blocks[7].addr += 1;
    subject to;
    create(&to, "", NULL);
    const plim_heap_state from = state_of_made(&state, &to);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    T_EQ_U64(addrs[5], BASE + 80 * MIB);
    T_EQ_U64(addrs[7], UINT64_C(0x700000000000));
    destroy(&to);
}

/* Neighbours that are free become one block, also those of two runs. */
static void free_neighbours_are_joined(void)
{
    made state = { .segment_count = 0 };
    add_segment(&state, BASE, true, false);
    add_block(&state, 5 * MIB, false);
    add_block(&state, 7 * MIB, false);
    add_segment(&state, BASE + 20 * MIB, true, true);
    add_block(&state, 30 * MIB, true);
    add_block(&state, 10 * MIB, false);
    add_segment(&state, BASE + 60 * MIB, true, true);
    add_block(&state, 10 * MIB, false);
    add_block(&state, 5 * MIB, false);
    add_block(&state, 5 * MIB, true);
    subject to;
    create(&to, "expandable_segments:True", NULL);
    const plim_heap_state from = state_of_made(&state, &to);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    plim_history *const history = snapshot_of(&to);
    const plim_device_history *const stands = plim_history_device(history, 0);
    T_EQ_U64(stands->segment_count, 2);
    T_EQ_U64(stands->block_count, 4);
    T_EQ_U64(stands->blocks[2].bytes, 25 * MIB);
    T_EQ_U64(addrs[6], BASE + 75 * MIB);
    plim_history_destroy(history);
    destroy(&to);
}

/* Runs that are no whole handles apart, or further than a range is long. */
static void runs_that_do_not_fit_get_a_range_of_their_own(void)
{
    made state = { .segment_count = 0 };
    add_segment(&state, BASE, true, true);
    add_block(&state, 20 * MIB, true);
    add_segment(&state, BASE + 10 * GIB + 2 * MIB, true, true);
    add_block(&state, 20 * MIB, true);
    add_segment(&state, BASE + 20 * GIB, true, true);
    add_block(&state, 40 * MIB, true);
    add_segment(&state, BASE + 20 * GIB + 52 * MIB, true, true);
    add_block(&state, 20 * MIB, true);
    subject to;
    create(&to, "expandable_segments:True", NULL);
    const plim_heap_state from = state_of_made(&state, &to);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    T_EQ_U64(plim_sim_calls(&to.device, PLIM_CALL_RANGE_RESERVE), 4);
    T_EQ_U64(addrs[0], BASE);
    T_EQ_U64(addrs[1], BASE + 10 * GIB + 2 * MIB);
    T_EQ_U64(addrs[2], BASE + 20 * GIB);
    T_EQ_U64(addrs[3], BASE + 20 * GIB + 52 * MIB);
    destroy(&to);
}

/* Ranges side by side, the first with nothing mapped at its start. */
static void a_range_begins_before_its_first_run_where_it_must(void)
{
    const uint64_t range = (DEVICE_SIZE * 9 / 8 + 20 * MIB - 1) / (20 * MIB) * 20 * MIB;
    made state = { .segment_count = 0 };
    add_segment(&state, BASE + 100 * MIB, true, true);
    add_block(&state, 20 * MIB, true);
    add_segment(&state, BASE + range, false, true);
    add_block(&state, 2 * MIB, true);
    subject to;
    create(&to, "expandable_segments:True", NULL);
    const plim_heap_state from = state_of_made(&state, &to);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    T_EQ_U64(addrs[0], BASE + 100 * MIB);
    T_EQ_U64(addrs[1], BASE + range);
    T_EQ_U64(to.allocator->heaps[0].segments->addr, BASE);
    destroy(&to);
}

static void identities_of_pools_are_not_given_again(void)
{
    made state = sound();
    state.segments[0].pool.b = 5;
    state.segments[2].pool.a = 3;
    subject to;
    create(&to, "", NULL);
    const plim_heap_state from = state_of_made(&state, &to);
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    check(&to);
    T_EQ_I64(plim_pool_use_count(to.allocator, 0, (plim_pool_id){ 0, 5 }), 1);
    T_EQ_I64(plim_pool_use_count(to.allocator, 0, (plim_pool_id){ 3, 0 }), 1);
    T_EQ_U64(plim_new_pool_id(to.allocator, false).b, 6);
    T_EQ_U64(plim_new_pool_id(to.allocator, true).a, 4);
    destroy(&to);
}

/* --- what is refused --- */

static void forget_blocks(made *state)
{
    state->segments[0].block_count = 0;
}
static void name_no_blocks(made *state)
{
    state->segments[0].block_first = 100;
}
static void name_too_many_blocks(made *state)
{
    state->segments[3].block_count = 2;
}
static void leave_a_gap(made *state)
{
    state->blocks[1].addr += 512;
}
static void be_too_long(made *state)
{
    state->blocks[2].bytes += 512;
}
static void be_too_short(made *state)
{
    state->blocks[2].bytes -= 512;
}
static void be_empty(made *state)
{
    state->blocks[1].bytes = 0;
}
static void be_odd(made *state)
{
    state->blocks[0].bytes -= 1;
    state->blocks[1].addr -= 1;
    state->blocks[1].bytes += 1;
}
static void wait_for_a_stream(made *state)
{
    state->blocks[0].state = PLIM_BLOCK_ACTIVE_PENDING_FREE;
}
static void want_more(made *state)
{
    state->blocks[0].requested_bytes = 5 * MIB + 1;
}
static void overlap(made *state)
{
    state->segments[1].addr -= 512;
}
static void lie_nowhere(made *state)
{
    state->segments[0].addr = 0;
}
static void wrap(made *state)
{
    state->segments[3].addr = UINT64_MAX - 511;
}
static void lie_between(made *state)
{
    state->segments[3].addr += 1;
}
static void have_half_a_handle(made *state)
{
    state->segments[3].bytes -= 2 * MIB;
    state->blocks[7].bytes -= 2 * MIB;
    state->blocks[7].requested_bytes = 1;
}
static void exceed_a_range(made *state)
{
    state->segments[3].bytes += 3 * GIB - 12 * MIB;
    state->blocks[7].bytes += 3 * GIB - 12 * MIB;
}
static void exceed_the_device(made *state)
{
    state->segments[3].bytes += 2000 * MIB;
    state->blocks[7].bytes += 2000 * MIB;
}
static void change_nothing(made *state)
{
    (void)state;
}

static const struct {
    const char *name;
    void (*spoil)(made *state);
    plim_status status;
} refusals[] = {
    { "no blocks", forget_blocks, PLIM_INVALID_ARGUMENT },
    { "blocks that are not there", name_no_blocks, PLIM_INVALID_ARGUMENT },
    { "more blocks than there are", name_too_many_blocks, PLIM_INVALID_ARGUMENT },
    { "a gap between blocks", leave_a_gap, PLIM_INVALID_ARGUMENT },
    { "blocks beyond the end", be_too_long, PLIM_INVALID_ARGUMENT },
    { "blocks that end before", be_too_short, PLIM_INVALID_ARGUMENT },
    { "an empty block", be_empty, PLIM_INVALID_ARGUMENT },
    { "a block of 1 byte less", be_odd, PLIM_INVALID_ARGUMENT },
    { "a block that waits", wait_for_a_stream, PLIM_INVALID_ARGUMENT },
    { "a request larger than its block", want_more, PLIM_INVALID_ARGUMENT },
    { "segments that overlap", overlap, PLIM_INVALID_ARGUMENT },
    { "a segment at address 0", lie_nowhere, PLIM_INVALID_ARGUMENT },
    { "a segment beyond all addresses", wrap, PLIM_INVALID_ARGUMENT },
    { "a segment apart from its blocks", lie_between, PLIM_INVALID_ARGUMENT },
    { "half a handle", have_half_a_handle, PLIM_UNSUPPORTED },
    { "a run that no range is long enough for", exceed_a_range, PLIM_UNSUPPORTED },
    { "more than the device has", exceed_the_device, PLIM_OUT_OF_DEVICE_MEMORY },
    { "nothing wrong", change_nothing, PLIM_OK },
};

static void what_is_malformed_is_refused_and_changes_nothing(void)
{
    for (size_t i = 0; i < T_COUNT(refusals); i++) {
        T_CASE("%s", refusals[i].name);
        made state = sound();
        refusals[i].spoil(&state);
        subject to;
        create(&to, "", NULL);
        const plim_heap_state from = state_of_made(&state, &to);
        plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
        T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure),
                 refusals[i].status);
        check(&to);
        if (refusals[i].status != PLIM_OK) {
            T_EQ_U64(addrs[0], 0);
            T_EQ_U64(plim_sim_taken_bytes(&to.device), 0);
            made good = sound();
            const plim_heap_state again = state_of_made(&good, &to);
            T_EQ_I64(plim_allocator_restore(to.allocator, 0, &again, addrs, &failure), PLIM_OK);
            check(&to);
            expect_fresh_stats(&to);
        }
        T_EQ_U64(addrs[0], BASE);
        destroy(&to);
    }
}

static void only_what_is_unused_can_be_restored(void)
{
    made state = sound();
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    subject to;
    create(&to, "per_process_memory_fraction:0.01", NULL);
    plim_heap_state from = state_of_made(&state, &to);
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure),
             PLIM_OUT_OF_DEVICE_MEMORY);
    T_EQ_I64(plim_allocator_restore(to.allocator, 1, &from, addrs, &failure),
             PLIM_INVALID_ARGUMENT);
    plim_addr addr = 0;
    T_EQ_I64(plim_malloc(to.allocator, 0, 1, 0, &addr, &failure), PLIM_OK);
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure),
             PLIM_INVALID_ARGUMENT);
    T_EQ_I64(plim_free(to.allocator, addr, &failure), PLIM_OK);
    T_EQ_I64(plim_empty_cache(to.allocator, NULL, &failure), PLIM_OK);
    from.segment_count = 0;
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    T_EQ_U64(addrs[0], 0);
    destroy(&to);
}

static void a_device_that_cannot_map_has_no_ranges(void)
{
    made state = sound();
    plim_addr addrs[T_COUNT(state.blocks)] = { 0 };
    const plim_sim_options sim = { .total_bytes = DEVICE_SIZE, .cannot_map = true };
    const plim_settings settings = plim_settings_default();
    subject to;
    T_EQ_I64(plim_sim_create(&sim, &to.device, &failure), PLIM_OK);
    const plim_allocator_options options = { .devices = &to.device,
                                             .device_count = 1,
                                             .settings = &settings };
    T_EQ_I64(plim_allocator_create(&options, &to.allocator, &failure), PLIM_OK);
    plim_heap_state from = state_of_made(&state, &to);
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_UNSUPPORTED);
    check(&to);
    T_EQ_U64(plim_sim_taken_bytes(&to.device), 0);
    from.segment_count = 2;
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &from, addrs, &failure), PLIM_OK);
    T_EQ_U64(addrs[0], BASE);
    destroy(&to);
}

/* --- many --- */

#define MANY_SEGMENTS 500
#define MANY_BLOCKS   200 /* of each */

/* Seconds for so many blocks, a hundred thousand of them. */
static void a_hundred_thousand_blocks_take_no_time(void)
{
    plim_segment *const segments = calloc(MANY_SEGMENTS, sizeof *segments);
    plim_block *const blocks = calloc(MANY_SEGMENTS * MANY_BLOCKS, sizeof *blocks);
    plim_addr *const addrs = calloc(MANY_SEGMENTS * MANY_BLOCKS, sizeof *addrs);
    T_TRUE(segments != NULL && blocks != NULL && addrs != NULL);
    for (size_t i = 0; i < MANY_SEGMENTS; i++) {
        segments[i] = (plim_segment){ .addr = BASE + i * 4 * MIB,
                                      .bytes = 4 * MIB,
                                      .block_first = i * MANY_BLOCKS,
                                      .block_count = MANY_BLOCKS,
                                      .stream = i % 2,
                                      .is_expandable = i % 3 == 0 };
        for (size_t b = 0; b < MANY_BLOCKS; b++) {
            const bool is_last = b == MANY_BLOCKS - 1;
            blocks[i * MANY_BLOCKS + b] =
                (plim_block){ .addr = segments[i].addr + b * 20480,
                              .bytes = is_last ? 4 * MIB - b * 20480 : 20480,
                              .requested_bytes = 1,
                              .state = t_random_between(0, 1) == 0 ? PLIM_BLOCK_INACTIVE
                                                                   : PLIM_BLOCK_ACTIVE_ALLOCATED };
        }
    }
    subject to;
    create(&to, "", NULL);
    const plim_heap_state state = { .segments = segments,
                                    .segment_count = MANY_SEGMENTS,
                                    .blocks = blocks,
                                    .block_count = MANY_SEGMENTS * MANY_BLOCKS,
                                    .streams = made_streams,
                                    .place = place,
                                    .place_ctx = &to.device };
    const clock_t before = clock();
    T_EQ_I64(plim_allocator_restore(to.allocator, 0, &state, addrs, &failure), PLIM_OK);
    const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    print_message("%d blocks in %.3f s\n", MANY_SEGMENTS * MANY_BLOCKS, seconds);
    T_TRUE(seconds < 20); /* with sanitizers, on a busy machine */
    check(&to);
    destroy(&to);
    free(segments);
    free(blocks);
    free(addrs);
}

T_MAIN(T_TEST(a_state_is_restored_where_it_was), T_TEST(what_lies_elsewhere_is_told),
       T_TEST(odd_addresses_become_even), T_TEST(free_neighbours_are_joined),
       T_TEST(runs_that_do_not_fit_get_a_range_of_their_own),
       T_TEST(a_range_begins_before_its_first_run_where_it_must),
       T_TEST(identities_of_pools_are_not_given_again),
       T_TEST(what_is_malformed_is_refused_and_changes_nothing),
       T_TEST(only_what_is_unused_can_be_restored), T_TEST(a_device_that_cannot_map_has_no_ranges),
       T_TEST(a_hundred_thousand_blocks_take_no_time))
