/*
 * test_timeline.c - timelines of a toy that cuts blocks as PyTorch does, and that knows the truth.
 *
 * The toy has segments of three kinds (small, large, expandable), takes the smallest free block
 * that does, leaves up to 1 MiB with a large one, defers some completions and gives free segments
 * back. Any tail of its trace must give back what was: counts and requested bytes exactly,
 * allocated bytes within the slack that the timeline admits, and exactly where it admits none.
 * Traces with holes have no truth: there what a cursor says must be the sum of what is live, one
 * allocation after the other, which is also how the sums are meant.
 */
#include "base/memory.h"
#include "base/units.h"
#include "history/builder.h"
#include "history/script.h"
#include "plimsoll/timeline.h"

#define EVENTS_MAX 600
#define BLOCKS_MAX 512
#define LIVES_MAX  EVENTS_MAX

typedef struct toy_life {
    plim_addr addr;
    uint64_t requested_bytes, block_bytes;
    int64_t born, freed, completed;
} toy_life;

typedef struct toy_block {
    plim_addr addr;
    uint64_t bytes;
    int kind;    /* 0 small, 1 large, 2 expandable */
    int segment; /* its number: blocks of one are not joined with those of another */
    size_t life; /* of what it holds */
    plim_block_state state;
} toy_block;

typedef struct toy {
    plim_event events[EVENTS_MAX];
    size_t event_count;
    uint64_t reserved[EVENTS_MAX + 1]; /* before each event */
    toy_life lives[LIVES_MAX];
    size_t life_count;
    toy_block blocks[BLOCKS_MAX]; /* by address */
    size_t block_count;
    int segment_count;
} toy;

static toy world; /* large: not for the stack */

static const uint64_t segment_bytes[] = { 2 * MIB, 20 * MIB, 64 * MIB };

static int64_t tell(plim_action action, plim_addr addr, uint64_t bytes)
{
    T_TRUE(world.event_count < EVENTS_MAX);
    const size_t at = world.event_count++;
    world.events[at] =
        (plim_event){ .action = action, .addr = addr, .bytes = bytes, .stack = PLIM_NONE };
    world.reserved[at + 1] = world.reserved[at];
    if (action == PLIM_SEGMENT_ALLOC || action == PLIM_SEGMENT_MAP) {
        world.reserved[at + 1] += bytes;
    } else if (action == PLIM_SEGMENT_FREE || action == PLIM_SEGMENT_UNMAP) {
        world.reserved[at + 1] -= bytes;
    }
    return (int64_t)at;
}

static void insert(size_t at, toy_block block)
{
    T_TRUE(world.block_count < BLOCKS_MAX);
    memmove(&world.blocks[at + 1], &world.blocks[at], (world.block_count - at) * sizeof block);
    world.blocks[at] = block;
    world.block_count++;
}

static void erase(size_t at)
{
    world.block_count--;
    memmove(&world.blocks[at], &world.blocks[at + 1],
            (world.block_count - at) * sizeof world.blocks[0]);
}

/* The smallest free block that does, after a new segment where none does. */
static size_t find_block(int kind, uint64_t bytes)
{
    size_t best = BLOCKS_MAX;
    for (size_t i = 0; i < world.block_count; i++) {
        const toy_block *const block = &world.blocks[i];
        if (block->kind == kind && block->state == PLIM_BLOCK_INACTIVE && block->bytes >= bytes &&
            (best == BLOCKS_MAX || block->bytes < world.blocks[best].bytes)) {
            best = i;
        }
    }
    if (best != BLOCKS_MAX) {
        return best;
    }
    const plim_addr addr = (plim_addr)(++world.segment_count) << 28; /* above all others */
    tell(kind == 2 ? PLIM_SEGMENT_MAP : PLIM_SEGMENT_ALLOC, addr, segment_bytes[kind]);
    insert(world.block_count, (toy_block){ .addr = addr,
                                           .bytes = segment_bytes[kind],
                                           .kind = kind,
                                           .segment = world.segment_count });
    return world.block_count - 1;
}

