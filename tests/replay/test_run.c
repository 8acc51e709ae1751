/*
 * test_run.c - programs run: what survives, what it takes, and what is told of it.
 *
 * Sizes are such that PyTorch's rules can be followed by hand: requests of 10 MiB and more have a
 * segment of their own size, those of 1 to 10 MiB share segments of 20 MiB.
 */
#include "replay/run/run.h"

#include "history/script.h"

#include "base/memory.h"
#include "base/units.h"
#include "replay/conf.h"
#include "replay/replay.h"

static plim_replay *prepare(const plim_history *history, const plim_mem *mem)
{
    const plim_replay_options options = { .mem = mem, .device = PLIM_ALL_DEVICES };
    plim_replay *replay = NULL;
    plim_error err;
    if (plim_replay_create(history, &options, &replay, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return replay;
}

static plim_conf conf_of(const char *text)
{
    plim_conf conf;
    T_EQ_U64(plim_conf_parse(text, &conf, NULL), PLIM_OK);
    return conf;
}

static plim_run_result run_at(const char *script, const char *conf_text, uint64_t capacity)
{
    plim_history *history = script_history(script);
    plim_replay *replay = prepare(history, NULL);
    const plim_conf conf = conf_of(conf_text);
    const plim_run_options options = { .capacity_bytes = capacity };
    plim_run_result result;
    plim_error err;
    if (plim_replay_run(replay, &conf, &options, &result, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_replay_destroy(replay);
    plim_history_destroy(history);
    return result;
}

/* 40 MiB, then 60 of which 40 could have been the first 40, had they been one range. */
#define GROWING                                               \
    "alloc 0x10000000 41943040; request 0x10000000 41943040;" \
    "complete 0x10000000 41943040; alloc 0x20000000 62914560"

static void peaks_and_calls_are_counted(void)
{
    const plim_run_result result = run_at(GROWING, "", PLIM_UNLIMITED);
    T_TRUE(result.survives);
    T_EQ_U64(result.failed_event, PLIM_NO_EVENT);
    T_EQ_U64(result.events, 4);
    T_EQ_U64(result.peak_reserved_bytes, 100 * MIB);
    T_EQ_U64(result.peak_allocated_bytes, 60 * MIB);
    T_EQ_U64(result.peak_requested_bytes, 60 * MIB);
    T_EQ_U64(result.reserved_at_peak_bytes, 100 * MIB);
    T_EQ_U64(result.driver_calls[PLIM_CALL_MEMORY_ALLOC], 2);
    T_EQ_U64(result.driver_calls[PLIM_CALL_MEMORY_FREE], 0);
    T_TRUE(result.fragmentation > 0.39 && result.fragmentation < 0.41);
    T_TRUE(result.driver_time_us > 0);
}

static void other_settings_take_other_memory(void)
{
    static const struct {
        const char *conf;
        uint64_t reserved_mib;
    } cases[] = {
        { "", 100 },
        { "expandable_segments:True", 60 },
        { "naive", 60 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%s", cases[i].conf);
        T_EQ_U64(run_at(GROWING, cases[i].conf, PLIM_UNLIMITED).peak_reserved_bytes,
                 cases[i].reserved_mib * MIB);
    }
}

static void a_small_device_makes_the_allocator_give_back(void)
{
    plim_run_result result = run_at(GROWING, "", 80 * MIB);
    T_TRUE(result.survives);
    T_EQ_U64(result.retries, 1);
    T_EQ_U64(result.driver_calls[PLIM_CALL_MEMORY_FREE], 1);
    T_EQ_U64(result.peak_reserved_bytes, 60 * MIB);
    result = run_at(GROWING, "", 58 * MIB);
    T_FALSE(result.survives);
    T_EQ_U64(result.failed_event, 3);
    T_EQ_U64(result.failed_bytes, 60 * MIB);
    T_EQ_U64(result.failed_reserved_bytes, 0); /* all of the cache went back first */
    T_FALSE(result.was_oom);
}

static void a_request_that_failed_is_tried_again(void)
{
    static const char script[] = "alloc 0x10000000 41943040; oom 62914560 2097152;"
                                 "request 0x10000000 41943040; alloc 0x20000000 20971520";
    plim_run_result result = run_at(script, "", 44040192);
    T_FALSE(result.survives);
    T_TRUE(result.was_oom);
    T_EQ_U64(result.failed_event, 1);
    T_EQ_U64(result.peak_reserved_bytes, 40 * MIB); /* of the way there */
    result = run_at(script, "", 100 * MIB);
    T_TRUE(result.survives);
    T_EQ_U64(result.ooms_survived, 1);
    T_EQ_U64(result.peak_reserved_bytes, 100 * MIB);
    T_EQ_U64(result.events, 4);
}

static void a_wait_for_another_stream_holds_memory(void)
{
    static const char apart[] = "alloc 0x10000000 41943040; request 0x10000000 41943040;"
                                "alloc 0x20000000 41943040; complete 0x10000000 41943040;"
                                "alloc 0x10000000 41943040";
    T_EQ_U64(run_at(apart, "", PLIM_UNLIMITED).peak_reserved_bytes, 80 * MIB);
    /* Out of memory, the allocator waits for it. */
    const plim_run_result result = run_at(apart, "", 60 * MIB);
    T_FALSE(result.survives);
    T_EQ_U64(result.failed_event, 4);
    T_EQ_U64(result.driver_calls[PLIM_CALL_FENCE_SYNC], 1);
}

static void an_emptied_cache_is_empty(void)
{
    static const char script[] =
        "segment 0x40000000 62914560 large; block 0x40000000 62914560 62914560 allocated;"
        "segment_alloc 0x20000000 41943040; alloc 0x20000000 41943040;"
        "request 0x20000000 41943040; complete 0x20000000 41943040;"
        "segment_free 0x20000000 41943040; snapshot 0; alloc 0x100 1; request 0x100 1;"
        "segment_alloc 0x40000000 62914560; alloc 0x40000000 62914560";
    const plim_run_result result = run_at(script, "", PLIM_UNLIMITED);
    T_EQ_U64(result.driver_calls[PLIM_CALL_MEMORY_FREE], 1);
    T_EQ_U64(result.peak_reserved_bytes, 62 * MIB);
}

static void the_cache_is_emptied_when_it_is_asked_for(void)
{
    plim_history *history = script_history(GROWING);
    plim_replay *replay = prepare(history, NULL);
    const plim_conf conf = conf_of("");
    const uint64_t before = 3;
    const plim_run_setup setup = { .conf = &conf,
                                   .capacity_bytes = PLIM_UNLIMITED,
                                   .empty_events = &before,
                                   .empty_event_count = 1 };
    plim_run_result result;
    T_EQ_U64(plim_run_program(replay->devices.items[0].asked, &setup, &result, NULL), PLIM_OK);
    T_EQ_U64(result.peak_reserved_bytes, 60 * MIB);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

/* A start of 40 MiB live in segments of 100: as recorded, and requested anew. */
static void the_start_is_planted_or_requested(void)
{
    static const char script[] =
        "segment 0x10000000 41943040 large; block 0x10000000 41943040 41943040 allocated;"
        "segment 0x20000000 62914560 large; block 0x20000000 62914560 0 free;"
        "alloc 0x20000000 62914560; request 0x20000000 62914560; complete 0x20000000 62914560";
    const plim_run_result restored = run_at(script, "", PLIM_UNLIMITED);
    T_EQ_U64(restored.peak_reserved_bytes, 100 * MIB);
    T_EQ_U64(restored.driver_calls[PLIM_CALL_MEMORY_ALLOC], 0);
    const plim_run_result requested = run_at(script, "roundup_power2_divisions:2", PLIM_UNLIMITED);
    T_EQ_U64(requested.driver_calls[PLIM_CALL_MEMORY_ALLOC], 1);
}

/* 40 MiB live and 100 MiB of cache in two segments: an allocator on a smaller device would have
 * given the cache back, the larger segment first. */
static void cache_at_the_start_makes_room(void)
{
    static const char script[] =
        "segment 0x10000000 41943040 large; block 0x10000000 41943040 41943040 allocated;"
        "segment 0x20000000 62914560 large; block 0x20000000 62914560 0 free;"
        "segment 0x30000000 41943040 large; block 0x30000000 41943040 0 free;"
        "alloc 0x30000000 41943040; request 0x30000000 41943040; complete 0x30000000 41943040";
    static const struct {
        uint64_t capacity_mib;
        uint64_t released_mib;
        uint64_t peak_mib;
        uint64_t mallocs;
    } cases[] = {
        { 200, 0, 140, 0 }, { 140, 0, 140, 0 }, { 100, 60, 80, 0 },
        { 80, 60, 80, 0 },  { 60, 100, 40, 1 }, /* what is requested finds no cache, and no room */
        { 40, 100, 40, 1 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("%d MiB", (int)cases[i].capacity_mib);
        const plim_run_result result = run_at(script, "", cases[i].capacity_mib * MIB);
        T_EQ_U64(result.survives, cases[i].capacity_mib >= 80);
        T_EQ_U64(result.start_released_bytes, cases[i].released_mib * MIB);
        T_EQ_U64(result.peak_reserved_bytes, cases[i].peak_mib * MIB);
        T_TRUE(result.driver_calls[PLIM_CALL_MEMORY_ALLOC] >= cases[i].mallocs);
    }
    T_EQ_U64(run_at(script, "", PLIM_UNLIMITED).start_released_bytes, 0);
}

static void a_start_that_does_not_fit_is_said(void)
{
    plim_history *history = script_history(
        "segment 0x10000000 41943040 large; block 0x10000000 41943040 41943040 allocated;"
        "alloc 0x100 1");
    plim_replay *replay = prepare(history, NULL);
    const plim_run_options options = { .capacity_bytes = 20 * MIB };
    static const char *const confs[] = { "", "expandable_segments:True" };
    for (size_t i = 0; i < T_COUNT(confs); i++) {
        const plim_conf conf = conf_of(confs[i]);
        plim_run_result result = { .device = 7 };
        plim_error err;
        T_EQ_U64(plim_replay_run(replay, &conf, &options, &result, &err),
                 PLIM_OUT_OF_DEVICE_MEMORY);
        T_NOT_NULL(strstr(err.message, "40.0 MiB"));
        T_NOT_NULL(strstr(err.message, "20.0 MiB"));
        T_EQ_U64(result.device, 7);
    }
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

static void devices_run_apart(void)
{
    plim_history *history =
        script_history("alloc 0 41943040; device 1; alloc 0 62914560; request 0 62914560;"
                       "device 2; snapshot 0");
    plim_replay *replay = prepare(history, NULL);
    T_EQ_U64(plim_replay_device_count(replay), 2);
    plim_run_result results[2];
    const plim_conf conf = conf_of("");
    const plim_run_options options = { .capacity_bytes = 50 * MIB };
    T_EQ_U64(plim_replay_run(replay, &conf, &options, results, NULL), PLIM_OK);
    T_TRUE(results[0].survives);
    T_FALSE(results[1].survives);
    T_EQ_I64(results[1].device, 1);
    plim_replay_destroy(replay);
    const plim_replay_options nowhere = { .device = 2 };
    T_EQ_U64(plim_replay_create(history, &nowhere, &replay, NULL), PLIM_UNSUPPORTED);
    plim_history_destroy(history);
}

/* A fraction is of the whole device, not only what others left of it. */
static void fractions_are_of_the_whole_device(void)
{
    plim_history *history = script_history("alloc 0 41943040; alloc 0x10000000 41943040");
    plim_replay *replay = prepare(history, NULL);
    const plim_conf conf = conf_of("per_process_memory_fraction:0.5");
    plim_run_options options = { .capacity_bytes = 100 * MIB };
    plim_run_result result;
    T_EQ_U64(plim_replay_run(replay, &conf, &options, &result, NULL), PLIM_OK);
    T_FALSE(result.survives);
    options.total_bytes = 200 * MIB;
    T_EQ_U64(plim_replay_run(replay, &conf, &options, &result, NULL), PLIM_OK);
    T_TRUE(result.survives);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

/* --- watching --- */

typedef struct watcher {
    uint64_t ops;
    uint64_t events;
    uint64_t stop_at;
    bool has_ended;
} watcher;

static bool watch_op(void *ctx, uint64_t op)
{
    watcher *w = ctx;
    w->ops += op != PLIM_NO_OP;
    return w->stop_at == 0 || w->ops < w->stop_at;
}

static void watch_event(void *ctx, const plim_event *event)
{
    (void)event;
    watcher *w = ctx;
    w->events++;
}

static plim_status watch_end(void *ctx, plim_allocator *allocator, plim_error *err)
{
    watcher *w = ctx;
    w->has_ended = true;
    return plim_allocator_check(allocator, err);
}

static void who_watches_sees_one_run_and_can_stop_it(void)
{
    plim_history *history = script_history(GROWING);
    plim_replay *replay = prepare(history, NULL);
    const plim_conf conf = conf_of("");
    watcher w = { .stop_at = 0 };
    const plim_run_listener listener = {
        .op = watch_op, .event = watch_event, .end = watch_end, .ctx = &w
    };
    const plim_run_setup setup = { .conf = &conf,
                                   .capacity_bytes = PLIM_UNLIMITED,
                                   .listener = &listener };
    plim_run_result result;
    T_EQ_U64(plim_run_program(replay->devices.items[0].asked, &setup, &result, NULL), PLIM_OK);
    T_EQ_U64(w.ops, 3);
    T_EQ_U64(w.events, 6); /* two segments, two blocks, two halves of a free */
    T_TRUE(w.has_ended);
    w = (watcher){ .stop_at = 2 };
    T_EQ_U64(plim_run_program(replay->devices.items[0].asked, &setup, &result, NULL),
             PLIM_CANCELLED);
    T_FALSE(w.has_ended);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

static bool refuse(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *const calls = ctx;
    T_TRUE(done <= total);
    (*calls)++;
    return false;
}

static void progress_can_stop_a_run(void)
{
    plim_history *history = script_history(GROWING);
    plim_replay *replay = prepare(history, NULL);
    const plim_conf conf = conf_of("");
    uint64_t calls = 0;
    const plim_run_options options = { .capacity_bytes = PLIM_UNLIMITED,
                                       .progress = refuse,
                                       .progress_ctx = &calls };
    plim_run_result result;
    T_EQ_U64(plim_replay_run(replay, &conf, &options, &result, NULL), PLIM_CANCELLED);
    T_EQ_U64(calls, 1);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(peaks_and_calls_are_counted), T_TEST(other_settings_take_other_memory),
       T_TEST(a_small_device_makes_the_allocator_give_back),
       T_TEST(a_request_that_failed_is_tried_again), T_TEST(a_wait_for_another_stream_holds_memory),
       T_TEST(an_emptied_cache_is_empty), T_TEST(the_cache_is_emptied_when_it_is_asked_for),
       T_TEST(the_start_is_planted_or_requested), T_TEST(cache_at_the_start_makes_room),
       T_TEST(a_start_that_does_not_fit_is_said), T_TEST(devices_run_apart),
       T_TEST(fractions_are_of_the_whole_device), T_TEST(who_watches_sees_one_run_and_can_stop_it),
       T_TEST(progress_can_stop_a_run))
