/*
 * test_program.c - histories become programs: what is kept, what is left out, what is worked out.
 *
 * A program is written as words: a SLOT:BYTES, f SLOT, d SLOT>QUEUE (a free that waits), c
 * QUEUE:ENTRY (it is done), try:BYTES, empty, empty? (perhaps), pool N, drop N.
 */
#include "replay/program/program.h"

#include "history/script.h"

#include "base/memory.h"
#include "base/text.h"
#include "settings/rounding.h"

static void write_op(plim_text *out, const plim_op *op)
{
    static const char *const words[] = { "a", "f", "d", "c", "try", "empty", "pool", "drop" };
    plim_text_append_string(out, out->length > 0 ? " " : "");
    plim_text_append_string(out, words[op->kind]);
    switch ((plim_op_kind)op->kind) {
    case PLIM_OP_ALLOC:
        plim_text_append_format(out, "%u:%llu", op->slot, (unsigned long long)op->bytes);
        break;
    case PLIM_OP_FREE:
        plim_text_append_format(out, "%u", op->slot);
        break;
    case PLIM_OP_DEFER:
        plim_text_append_format(out, "%u>%u", op->slot, op->stream);
        break;
    case PLIM_OP_COMPLETE:
        plim_text_append_format(out, "%u:%llu", op->stream, (unsigned long long)op->bytes);
        break;
    case PLIM_OP_TRY:
        plim_text_append_format(out, ":%llu", (unsigned long long)op->bytes);
        break;
    case PLIM_OP_POOL:
    case PLIM_OP_POOL_DROP:
        plim_text_append_format(out, "%d", (int)op->slot);
        break;
    case PLIM_OP_EMPTY_CACHE:
        plim_text_append_string(out, op->slot == PLIM_RELEASE_DOUBTFUL ? "?" : "");
        break;
    }
}

typedef struct taken {
    plim_history *history;
    plim_program program;
} taken;

