/*
 * test_against_snapshot.c - a recording and a snapshot of one allocator tell the same history.
 *
 * The recording works out from events how segments are split, the snapshot looks at the blocks:
 * each keeps the other honest. Stacks are made up by a hook, a few dozen different ones.
 */
#include "base/units.h"
#include "plimsoll/allocator.h"
#include "trace/program.h"

#include <unistd.h>

#define DEVICES 2
#define LIVE    200
#define STEPS   5000
#define STREAMS 3

static size_t any_stack(void *ctx, plim_foreign_frame *frames, size_t capacity)
{
    static const char *const names[] = { "forward", "backward", "step" };
    (void)ctx;
    const size_t count = t_random_between(1, 3);
    T_TRUE(capacity >= count);
    for (size_t i = 0; i < count; i++) {
        frames[i] = (plim_foreign_frame){ .filename = "train.py",
                                          .name = names[t_random_between(0, 2)],
                                          .line = (uint32_t)t_random_between(1, 4) };
    }
    return count;
}

/* --- an allocator at work --- */

typedef struct workplace {
    plim_device devices[DEVICES];
    plim_allocator *allocator;
    plim_pool_id pools[DEVICES];
    bool is_in_pool[DEVICES];
    plim_addr live[LIVE];
} workplace;

static void open_workplace(workplace *place, const char *text)
{
    *place = (workplace){ 0 };
    for (int32_t i = 0; i < DEVICES; i++) {
        const plim_sim_options sim = { .ordinal = i,
                                       .total_bytes = 1500 * MIB,
                                       .has_manual_fences = true };
        T_EQ_U64(plim_sim_create(&sim, &place->devices[i], NULL), PLIM_OK);
    }
    plim_settings settings = plim_settings_default();
    T_EQ_U64(plim_settings_parse(text, &settings, NULL), PLIM_OK);
    const plim_allocator_options options = { .devices = place->devices,
                                             .device_count = DEVICES,
                                             .settings = &settings };
    T_EQ_U64(plim_allocator_create(&options, &place->allocator, NULL), PLIM_OK);
    const plim_record_options history = { .is_enabled = true,
                                          .stacks = PLIM_STACKS_ALL,
                                          .max_events = 1 << 20,
                                          .foreign_frames = any_stack };
    T_EQ_U64(plim_record_history(place->allocator, &history, NULL), PLIM_OK);
    for (int32_t i = 0; i < DEVICES; i++) {
        place->pools[i] = plim_new_pool_id(place->allocator, false);
        T_EQ_U64(plim_pool_retain(place->allocator, i, place->pools[i], NULL, NULL), PLIM_OK);
    }
}

static void close_workplace(workplace *place)
{
    plim_allocator_destroy(place->allocator);
    for (size_t i = 0; i < DEVICES; i++) {
        plim_device_destroy(&place->devices[i]);
    }
}

static void enter_or_leave_pool(workplace *place)
{
    const int32_t device = (int32_t)t_random_between(0, DEVICES - 1);
    bool *const is_in = &place->is_in_pool[device];
    const plim_pool_id pool = place->pools[device];
    const plim_status status =
        *is_in ? plim_pool_end(place->allocator, device, pool, NULL)
               : plim_pool_begin(place->allocator, device, pool, NULL, NULL, NULL);
    T_EQ_U64(status, PLIM_OK);
    *is_in = !*is_in;
}

static void allocate(workplace *place, plim_addr *ret_addr)
{
    const uint64_t bytes =
        t_random_between(0, 2) == 0 ? t_random_between(1, MIB) : t_random_between(1, 60 * MIB);
    const plim_status status =
        plim_malloc(place->allocator, (int32_t)t_random_between(0, DEVICES - 1), bytes,
                    t_random_between(0, STREAMS - 1), ret_addr, NULL);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_DEVICE_MEMORY);
}

static void work_a_step(workplace *place)
{
    plim_addr *const at = &place->live[t_random_between(0, LIVE - 1)];
    if (*at == 0) {
        allocate(place, at);
    } else if (t_random_between(0, 2) == 0) {
        T_EQ_U64(plim_record_stream(place->allocator, *at, t_random_between(0, STREAMS - 1), NULL),
                 PLIM_OK);
    } else {
        T_EQ_U64(plim_free(place->allocator, *at, NULL), PLIM_OK);
        *at = 0;
    }
    switch (t_random_between(0, 400)) {
    case 0:
        T_EQ_U64(plim_empty_cache(place->allocator, NULL, NULL), PLIM_OK);
        break;
    case 1:
    case 2:
        enter_or_leave_pool(place);
        break;
    default:
        if (t_random_between(0, 30) == 0) {
            plim_sim_complete_all(&place->devices[t_random_between(0, DEVICES - 1)]);
        }
        break;
    }
}

