/*
 * test_fragmentation.c - where reserved memory is lost, by which cause, and when that is a verdict.
 */
#include "history/script.h"
#include "plimsoll/diagnose.h"
#include "plimsoll/load.h"

#define M            (UINT64_C(1) << 20)
#define NOTHING_KEPT (PLIM_NONE - 1) /* in place of a stack */

typedef struct diagnosed {
    plim_history *history;
    plim_diagnosis *diagnosis;
    const plim_device_diagnosis *device;
} diagnosed;

static diagnosed diagnose_history(plim_history *history, uint64_t capacity_bytes)
{
    diagnosed all = { .history = history };
    const plim_diagnose_options options = { .capacity_bytes = capacity_bytes };
    T_TRUE(plim_diagnose(history, &options, &all.diagnosis, NULL) == PLIM_OK);
    all.device = plim_diagnosis_device(all.diagnosis, 0);
    return all;
}

static diagnosed diagnose(const char *script)
{
    return diagnose_history(script_history(script), 0);
}

static void end(diagnosed *all)
{
    plim_diagnosis_destroy(all->diagnosis);
    plim_history_destroy(all->history);
}

static const plim_diagnosis_finding *find(const diagnosed *all, const char *id)
{
    for (size_t i = 0; i < all->device->finding_count; i++) {
        if (strcmp(all->device->findings[i].finding.id, id) == 0) {
            return &all->device->findings[i];
        }
    }
    return NULL;
}

/* --- moments --- */

/* At the end, without events: a segment that is pinned, a free one, one of another stream, a
 * private one, an expandable one. */
static const char state[] =
    "segment 0x10000000 0x6400000 large; block 0x10000000 0x200000 0x1ffff0 allocated @1; "
    "block 0x10200000 0x6200000 0 free; "
    "segment 0x20000000 0x1400000 large; block 0x20000000 0x1400000 0 free; "
    "segment 0x30000000 0x1400000 large pool 1 2; block 0x30000000 0x1400000 0 free; "
    "segment 0x40000000 0x200000; block 0x40000000 512 100 pending; block 0x40000200 0x1ffe00 0 "
    "free; "
    "segment 0x54000000 0x5000000 large expandable; block 0x54000000 0x3c00000 0 free; "
    "block 0x57c00000 0x200000 0x200000 allocated @2; block 0x57e00000 0x1200000 0 free; ";

static void a_moment_has_its_losses_by_cause(void)
{
    diagnosed all = diagnose(state);
    T_EQ_U64(all.device->fragmentation_count, 1);
    const plim_fragmentation_facts *const facts = &all.device->fragmentation[0];
    T_EQ_I64(facts->event, -1);
    T_EQ_U64(facts->reserved_bytes, (100 + 20 + 20 + 2 + 80) * M);
    T_EQ_U64(facts->allocated_bytes, 4 * M);
    T_EQ_U64(facts->loss.split_bytes, 98 * M + 2 * M - 512);
    T_EQ_U64(facts->loss.rounding_bytes, 16);
    T_EQ_U64(facts->loss.pending_bytes, 512);
    T_EQ_U64(facts->loss.private_pool_bytes, 20 * M);
    T_EQ_U64(facts->loss.free_segment_bytes, 20 * M + 60 * M); /* and whole pages */
    T_EQ_U64(facts->loss.page_bytes, 18 * M);
    T_EQ_U64(facts->loss.other_stream_bytes, 0);
    T_EQ_U64(facts->largest_hole_bytes, 98 * M);
    uint64_t holes = 0;
    for (size_t i = 0; i < PLIM_HOLE_CLASSES; i++) {
        holes += facts->hole_bytes[i];
    }
    T_EQ_U64(holes, facts->reserved_bytes - facts->allocated_bytes - 512);
    T_EQ_U64(facts->hole_counts[26], 1); /* 98 MiB */
    end(&all);
}

static void pins_are_ranked_by_what_they_keep_from_use(void)
{
    diagnosed all = diagnose(state);
    const plim_fragmentation_facts *const facts = &all.device->fragmentation[0];
    T_EQ_U64(facts->pin_count, 2);
    T_TRUE(script_is_stack(all.history, facts->pins[0].place.stack, 1));
    T_EQ_U64(facts->pins[0].blocked_bytes, 98 * M);
    T_EQ_U64(facts->pins[0].bytes, 2 * M);
    T_TRUE(script_is_stack(all.history, facts->pins[1].place.stack, 2));
    T_EQ_U64(facts->pins[1].blocked_bytes, 18 * M);
    end(&all);
}