static void allocate(void)
{
    const int kind = (int)t_random_between(0, 2);
    const uint64_t requested =
        kind == 0 ? t_random_between(1, MIB) : t_random_between(MIB + 1, 9 * MIB);
    const uint64_t rounded = (requested + 511) / 512 * 512;
    const size_t at = find_block(kind, rounded);
    toy_block *const block = &world.blocks[at];
    const uint64_t rest = block->bytes - rounded;
    if (kind == 1 ? rest > MIB : rest >= 512) {
        toy_block free = *block;
        free.addr += rounded;
        free.bytes = rest;
        block->bytes = rounded;
        insert(at + 1, free);
    }
    const int64_t event = tell(PLIM_ALLOC, world.blocks[at].addr, requested);
    T_TRUE(world.life_count < LIVES_MAX);
    world.lives[world.life_count] = (toy_life){ .addr = world.blocks[at].addr,
                                                .requested_bytes = requested,
                                                .block_bytes = world.blocks[at].bytes,
                                                .born = event,
                                                .freed = PLIM_NEVER,
                                                .completed = PLIM_NEVER };
    world.blocks[at].life = world.life_count++;
    world.blocks[at].state = PLIM_BLOCK_ACTIVE_ALLOCATED;
}

static void join(size_t at)
{
    if (at + 1 < world.block_count && world.blocks[at].state == PLIM_BLOCK_INACTIVE &&
        world.blocks[at + 1].state == PLIM_BLOCK_INACTIVE &&
        world.blocks[at].segment == world.blocks[at + 1].segment) {
        world.blocks[at].bytes += world.blocks[at + 1].bytes;
        erase(at + 1);
    }
}

static void complete(size_t at)
{
    toy_life *const life = &world.lives[world.blocks[at].life];
    life->completed = tell(PLIM_FREE_COMPLETED, life->addr, life->requested_bytes);
    world.blocks[at].state = PLIM_BLOCK_INACTIVE;
    join(at);
    if (at > 0) {
        join(at - 1);
    }
}

/* Some block: a live one is freed, a pending one completes, a whole segment goes back. */
static void release(size_t at, bool is_late)
{
    toy_block *const block = &world.blocks[at];
    if (block->state == PLIM_BLOCK_ACTIVE_ALLOCATED) {
        toy_life *const life = &world.lives[block->life];
        life->freed = tell(PLIM_FREE_REQUESTED, life->addr, life->requested_bytes);
        block->state = PLIM_BLOCK_ACTIVE_PENDING_FREE;
        if (!is_late) {
            complete(at);
        }
    } else if (block->state == PLIM_BLOCK_ACTIVE_PENDING_FREE) {
        complete(at);
    } else if (block->bytes == segment_bytes[block->kind]) {
        tell(block->kind == 2 ? PLIM_SEGMENT_UNMAP : PLIM_SEGMENT_FREE, block->addr, block->bytes);
        erase(at);
    }
}

static void run_toy(void)
{
    world = (toy){ .event_count = 0 };
    const size_t events = (size_t)t_random_between(1, EVENTS_MAX - 8);
    while (world.event_count < events || world.block_count == 0) {
        if (world.block_count == 0 || t_random_between(0, 9) < 6) {
            allocate();
        } else {
            release((size_t)t_random_between(0, world.block_count - 1),
                    t_random_between(0, 3) == 0);
        }
    }
    /* A free at the end, so that each tail shows that both halves of one are recorded. */
    size_t at = 0;
    for (allocate(); world.blocks[at].state != PLIM_BLOCK_ACTIVE_ALLOCATED;) {
        at++;
    }
    release(at, false);
}