/* --- the two histories of it --- */

static void expect_same_stack(const plim_history *a, uint32_t a_stack, const plim_history *b,
                              uint32_t b_stack)
{
    T_EQ_I64(a_stack == PLIM_NONE, b_stack == PLIM_NONE);
    if (a_stack == PLIM_NONE) {
        return;
    }
    const plim_stack left = plim_history_stack(a, a_stack);
    const plim_stack right = plim_history_stack(b, b_stack);
    T_EQ_U64(left.frame_count, right.frame_count);
    for (uint32_t i = 0; i < left.frame_count; i++) {
        const plim_frame *const x = plim_history_frame(a, left.frames[i]);
        const plim_frame *const y = plim_history_frame(b, right.frames[i]);
        T_EQ_U64(x->line, y->line);
        T_EQ_STR(plim_history_string(a, x->name, NULL), plim_history_string(b, y->name, NULL));
        T_EQ_STR(plim_history_string(a, x->filename, NULL),
                 plim_history_string(b, y->filename, NULL));
    }
}

static void expect_same_events(const plim_history *recorded, const plim_events *a,
                               const plim_history *snapshot, const plim_events *b)
{
    uint64_t at = 0; /* in the recording, which has no event for a snapshot */
    for (uint64_t i = 0; i < b->count; i++) {
        if (b->action[i] == PLIM_SNAPSHOT) {
            continue;
        }
        T_CASE("event %" PRIu64, at);
        T_TRUE(at < a->count);
        T_EQ_U64(a->action[at], b->action[i]);
        T_EQ_U64(a->addr[at], b->addr[i]);
        T_EQ_U64(a->bytes[at], b->bytes[i]);
        T_EQ_U64(plim_history_stream(recorded, a->stream[at]),
                 plim_history_stream(snapshot, b->stream[i]));
        expect_same_stack(recorded, a->stack[at], snapshot, b->stack[i]);
        at++;
    }
    T_EQ_U64(at, a->count);
}

static void expect_same_blocks(const plim_history *recorded, const plim_block *a,
                               const plim_history *snapshot, const plim_block *b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        T_EQ_U64(a[i].addr, b[i].addr);
        T_EQ_U64(a[i].bytes, b[i].bytes);
        T_EQ_U64(a[i].state, b[i].state);
        if (a[i].state != PLIM_BLOCK_INACTIVE) {
            T_EQ_U64(a[i].requested_bytes, b[i].requested_bytes);
            expect_same_stack(recorded, a[i].stack, snapshot, b[i].stack);
        }
    }
}

static void expect_same_segments(const plim_history *recorded, const plim_device_history *a,
                                 const plim_history *snapshot, const plim_device_history *b)
{
    T_EQ_U64(a->segment_count, b->segment_count);
    for (uint64_t i = 0; i < a->segment_count; i++) {
        const plim_segment *const x = &a->segments[i];
        const plim_segment *const y = &b->segments[i];
        T_CASE("segment %" PRIu64, i);
        T_EQ_U64(x->addr, y->addr);
        T_EQ_U64(x->bytes, y->bytes);
        T_EQ_U64(x->pool.a, y->pool.a);
        T_EQ_U64(x->pool.b, y->pool.b);
        T_EQ_U64(plim_history_stream(recorded, x->stream),
                 plim_history_stream(snapshot, y->stream));
        T_EQ_I64(x->is_large, y->is_large);
        T_EQ_I64(x->is_expandable, y->is_expandable);
        T_EQ_U64(x->block_count, y->block_count);
        expect_same_blocks(recorded, &a->blocks[x->block_first], snapshot,
                           &b->blocks[y->block_first], x->block_count);
    }
}

/* What a run has to have met, or it shows little. */
typedef struct seen {
    uint64_t actions[PLIM_ACTION_MAX + 1];
    uint64_t states[PLIM_BLOCK_ACTIVE_PENDING_FREE + 1];
    uint64_t segments_of_pools;
} seen;