static void a_state_alone_is_noted_and_says_so(void)
{
    diagnosed all = diagnose(state);
    const plim_diagnosis_finding *const finding = find(&all, "fragmented.pinned_segments");
    T_EQ_STR(plim_verdict_name(all.device->verdict), "healthy");
    T_NOT_NULL(finding);
    T_FALSE(finding->decides);
    T_EQ_STR(finding->evidence[finding->evidence_count - 1].id, "no_events");
    T_TRUE(script_is_stack(all.history, finding->root.stack, 1));
    end(&all);
}

static void private_pools_are_noted_for_themselves(void)
{
    diagnosed all = diagnose("segment 0x10000000 0x20000000 large; block 0x10000000 0x20000000 "
                             "0x20000000 allocated @1; segment 0x40000000 0x6400000 large pool 1 "
                             "0; block 0x40000000 0x6400000 0 free; ");
    const plim_diagnosis_finding *const finding = find(&all, "fragmented.private_pools");
    T_NOT_NULL(finding);
    T_EQ_U64(finding->bytes, 100 * M);
    T_FALSE(finding->decides);
    end(&all);
}

/* --- failures --- */

#define TWO_STREAMS                                                                              \
    "segment 0x10000000 0x6400000 large; block 0x10000000 0x6400000 0x6400000 allocated @1; "    \
    "segment 0x20000000 0x6400000 large stream 7; block 0x20000000 0x200000 0x200000 allocated " \
    "@2; block 0x20200000 0x6200000 0 free; "

static void free_memory_of_other_streams_is_a_cause(void)
{
    diagnosed all = diagnose(TWO_STREAMS "oom 0x3c00000 0 @9");
    T_EQ_STR(plim_verdict_name(all.device->verdict), "fragmented");
    T_EQ_STR(all.device->findings[0].finding.id, "fragmented.stream_pools");
    T_TRUE(all.device->fragmentation[0].is_oom);
    T_EQ_U64(all.device->fragmentation[0].loss.other_stream_bytes, 98 * M);
    T_EQ_U64(all.device->fragmentation[0].largest_hole_bytes, 0);
    end(&all);
}

/* --- a program that falls into pieces, or does not --- */

typedef struct pieces {
    size_t steps;
    bool keeps; /* something small of each step, in its segment */
    bool grows; /* each step needs a larger block than all before */
    bool has_stacks;
} pieces;

static void event(test_script *script, plim_action action, uint64_t addr, uint64_t bytes,
                  uint32_t stack)
{
    const plim_event one = { .action = action,
                             .addr = addr,
                             .bytes = bytes,
                             .time_ns = plim_time_ns(script->time_us++),
                             .stack = stack };
    T_TRUE(plim_history_push_event(script->history, &one, NULL) == PLIM_OK);
    script->ranges.events.count++;
}

static void name_step(test_script *script, size_t step, bool is_start)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "ProfilerStep#%zu", step);
    plim_annotation annotation = { .time_us = script->time_us++, .is_start = is_start };
    T_TRUE(plim_history_add_string(script->history, name, (size_t)length, &annotation.name, NULL) ==
           PLIM_OK);
    T_TRUE(plim_history_push_annotation(script->history, &annotation, NULL) == PLIM_OK);
}

/* A segment as it stands at the end: free but for what is kept. */
static void stand(test_script *script, uint64_t addr, uint64_t bytes, uint32_t kept)
{
    const plim_segment segment = { .addr = addr,
                                   .bytes = bytes,
                                   .stack = PLIM_NONE,
                                   .block_first = script->ranges.blocks.count,
                                   .block_count = 3,
                                   .is_large = true };
    const plim_block blocks[] = {
        { .addr = addr, .bytes = bytes - 4 * M, .stack = PLIM_NONE },
        { .addr = addr + bytes - 4 * M,
          .bytes = 2 * M,
          .requested_bytes = 2 * M,
          .stack = kept,
          .state = kept != NOTHING_KEPT ? PLIM_BLOCK_ACTIVE_ALLOCATED : PLIM_BLOCK_INACTIVE },
        { .addr = addr + bytes - 2 * M, .bytes = 2 * M, .stack = PLIM_NONE },
    };
    for (size_t i = 0; i < T_COUNT(blocks); i++) {
        plim_block block = blocks[i];
        block.stack = block.stack == NOTHING_KEPT ? PLIM_NONE : block.stack;
        T_TRUE(plim_history_push_block(script->history, &block, NULL) == PLIM_OK);
    }
    T_TRUE(plim_history_push_segment(script->history, &segment, NULL) == PLIM_OK);
    script->ranges.segments.count++;
    script->ranges.blocks.count += 3;
}