static void push_end(plim_history *history, plim_device_ranges *ranges)
{
    for (size_t i = 0; i < world.block_count; i++) {
        const toy_block *const block = &world.blocks[i];
        const plim_block row = {
            .addr = block->addr,
            .bytes = block->bytes,
            .requested_bytes = world.lives[block->life].requested_bytes,
            .stack = PLIM_NONE,
            .state = block->state,
        };
        T_TRUE(plim_history_push_block(history, &row, NULL) == PLIM_OK);
        ranges->blocks.count++;
        const bool is_last =
            i + 1 == world.block_count || world.blocks[i + 1].segment != block->segment;
        const plim_addr begin = (plim_addr)block->segment << 28;
        const plim_segment segment = { .addr = begin,
                                       .bytes = block->addr + block->bytes - begin,
                                       .block_first = ranges->blocks.count - 1,
                                       .block_count = 1, /* nobody asks */
                                       .stack = PLIM_NONE,
                                       .is_large = block->kind != 0,
                                       .is_expandable = block->kind == 2 };
        if (is_last) {
            T_TRUE(plim_history_push_segment(history, &segment, NULL) == PLIM_OK);
            ranges->segments.count++;
        }
    }
}

/* The trace from event `first` on, with one event in `holes` missing (0: none). */
static plim_history *history_from(size_t first, uint64_t holes)
{
    plim_history *history = NULL;
    plim_device_ranges ranges = { .device = 0 };
    uint32_t stream = 0;
    T_TRUE(plim_history_create(plim_mem_or_heap(NULL), &history, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    for (size_t i = first; i < world.event_count; i++) {
        if (holes == 0 || t_random_between(1, holes) != 1) {
            T_TRUE(plim_history_push_event(history, &world.events[i], NULL) == PLIM_OK);
            ranges.events.count++;
        }
    }
    push_end(history, &ranges);
    T_TRUE(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

static plim_timeline *timeline_of(const plim_history *history)
{
    plim_timeline *timeline = NULL;
    T_TRUE(plim_timeline_create(history, 0, NULL, &timeline, NULL) == PLIM_OK);
    return timeline;
}

static void near(uint64_t found, uint64_t truth, uint64_t slack)
{
    const uint64_t off = found > truth ? found - truth : truth - found;
    if (off > slack) {
        print_error("off by %" PRIu64 ", admitted %" PRIu64 "\n", off, slack);
    }
    T_TRUE(off <= slack);
}

/* What was true after event `moment` of the whole trace. */
static void same_figures(const plim_figures *found, int64_t moment)
{
    plim_figures truth = { .reserved_bytes = world.reserved[moment + 1] };
    for (size_t i = 0; i < world.life_count; i++) {
        const toy_life *const life = &world.lives[i];
        if (life->born <= moment && moment < life->freed) {
            truth.requested_bytes += life->requested_bytes;
            truth.allocated_bytes += life->block_bytes;
            truth.live_count++;
        }
        if (life->born <= moment && moment < life->completed) {
            truth.active_bytes += life->block_bytes;
        }
    }
    T_EQ_U64(found->requested_bytes, truth.requested_bytes);
    T_EQ_U64(found->live_count, truth.live_count);
    T_EQ_U64(found->reserved_bytes, truth.reserved_bytes);
    near(found->allocated_bytes, truth.allocated_bytes, found->allocated_slack_bytes);
    near(found->active_bytes, truth.active_bytes, found->active_slack_bytes);
}

/* The life of the toy that an allocation of a tail is; there must be one. */
static const toy_life *life_of(const plim_allocation *one, int64_t first)
{
    for (size_t i = 0; i < world.life_count; i++) {
        const toy_life *const life = &world.lives[i];
        const bool is_born =
            one->born == PLIM_AT_START ? life->born < first : life->born == one->born + first;
        const bool is_completed = one->completed == PLIM_NEVER
                                      ? life->completed == PLIM_NEVER
                                      : life->completed == one->completed + first;
        if (is_born && is_completed && life->addr == one->addr) {
            return life;
        }
    }
    fail_msg("no such life");
    return NULL;
}

static void same_lives(const plim_timeline *timeline, int64_t first)
{
    for (uint64_t i = 0; i + (uint64_t)first < world.event_count; i++) {
        const plim_event *const event = &world.events[i + (uint64_t)first];
        const uint64_t id = plim_timeline_about(timeline, i);
        T_EQ_U64(id == PLIM_NO_ALLOCATION, event->action > PLIM_FREE_COMPLETED);
        T_EQ_U64(plim_timeline_displaced(timeline, i), PLIM_NO_ALLOCATION);
        if (id == PLIM_NO_ALLOCATION) {
            continue;
        }
        T_TRUE(id < plim_timeline_id_end(timeline));
        const plim_allocation one = plim_timeline_allocation(timeline, id);
        const toy_life *const life = life_of(&one, first);
        T_EQ_U64(one.id, id);
        T_EQ_U64(one.addr, event->addr);
        T_EQ_U64(one.requested_bytes, life->requested_bytes);
        T_TRUE(one.born <= one.freed && one.freed <= one.completed);
        T_EQ_I64(one.freed == PLIM_NEVER, life->freed == PLIM_NEVER);
        near(one.block_bytes, life->block_bytes, one.block_slack_bytes);
    }
}

static void same_live(const plim_timeline *timeline, int64_t first, int64_t moment, bool pending)
{
    size_t expected = 0;
    for (size_t i = 0; i < world.life_count; i++) {
        const toy_life *const life = &world.lives[i];
        const int64_t end = pending ? life->completed : life->freed;
        expected += life->born <= moment + first && moment + first < end;
    }
    plim_live live = plim_timeline_live(timeline, moment, pending);
    plim_allocation one;
    size_t found = 0;
    int64_t before = PLIM_AT_START;
    while (plim_live_next(&live, &one)) {
        T_TRUE(one.born <= moment && moment < (pending ? one.completed : one.freed));
        T_TRUE(one.born >= before);
        before = one.born;
        found++;
    }
    T_FALSE(plim_live_next(&live, &one)); /* it stays at its end */
    T_EQ_U64(found, expected);
}

static void check_tail(size_t first)
{
    plim_history *const history = history_from(first, 0);
    plim_timeline *const timeline = timeline_of(history);
    plim_cursor *cursor = NULL;
    T_TRUE(plim_cursor_create(timeline, &cursor, NULL) == PLIM_OK);
    int64_t moment = PLIM_AT_START;
    do {
        T_EQ_I64(plim_cursor_moment(cursor), moment);
        const plim_figures figures = plim_cursor_figures(cursor);
        same_figures(&figures, moment + (int64_t)first);
        T_TRUE(first > 0 || figures.active_slack_bytes == 0);
        moment++;
    } while (plim_cursor_next(cursor));
    T_EQ_U64((uint64_t)moment + first, world.event_count);
    same_lives(timeline, (int64_t)first);
    const int64_t some = t_random_between(0, 3) == 0
                             ? PLIM_AT_START
                             : (int64_t)t_random_between(0, (uint64_t)moment) - 1;
    same_live(timeline, (int64_t)first, some, false);
    same_live(timeline, (int64_t)first, some, true);
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        T_EQ_U64(plim_timeline_anomaly_count(timeline, (plim_anomaly)i), 0);
    }
    plim_cursor_destroy(cursor);
    plim_timeline_destroy(timeline);
    plim_history_destroy(history);
}

static void a_tail_tells_what_was(void)
{
    for (int i = 0; i < 60; i++) {
        run_toy();
        T_CASE("program %d, %zu events", i, world.event_count);
        check_tail(0);
        for (int k = 0; k < 4; k++) {
            check_tail((size_t)t_random_between(0, world.event_count - 3));
        }
    }
}

/* --- what no toy did --- */

/* A cursor's figures are the sums of what is live, which is how the live set is defined. */
static void the_sums_are_those_of_the_live_set(const plim_timeline *timeline)
{
    plim_cursor *cursor = NULL;
    T_TRUE(plim_cursor_create(timeline, &cursor, NULL) == PLIM_OK);
    do {
        const plim_figures found = plim_cursor_figures(cursor);
        plim_figures sums = { .reserved_bytes = found.reserved_bytes };
        plim_live live = plim_timeline_live(timeline, plim_cursor_moment(cursor), true);
        plim_allocation one;
        while (plim_live_next(&live, &one)) {
            sums.active_bytes += one.block_bytes;
            sums.active_slack_bytes += one.block_slack_bytes;
            if (one.freed > plim_cursor_moment(cursor)) {
                sums.requested_bytes += one.requested_bytes;
                sums.allocated_bytes += one.block_bytes;
                sums.allocated_slack_bytes += one.block_slack_bytes;
                sums.live_count++;
            }
        }
        T_TRUE(memcmp(&found, &sums, sizeof sums) == 0);
    } while (plim_cursor_next(cursor));
    plim_cursor_destroy(cursor);
}

static void a_trace_with_holes_adds_up_to_what_is_live(void)
{
    for (int i = 0; i < 60; i++) {
        run_toy();
        plim_history *const history = history_from(
            (size_t)t_random_between(0, world.event_count / 2), t_random_between(2, 20));
        plim_timeline *const timeline = timeline_of(history);
        T_CASE("program %d, %zu events", i, world.event_count);
        the_sums_are_those_of_the_live_set(timeline);
        plim_timeline_destroy(timeline);
        plim_history_destroy(history);
    }
}

static const struct {
    const char *name;
    const char *script;
    int64_t event;
    uint64_t block_bytes, slack_bytes;
} sizes[] = {
    { "a small block is as large as its rounded request", "segment_alloc 0 2097152; alloc 0 1", 1,
      512, 0 },
    { "up to 1 MiB stays with a large block", "segment_alloc 0 20971520; alloc 0 19922944", 1,
      20971520, 0 },
    { "more is cut off", "segment_alloc 0 20971520; alloc 0 19922432", 1, 19922432, 0 },
    { "what is above bounds it",
      "segment_alloc 0 20971520; alloc 0 3145728; alloc 3145728 3145728; request 0 3145728; "
      "complete 0 3145728; alloc 0 2097153",
      5, 3145728, 0 },
    { "what is pending above still bounds it",
      "segment_alloc 0 20971520; alloc 0 3145728; alloc 3145728 3145728; request 3145728 3145728; "
      "request 0 3145728; complete 0 3145728; alloc 0 2097153; complete 3145728 3145728",
      6, 3145728, 0 },
    { "expandable segments are cut to the byte", "map 0 20971520; alloc 0 19922944", 1, 19922944,
      0 },
    { "outside of all segments it is an estimate",
      "segment_alloc 0 20971520; alloc 33554432 19922944", 1, 19922944, 1048576 },
    { "without segments too", "alloc 0 19922944", 0, 19922944, 1048576 },
    { "a block at the end is as the file has it",
      "segment 0 20971520; block 0 20000768 19922944 allocated; block 20000768 970752 0 free; "
      "segment_alloc 0 20971520; alloc 0 19922944",
      1, 20000768, 0 },
    { "in the middle of what is taken nothing is known",
      "segment_alloc 0 20971520; alloc 0 9437184; alloc 1048576 2097152", 2, 2097152, 1048576 },
    { "where an allocation goes, the block of the start before it ended",
      "segment 0 20971520; block 0 20971520 0 free; request 0 3145728; alloc 3670016 2097152; "
      "complete 0 3145728",
      0, 3670016, 0 },
    { "a block of the start that nothing follows is an estimate",
      "segment 0 20971520; block 0 20971520 0 free; request 0 3145728; complete 0 3145728", 0,
      3145728, 1048576 },
    { "memory that was asked for bounds what was free",
      "segment 0 20971520; block 0 20971520 0 free; segment 33554432 20971520; block 33554432 "
      "20971520 0 free; segment_alloc 33554432 20971520; alloc 33554432 17301504; request 0 "
      "3145728; complete 0 3145728; request 33554432 17301504; complete 33554432 17301504",
      2, 3670528, 523776 },
};

static void blocks_are_as_large_as_we_wrote_down(void)
{
    for (size_t i = 0; i < T_COUNT(sizes); i++) {
        T_CASE("%s", sizes[i].name);
        char script[512];
        /* Both halves of a free are in every script: else pending blocks cannot be seen. */
        (void)snprintf(script, sizeof script, "%s; request 0x7000000000 1; complete 0x7000000000 1",
                       sizes[i].script);
        plim_history *const history = script_history(script);
        plim_timeline *const timeline = timeline_of(history);
        const uint64_t id = plim_timeline_about(timeline, (uint64_t)sizes[i].event);
        T_TRUE(id != PLIM_NO_ALLOCATION);
        const plim_allocation one = plim_timeline_allocation(timeline, id);
        T_EQ_U64(one.block_bytes, sizes[i].block_bytes);
        T_EQ_U64(one.block_slack_bytes, sizes[i].slack_bytes);
        the_sums_are_those_of_the_live_set(timeline);
        plim_timeline_destroy(timeline);
        plim_history_destroy(history);
    }
}

static void an_allocation_that_takes_a_place_ends_what_was_there(void)
{
    plim_history *const history =
        script_history("alloc 0 100; alloc 0 200; request 0 200; alloc 0 300; request 0 300; "
                       "complete 0 300; request 0 300; complete 512 9");
    plim_timeline *const timeline = timeline_of(history);
    const uint64_t first = plim_timeline_about(timeline, 0);
    const uint64_t second = plim_timeline_about(timeline, 1);
    T_EQ_U64(plim_timeline_displaced(timeline, 1), first);
    T_EQ_I64(plim_timeline_allocation(timeline, first).freed, 1);
    T_EQ_I64(plim_timeline_allocation(timeline, first).completed, 1);
    T_EQ_U64(plim_timeline_displaced(timeline, 3), second);
    T_EQ_I64(plim_timeline_allocation(timeline, second).freed, 2);
    T_EQ_I64(plim_timeline_allocation(timeline, second).completed, 3);
    T_EQ_U64(plim_timeline_about(timeline, 4), plim_timeline_about(timeline, 5));
    T_EQ_U64(plim_timeline_about(timeline, 6), PLIM_NO_ALLOCATION); /* freed twice */
    const plim_allocation pending =
        plim_timeline_allocation(timeline, plim_timeline_about(timeline, 7));
    T_EQ_I64(pending.born, PLIM_AT_START);
    T_EQ_I64(pending.freed, PLIM_AT_START);
    T_EQ_I64(pending.completed, 7);
    T_EQ_U64(plim_timeline_anomaly_count(timeline, PLIM_ANOMALY_DOUBLE_FREE), 1);
    the_sums_are_those_of_the_live_set(timeline);
    plim_timeline_destroy(timeline);
    plim_history_destroy(history);
}

static void another_allocator_is_not_taken_for_pytorchs(void)
{
    plim_history *const history = script_history("segment_alloc 0 20971520; alloc 0 19922944");
    const plim_timeline_options options = { .rule = { .is_other = true } };
    plim_timeline *timeline = NULL;
    T_TRUE(plim_timeline_create(history, 0, &options, &timeline, NULL) == PLIM_OK);
    const plim_allocation one =
        plim_timeline_allocation(timeline, plim_timeline_about(timeline, 1));
    T_EQ_U64(one.block_bytes, 19922944);
    T_TRUE(one.block_slack_bytes >= MIB);
    plim_timeline_destroy(timeline);
    plim_history_destroy(history);
}

static bool make_all(const plim_mem *mem, void *history)
{
    const plim_timeline_options options = { .mem = mem };
    plim_timeline *timeline = NULL;
    plim_cursor *cursor = NULL;
    if (plim_timeline_create(history, 0, &options, &timeline, NULL) != PLIM_OK) {
        T_NULL(timeline);
        return false;
    }
    const bool done = plim_cursor_create(timeline, &cursor, NULL) == PLIM_OK;
    plim_cursor_destroy(cursor);
    plim_timeline_destroy(timeline);
    return done;
}

static void any_allocation_may_fail(void)
{
    run_toy();
    plim_history *const history = history_from(world.event_count / 3, 10);
    t_fail_each_allocation(make_all, history);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(a_tail_tells_what_was), T_TEST(a_trace_with_holes_adds_up_to_what_is_live),
       T_TEST(blocks_are_as_large_as_we_wrote_down),
       T_TEST(an_allocation_that_takes_a_place_ends_what_was_there),
       T_TEST(another_allocator_is_not_taken_for_pytorchs), T_TEST(any_allocation_may_fail))