static taken take_with(const char *script, const plim_program_options *options)
{
    taken t = { .history = script_history(script) };
    const plim_device_history *device = plim_history_device(t.history, 0);
    plim_error err;
    if (plim_program_init(&t.program, t.history, device, options, &plim_mem_heap, &err) !=
        PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return t;
}

static taken take(const char *script)
{
    const plim_program_options options = { .to_event = 0 };
    return take_with(script, &options);
}

static void drop(taken *t)
{
    plim_program_deinit(&t->program);
    plim_history_destroy(t->history);
}

static void expect_ops(const plim_program *program, const char *expected)
{
    plim_text text;
    plim_text_init(&text, &plim_mem_heap, 1 << 16);
    for (size_t i = 0; i < program->ops.count; i++) {
        write_op(&text, &program->ops.items[i]);
    }
    T_EQ_STR(plim_text_string(&text), expected);
    plim_text_deinit(&text);
}

#define BIG "segment 0x20000000 20971520 large; block 0x20000000 20971520 0 free;"

static void events_become_ops(void)
{
    static const struct {
        const char *name;
        const char *script;
        const char *ops;
    } cases[] = {
        { "slots are used again",
          "alloc 0 100; alloc 512 200; request 0 100; complete 0 100; alloc 0 300;"
          "request 512 200; complete 512 200",
          "a0:100 a1:200 f0 a0:300 f1" },
        { "driver calls are the allocator's",
          BIG "segment_alloc 0x20000000 20971520; alloc 0x20000000 2000000; snapshot 2000384;"
              "request 0x20000000 2000000; complete 0x20000000 2000000",
          "a0:2000000 f0" },
        { "a file of requests alone", "alloc 0 100; request 0 100; alloc 0 100",
          "a0:100 f0 a0:100" },
        { "a file of completions alone", "alloc 0 100; complete 0 100; alloc 0 100",
          "a0:100 f0 a0:100" },
        { "frees that wait for one stream share a queue",
          "alloc 0 1; alloc 512 2; request 0 1; request 512 2; alloc 1024 3; complete 0 1;"
          "complete 512 2; alloc 1536 4",
          "a0:1 a1:2 d0>0 d1>0 a1:3 c0:1 c0:2 a0:4" },
        { "frees that overtake each other do not",
          "alloc 0 1; alloc 512 2; request 0 1; request 512 2; complete 512 2; alloc 512 3;"
          "complete 0 1",
          "a0:1 a1:2 d0>0 f1 a1:3 c0:1" },
        { "a queue is used again when its last free is done",
          "alloc 0 1; alloc 512 2; alloc 1024 3; request 0 1; request 512 2; alloc 1536 4;"
          "complete 512 2; request 1024 3; alloc 2048 5; complete 0 1; alloc 2560 6;"
          "complete 1024 3",
          "a0:1 a1:2 a2:3 d0>0 d1>1 a1:4 c1:1 d2>0 a2:5 c0:1 a0:6 c0:2" },
        { "a free that is never completed waits for ever",
          "alloc 0 1; alloc 512 2; request 512 2; complete 512 2; request 0 1; alloc 1024 3",
          "a0:1 a1:2 f1 d0>0 a0:3" },
        { "what stood at the start can be freed", "request 0 100; complete 0 100; alloc 0 200",
          "f0 a0:200" },
        { "what waited at the start completes", "complete 0 100; alloc 0 200; request 0 200",
          "d0>0 c0:1 a1:200 d1>0" },
        { "a second free of the same is left out",
          "alloc 0 100; request 0 100; complete 0 100; request 0 100; complete 0 100",
          "a0:100 f0" },
        { "an allocation over a live one ends it", "alloc 0 100; alloc 0 200; request 0 200",
          "a0:100 f0 a0:200 f0" },
        { "a request that failed is tried again", "alloc 0 100; oom 4096 1000; request 0 100",
          "a0:100 try:4096 f0" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        taken t = take(cases[i].script);
        expect_ops(&t.program, cases[i].ops);
        T_EQ_U64(t.program.ops.count, t.program.op_events.count);
        drop(&t);
    }
}

/* 2 GiB are held; what can be told from what the driver gives and takes. */
#define HELD \
    "segment 0x100000000 2147483648 large; block 0x100000000 2147483648 2147483648 allocated;"
#define CACHED                                                       \
    "segment_alloc 0x300000000 20971520; alloc 0x300000000 2000000;" \
    "request 0x300000000 2000000; complete 0x300000000 2000000;"
#define GIVEN "segment_free 0x300000000 20971520;"

static void memory_given_back_tells_of_program_and_device(void)
{
    static const struct {
        const char *name;
        const char *script;
        const char *ops;
        plim_capacity_source source;
        uint64_t capacity_mib;
    } cases[] = {
        { "no request explains it: the program did",
          HELD CACHED GIVEN "alloc 0x100 100; request 0x100 100; complete 0x100 100",
          "a1:2000000 f1 empty a1:100 f1", PLIM_CAPACITY_UNKNOWN, 0 },
        { "a free comes next: the program did",
          HELD "alloc 0x100 100;" CACHED GIVEN "request 0x100 100; complete 0x100 100;"
               "segment_alloc 0x400000000 20971520; alloc 0x400000000 3000000",
          "a1:100 a2:2000000 f2 empty f1 a1:3000000", PLIM_CAPACITY_UNKNOWN, 0 },
        { "the driver must have refused",
          HELD CACHED GIVEN "segment_alloc 0x400000000 41943040; alloc 0x400000000 41943040",
          "a1:2000000 f1 empty? a1:41943040", PLIM_CAPACITY_RETRIES, 2048 + 40 },
        { "the driver had more before: the program did",
          HELD "segment_alloc 0x500000000 104857600; alloc 0x500000000 104857600;"
               "request 0x500000000 104857600; complete 0x500000000 104857600;"
               "segment_free 0x500000000 104857600; alloc 0x100 100;" CACHED GIVEN
               "segment_alloc 0x400000000 41943040; alloc 0x400000000 41943040",
          "a1:104857600 f1 empty a1:100 a2:2000000 f2 empty a2:41943040", PLIM_CAPACITY_UNKNOWN,
          0 },
        { "an oom tells the capacity, and is no call of the program's",
          HELD CACHED GIVEN "oom 1073741824 536870912; alloc 0x100 100",
          "a1:2000000 f1 try:1073741824 a1:100", PLIM_CAPACITY_OOM, 2048 + 512 },
        { "a limit refuses what the driver has", HELD CACHED "oom 1073741824 5368709120",
          "a1:2000000 f1 try:1073741824", PLIM_CAPACITY_OOM, 2048 + 20 },
        { "the stack of the request is the allocator's doing",
          HELD CACHED "segment_free 0x300000000 20971520 @1; segment_alloc 0x400000000 41943040 @1;"
                      "alloc 0x400000000 41943040 @1",
          "a1:2000000 f1 a1:41943040", PLIM_CAPACITY_RETRIES, 2048 + 40 },
        { "another stack is the program's",
          HELD CACHED "segment_free 0x300000000 20971520 @2; segment_alloc 0x400000000 41943040 @1;"
                      "alloc 0x400000000 41943040 @1",
          "a1:2000000 f1 empty a1:41943040", PLIM_CAPACITY_UNKNOWN, 0 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        taken t = take(cases[i].script);
        T_EQ_U64(t.program.facts.capacity_source, cases[i].source);
        T_EQ_U64(t.program.facts.capacity_bytes, cases[i].source == PLIM_CAPACITY_UNKNOWN
                                                     ? PLIM_UNLIMITED
                                                     : cases[i].capacity_mib << 20);
        expect_ops(&t.program, cases[i].ops);
        drop(&t);
    }
}

static void blocks_of_the_start_follow_the_rules(void)
{
    /* A: known at the end. B: 1 MiB after it is too little to be cut off. C: more is. */
    taken t = take("segment 0x20000000 20971520 large; block 0x20000000 4194304 4000000 allocated;"
                   "block 0x20400000 16777216 0 free;"
                   "request 0x20400000 3145728; complete 0x20400000 3145728;"
                   "request 0x20800000 2097152; complete 0x20800000 2097152");
    const plim_program_start *start = &t.program.start;
    static const struct {
        plim_addr addr;
        uint64_t bytes;
        bool is_live;
    } expected[] = { { 0x20000000, 0x400000, true },
                     { 0x20400000, 0x400000, true },
                     { 0x20800000, 0x200000, true },
                     { 0x20a00000, 0xa00000, false } };
    T_EQ_U64(start->segments.count, 1);
    T_EQ_U64(start->blocks.count, T_COUNT(expected));
    for (size_t i = 0; i < T_COUNT(expected); i++) {
        T_CASE("block %zu", i);
        const plim_block *block = &start->blocks.items[i];
        T_EQ_U64(block->addr, expected[i].addr);
        T_EQ_U64(block->bytes, expected[i].bytes);
        T_EQ_U64(block->state == PLIM_BLOCK_ACTIVE_ALLOCATED, expected[i].is_live);
        T_EQ_U64(start->block_slots.items[i] != PLIM_NONE, expected[i].is_live);
    }
    T_EQ_U64(t.program.caveats[PLIM_CAVEAT_START_BLOCKS], 2);
    T_EQ_U64(t.program.facts.start_allocations, 3);
    T_EQ_U64(t.program.facts.start_reserved_bytes, 20971520);
    drop(&t);
}

/* A: 3 MiB requested, freed in the recording; what happened after it tells where it ended. */
static void later_events_tell_where_blocks_ended(void)
{
    static const struct {
        const char *name;
        const char *script;
        uint64_t bytes;
    } cases[] = {
        { "the first allocation behind it begins there",
          "segment 0x20000000 41943040 large; block 0x20000000 41943040 0 free;"
          "alloc 0x20380000 2097152; request 0x20380000 2097152; complete 0x20380000 2097152;"
          "request 0x20000000 3145728; complete 0x20000000 3145728",
          0x380000 },
        { "what comes when it is gone says nothing",
          "segment 0x20000000 41943040 large; block 0x20000000 41943040 0 free;"
          "request 0x20000000 3145728; complete 0x20000000 3145728; alloc 0x20380000 2097152;"
          "request 0x20380000 2097152; complete 0x20380000 2097152",
          0x300000 },
        { "the driver was asked for what would have fitted behind it",
          "segment 0x20000000 8388608 large; block 0x20000000 8388608 0 free;"
          "segment 0x30000000 20971520 large; block 0x30000000 4718592 4718592 allocated;"
          "block 0x30480000 16252928 0 free;"
          "segment_alloc 0x30000000 20971520; alloc 0x30000000 4718592;"
          "request 0x20000000 3145728; complete 0x20000000 3145728",
          0x380200 },
        { "the driver was asked for more than that",
          "segment 0x20000000 8388608 large; block 0x20000000 8388608 0 free;"
          "segment 0x30000000 20971520 large; block 0x30000000 5767168 5767168 allocated;"
          "block 0x30580000 15204352 0 free;"
          "segment_alloc 0x30000000 20971520; alloc 0x30000000 5767168;"
          "request 0x20000000 3145728; complete 0x20000000 3145728",
          0x300000 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        taken t = take(cases[i].script);
        T_EQ_U64(t.program.start.blocks.items[0].addr, 0x20000000);
        T_EQ_U64(t.program.start.blocks.items[0].bytes, cases[i].bytes);
        drop(&t);
    }
}

static void what_lies_in_no_segment_is_requested(void)
{
    taken t = take(BIG "request 0x90000000 100; complete 0x90000000 100; alloc 0x20000000 5");
    T_EQ_U64(t.program.start.allocations.count, 1);
    T_TRUE(t.program.start.allocations.items[0].is_outside);
    T_EQ_U64(t.program.caveats[PLIM_CAVEAT_START_OUTSIDE], 1);
    expect_ops(&t.program, "f0 a0:5");
    drop(&t);
}

static void a_later_beginning_has_what_stands_there(void)
{
    const plim_program_options options = { .from_event = 4 };
    taken t = take_with(BIG "segment_alloc 0x20000000 20971520; alloc 0x20000000 2097152;"
                            "alloc 0x20200000 4194304; request 0x20000000 2097152;"
                            "alloc 0x20600000 100; complete 0x20000000 2097152;"
                            "request 0x20200000 4194304; complete 0x20200000 4194304",
                        &options);
    T_EQ_U64(t.program.start.segments.count, 1);
    T_EQ_U64(t.program.facts.start_live_bytes, 4194304);
    T_EQ_U64(t.program.prologue, 1);
    expect_ops(&t.program, "d1>0 a2:100 c0:1 f0");
    T_EQ_U64(t.program.op_events.items[1], 4);
    drop(&t);
}

static void the_floor_is_what_lives_in_pages(void)
{
    taken t = take("alloc 0 2097152; alloc 0x200000 100; request 0x200000 100;"
                   "complete 0x200000 100; oom 4194304 0");
    T_EQ_U64(t.program.peak_live_bytes, 6291456);
    T_EQ_U64(t.program.facts.floor_bytes, 6291456);
    T_EQ_U64(t.program.facts.peak_event, 4); /* what failed counts */
    drop(&t);
    t = take("alloc 0 2097152; alloc 0x200000 100");
    T_EQ_U64(t.program.facts.floor_bytes, 4194304);
    T_EQ_U64(t.program.facts.peak_event, 1);
    drop(&t);
}

static void requests_are_scaled(void)
{
    const plim_scale scales[] = { { "all", 0.5 }, { "stack:f7", 3 } };
    const plim_program_options options = { .scales = scales, .scale_count = 2 };
    taken t =
        take_with("alloc 0 101 @1; alloc 512 100 @7; request 512 100; complete 512 100", &options);
    expect_ops(&t.program, "a0:51 a1:300 f1");
    drop(&t);
}

static void what_cannot_be_is_said(void)
{
    static const struct {
        const char *name;
        uint64_t from_event, to_event;
        size_t scale_count;
        plim_scale scale;
    } cases[] = {
        { "an empty range", 1, 1, 0, { "all", 1 } },
        { "a range behind the end", 9, 0, 0, { "all", 1 } },
        { "no such category", 0, 0, 1, { "weights", 2 } },
        { "no text to look for", 0, 0, 1, { "stack:", 2 } },
        { "times nothing", 0, 0, 1, { "all", 0 } },
    };
    plim_history *history = script_history("alloc 0 100; alloc 512 100");
    const plim_device_history *device = plim_history_device(history, 0);
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].name);
        const plim_program_options options = { .from_event = cases[i].from_event,
                                               .to_event = cases[i].to_event,
                                               .scales = &cases[i].scale,
                                               .scale_count = cases[i].scale_count };
        plim_program program;
        plim_error err = { .status = PLIM_OK };
        T_EQ_U64(plim_program_init(&program, history, device, &options, &plim_mem_heap, &err),
                 PLIM_INVALID_ARGUMENT);
        T_TRUE(err.message[0] != '\0');
        plim_program_deinit(&program);
    }
    plim_history_destroy(history);
}

/* --- memory that fails --- */

static plim_history *failing;

static bool take_and_drop(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    const plim_scale scales[] = { { "activations", 2 }, { "stack:f1", 3 } };
    const plim_program_options options = { .from_event = 2, .scales = scales, .scale_count = 2 };
    plim_program program;
    plim_error err;
    const plim_status status =
        plim_program_init(&program, failing, plim_history_device(failing, 0), &options, mem, &err);
    if (status == PLIM_OK) {
        plim_program_deinit(&program);
    }
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    return status == PLIM_OK;
}

static void failing_memory_is_said(void)
{
    failing = script_history(
        "segment 0x20000000 20971520 large pool 0 1; block 0x20000000 4194304 4000000 allocated;"
        "block 0x20400000 16777216 0 free;"
        "segment 0x40000000 20971520 large expandable; block 0x40000000 20971520 0 free;"
        "alloc 0x40000000 2000000; request 0x20400000 3145728; complete 0x30000000 2000000;"
        "map 0x41000000 4194304; alloc 0x41000000 1000000 @1; request 0x40000000 2000000;"
        "alloc 0x41200000 9; complete 0x20400000 3145728; complete 0x40000000 2000000;"
        "segment_free 0x70000000 20971520; request 0x50000000 3; alloc 0x41200000 10;"
        "oom 4194304 0");
    t_fail_each_allocation(take_and_drop, NULL);
    plim_history_destroy(failing);
}

T_MAIN(T_TEST(events_become_ops), T_TEST(memory_given_back_tells_of_program_and_device),
       T_TEST(blocks_of_the_start_follow_the_rules), T_TEST(later_events_tell_where_blocks_ended),
       T_TEST(what_lies_in_no_segment_is_requested),
       T_TEST(a_later_beginning_has_what_stands_there), T_TEST(the_floor_is_what_lives_in_pages),
       T_TEST(requests_are_scaled), T_TEST(what_cannot_be_is_said), T_TEST(failing_memory_is_said))