/* Each step requests a block that fills its segment but for 4 MiB, and may leave 2 MiB there. */
static plim_history *make_pieces(const pieces *run)
{
    test_script script = { .time_us = 1000 };
    uint32_t stream = 0;
    T_TRUE(plim_history_create(NULL, &script.history, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_stream(script.history, 0, &stream, NULL) == PLIM_OK);
    const uint32_t batch = run->has_stacks ? script_stack(script.history, 1) : PLIM_NONE;
    const uint32_t kept = run->has_stacks ? script_stack(script.history, 2) : PLIM_NONE;
    uint64_t addr = 0x100000000;
    for (size_t i = 0; i < run->steps; i++) {
        const uint64_t bytes = (40 + (run->grows ? 4 * i : 0)) * M;
        name_step(&script, i, true);
        if (i == 0 || run->grows) {
            addr += 0x40000000;
            event(&script, PLIM_SEGMENT_ALLOC, addr, bytes, batch);
            stand(&script, addr, bytes, run->keeps && run->grows ? kept : NOTHING_KEPT);
        }
        event(&script, PLIM_ALLOC, addr, bytes - 4 * M, batch);
        if (run->keeps) {
            event(&script, PLIM_ALLOC, addr + bytes - 4 * M, 2 * M, kept);
        }
        event(&script, PLIM_FREE_REQUESTED, addr, bytes - 4 * M, PLIM_NONE);
        event(&script, PLIM_FREE_COMPLETED, addr, bytes - 4 * M, PLIM_NONE);
        if (run->keeps && !run->grows) {
            event(&script, PLIM_FREE_REQUESTED, addr + bytes - 4 * M, 2 * M, PLIM_NONE);
            event(&script, PLIM_FREE_COMPLETED, addr + bytes - 4 * M, 2 * M, PLIM_NONE);
        }
        name_step(&script, i, false);
    }
    script_end_device(&script);
    plim_history_seal(script.history);
    return script.history;
}

static void what_is_pinned_step_after_step_is_a_verdict(void)
{
    const pieces run = { .steps = 24, .keeps = true, .grows = true, .has_stacks = true };
    diagnosed all = diagnose_history(make_pieces(&run), 0);
    const plim_diagnosis_finding *const finding = find(&all, "fragmented.varying_sizes");
    T_NOT_NULL(finding);
    T_TRUE(finding->decides);
    T_TRUE(script_is_stack(all.history, finding->root.stack, 2));
    T_TRUE(finding->evidence_count == 3);
    T_EQ_STR(finding->evidence[0].id, "forced");
    end(&all);
}

static void without_stacks_it_is_one_too(void)
{
    const pieces run = { .steps = 24, .keeps = true, .grows = true };
    diagnosed all = diagnose_history(make_pieces(&run), 0);
    const plim_diagnosis_finding *const finding = find(&all, "fragmented.pinned_segments");
    T_NOT_NULL(finding);
    T_TRUE(finding->decides);
    T_TRUE(finding->root.frame == PLIM_NONE);
    end(&all);
}

static void whole_free_segments_are_harmless(void)
{
    static const pieces runs[] = {
        { .steps = 24, .grows = true, .has_stacks = true },
        { .steps = 24, .keeps = true, .has_stacks = true },
        { .steps = 24 },
        { .steps = 1, .keeps = true, .grows = true },
    };
    for (size_t i = 0; i < T_COUNT(runs); i++) {
        T_CASE("%zu", i);
        diagnosed all = diagnose_history(make_pieces(&runs[i]), 0);
        for (size_t k = 0; k < all.device->finding_count; k++) {
            T_FALSE(all.device->findings[k].decides &&
                    all.device->findings[k].kind == PLIM_VERDICT_FRAGMENTED);
        }
        end(&all);
    }
}

static bool is_replayed(const diagnosed *all)
{
    for (size_t i = 0; i < all->device->finding_count; i++) {
        const plim_diagnosis_finding *const finding = &all->device->findings[i];
        if (finding->evidence_count > 0 && strcmp(finding->evidence[0].id, "replayed") == 0) {
            return finding->decides;
        }
    }
    return false;
}

static void a_smaller_device_is_tried_by_a_replay(void)
{
    static const struct {
        uint64_t capacity;
        bool fails;
    } rows[] = {
        { 40000 * M, false }, /* more than was reserved */
        { 20480 * M, false }, /* cache is given back, and it goes on */
        { 19968 * M, true },
        { 1000 * M, false }, /* less than was live: exhausted, not fragmented */
    };
    static const char path[] = "tests/data/rehearsals/fsdp-70b-fragmented.pickle.zst";
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%zu", i);
        plim_history *history = NULL;
        T_TRUE(plim_history_load(path, NULL, &history, NULL) == PLIM_OK);
        diagnosed all = diagnose_history(history, rows[i].capacity);
        T_TRUE(is_replayed(&all) == rows[i].fails);
        T_TRUE(!rows[i].fails || all.device->verdict == PLIM_VERDICT_FRAGMENTED);
        end(&all);
    }
}