static void look(const plim_history *history, seen *met)
{
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *const device = plim_history_device(history, i);
        for (uint64_t k = 0; k < device->events.count; k++) {
            met->actions[device->events.action[k]]++;
        }
        for (uint64_t k = 0; k < device->block_count; k++) {
            met->states[device->blocks[k].state]++;
        }
        for (uint64_t k = 0; k < device->segment_count; k++) {
            met->segments_of_pools += device->segments[k].pool.b != 0;
        }
    }
}

static void expect_same(const plim_history *recorded, const plim_history *snapshot)
{
    T_EQ_U64(plim_history_device_count(recorded), plim_history_device_count(snapshot));
    for (size_t i = 0; i < plim_history_device_count(recorded); i++) {
        const plim_device_history *const a = plim_history_device(recorded, i);
        const plim_device_history *const b = plim_history_device(snapshot, i);
        T_EQ_I64(a->device, b->device);
        expect_same_events(recorded, &a->events, snapshot, &b->events);
        expect_same_segments(recorded, a, snapshot, b);
    }
}

static void run_once(const char *settings, seen *met)
{
    static workplace place;
    char path[256];
    plim_recorder *recorder = NULL;
    plim_history *recorded = NULL;
    plim_history *snapshot = NULL;
    t_path(path, sizeof path, "beside.plim");
    open_workplace(&place, settings);
    const plim_recorder_options options = { .queue_events = 1 << 17 };
    T_EQ_U64(plim_recorder_start(path, &options, &recorder, NULL), PLIM_OK);
    const plim_event_sink sink = plim_recorder_sink(recorder);
    T_EQ_U64(plim_add_event_sink(place.allocator, &sink, NULL), PLIM_OK);
    for (size_t i = 0; i < STEPS; i++) {
        work_a_step(&place);
    }
    T_EQ_U64(plim_allocator_snapshot(place.allocator, NULL, true, &snapshot, NULL), PLIM_OK);
    plim_remove_event_sink(place.allocator, sink.ctx);
    T_EQ_U64(plim_recorder_count(recorder).dropped, 0);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    T_EQ_U64(plim_recording_load(path, NULL, &recorded, NULL), PLIM_OK);
    T_EQ_U64(plim_history_warning_count(recorded), 0);
    expect_same(recorded, snapshot);
    look(recorded, met);
    plim_history_destroy(recorded);
    plim_history_destroy(snapshot);
    close_workplace(&place);
    (void)unlink(path);
}

static void expect_met(const seen *met, bool is_expandable)
{
    T_TRUE(met->actions[PLIM_ALLOC] > 1000 && met->actions[PLIM_FREE_COMPLETED] > 1000);
    T_TRUE(met->actions[PLIM_OOM] > 0);
    T_EQ_I64(met->actions[PLIM_SEGMENT_ALLOC] > 0, !is_expandable);
    T_EQ_I64(met->actions[PLIM_SEGMENT_FREE] > 0, !is_expandable);
    T_EQ_I64(met->actions[PLIM_SEGMENT_MAP] > 0, is_expandable);
    T_EQ_I64(met->actions[PLIM_SEGMENT_UNMAP] > 0, is_expandable);
    T_TRUE(met->states[PLIM_BLOCK_INACTIVE] > 0);
    T_TRUE(met->states[PLIM_BLOCK_ACTIVE_ALLOCATED] > 0);
    T_TRUE(met->states[PLIM_BLOCK_ACTIVE_PENDING_FREE] > 0);
    T_TRUE(met->segments_of_pools > 0);
}

static void both_tell_the_same(void)
{
    static const struct {
        const char *settings;
        bool is_expandable;
    } cases[] = {
        { "", false },
        { "expandable_segments:True", true },
        { "max_split_size_mb:24,max_non_split_rounding_mb:20,garbage_collection_threshold:0.6,"
          "per_process_memory_fraction:0.8",
          false },
        { "expandable_segments:True,large_segment_size_mb:32,max_split_size_mb:40,"
          "roundup_power2_divisions:4",
          true },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        seen met = { 0 };
        for (int round = 0; round < 3; round++) {
            run_once(cases[i].settings, &met);
        }
        T_CASE("%s", cases[i].settings);
        expect_met(&met, cases[i].is_expandable);
    }
}

T_MAIN(T_TEST(both_tell_the_same))