/* --- hostile --- */

static const char *const hostile[] = {
    "segment 0 0xffffffffffffffff large; block 0 0xffffffffffffffff 1 allocated; alloc 5 5",
    "segment 0xfffffffffff00000 0xfffff large expandable; block 0xfffffffffff00000 1 1 pending; ",
    "segment_alloc 0 0x2800000; alloc 0 0xffffffffffffff00 @1; alloc 512 0x2800000 @1",
    "segment_alloc 0 0; map 0 0; unmap 0 5; alloc 0 0; request 0 0; complete 0 0",
    "segment 0 0x6400000 large; block 0 4096 8192 allocated; block 1024 0x6400000 5 allocated; ",
    "segment_alloc 0x100000 0x6400000; segment_free 0x100000 0x6400000; segment_free 0 1; oom 1 1",
};

static void hostile_histories_break_nothing(void)
{
    for (size_t i = 0; i < T_COUNT(hostile); i++) {
        for (uint64_t capacity = 0; capacity < 200 * M; capacity += 60 * M) {
            T_CASE("%zu", i);
            diagnosed all = diagnose_history(script_history(hostile[i]), capacity);
            end(&all);
        }
    }
}

static void many_steps_of_two_events_are_quick(void)
{
    const pieces run = { .steps = 100000 };
    diagnosed all = diagnose_history(make_pieces(&run), 0);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "healthy");
    end(&all);
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem };
    plim_diagnosis *diagnosis = NULL;
    if (plim_diagnose(ctx, &options, &diagnosis, NULL) != PLIM_OK) {
        return false;
    }
    plim_diagnosis_destroy(diagnosis);
    return true;
}

static void every_failing_allocation_is_a_clean_error(void)
{
    const pieces run = { .steps = 24, .keeps = true, .grows = true, .has_stacks = true };
    plim_history *const histories[] = { make_pieces(&run), script_history(state),
                                        script_history(TWO_STREAMS "oom 0x3c00000 0 @9") };
    for (size_t i = 0; i < T_COUNT(histories); i++) {
        t_fail_each_allocation(attempt, histories[i]);
        plim_history_destroy(histories[i]);
    }
}

/* The allocator that a replay runs does without some of the memory that it asks for. */
static void nothing_leaks_where_a_replay_runs_out(void)
{
    const pieces run = { .steps = 24, .keeps = true, .grows = true, .has_stacks = true };
    plim_history *const history = make_pieces(&run);
    bool has_failed = true;
    for (uint64_t n = 1; has_failed; n++) {
        t_mem heap;
        t_mem_init(&heap);
        heap.fail_at = n;
        const plim_diagnose_options options = { .mem = &heap.mem, .capacity_bytes = 400 * M };
        plim_diagnosis *diagnosis = NULL;
        const plim_status status = plim_diagnose(history, &options, &diagnosis, NULL);
        T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
        plim_diagnosis_destroy(diagnosis);
        T_EQ_U64(heap.live_bytes, 0);
        has_failed = heap.failed;
    }
    plim_history_destroy(history);
}

T_MAIN(T_TEST(a_moment_has_its_losses_by_cause), T_TEST(pins_are_ranked_by_what_they_keep_from_use),
       T_TEST(a_state_alone_is_noted_and_says_so), T_TEST(private_pools_are_noted_for_themselves),
       T_TEST(free_memory_of_other_streams_is_a_cause),
       T_TEST(what_is_pinned_step_after_step_is_a_verdict), T_TEST(without_stacks_it_is_one_too),
       T_TEST(whole_free_segments_are_harmless), T_TEST(a_smaller_device_is_tried_by_a_replay),
       T_TEST(hostile_histories_break_nothing), T_TEST(many_steps_of_two_events_are_quick),
       T_TEST(every_failing_allocation_is_a_clean_error),
       T_TEST(nothing_leaks_where_a_replay_runs_out))
