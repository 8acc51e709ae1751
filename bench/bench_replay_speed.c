/*
 * bench_replay_speed.c - how fast a history is run again: a made-up training (bench/traces) of a
 * million events, under the settings that make the allocator work hardest.
 *
 * Preparing (plim_replay_create) is timed by itself: it is done once for any number of runs. An
 * event is one of the history: an allocation is one, a free two. Runs take turns; the best and the
 * median of the rounds are shown. One line of JSON.
 *
 * Garbage collection gets a device so small that it acts, which the counted frees show.
 *
 *   bench_replay_speed [--quick] [--kind KIND] [--events N] [--seed N]
 */
#include "plimsoll/replay.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MAX = 7 };

typedef struct bench {
    plim_trace_spec spec;
    unsigned rounds;
    plim_history *history;
    plim_trace_outcome outcome;
    plim_replay *replay;
    double create_s;
} bench;

typedef struct measure {
    const char *text;
    bool is_tight; /* on a device that is hardly larger than what was reserved */
    double seconds[ROUNDS_MAX];
    plim_run_result result;
} measure;

/* Of the processor: what it takes on one core, whoever else is busy. */
static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(plim_status status, const plim_error *err)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "replay_speed: %s\n", err->message);
        exit(1);
    }
}

static void prepare(bench *it)
{
    plim_error err;
    const plim_replay_options options = { .device = 0 };
    check(plim_trace_make(&it->spec, &it->history, &it->outcome, &err), &err);
    for (unsigned round = 0; round < it->rounds; round++) {
        plim_replay_destroy(it->replay);
        const double begun = now_s();
        check(plim_replay_create(it->history, &options, &it->replay, &err), &err);
        const double taken = now_s() - begun;
        it->create_s = round == 0 || taken < it->create_s ? taken : it->create_s;
    }
}

static void run(const bench *it, measure *of, unsigned round)
{
    plim_error err;
    plim_conf conf;
    check(plim_conf_parse(of->text, &conf, &err), &err);
    const uint64_t tight = it->outcome.peak_reserved_bytes / 10 * 11 >> 21 << 21;
    const plim_run_options options = { .capacity_bytes = of->is_tight ? tight : PLIM_UNLIMITED };
    const double begun = now_s();
    check(plim_replay_run(it->replay, &conf, &options, &of->result, &err), &err);
    of->seconds[round] = now_s() - begun;
}

static int ascending(const void *a, const void *b)
{
    const double *const left = a;
    const double *const right = b;
    return (*left > *right) - (*left < *right);
}

static void print(const bench *it, measure *of, bool is_first)
{
    const plim_run_result *const result = &of->result;
    const double events = (double)result->events;
    qsort(of->seconds, it->rounds, sizeof of->seconds[0], ascending);
    printf("%s{\"conf\":\"%s\",\"events_per_s\":%.0f,\"events_per_s_median\":%.0f,"
           "\"survives\":%s,\"peak_reserved_bytes\":%" PRIu64 ",\"mallocs\":%" PRIu64
           ",\"frees\":%" PRIu64 ",\"maps\":%" PRIu64 ",\"unmaps\":%" PRIu64 "}",
           is_first ? "" : ",", of->text, events / of->seconds[0],
           events / of->seconds[it->rounds / 2], result->survives ? "true" : "false",
           result->peak_reserved_bytes, result->driver_calls[PLIM_CALL_MEMORY_ALLOC],
           result->driver_calls[PLIM_CALL_MEMORY_FREE], result->driver_calls[PLIM_CALL_MAP],
           result->driver_calls[PLIM_CALL_UNMAP]);
}

static bool read_arguments(int argc, char **argv, bench *it)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            it->spec.events = 20000;
            it->rounds = 1;
        } else if (i + 1 < argc && strcmp(argv[i], "--events") == 0) {
            it->spec.events = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            it->spec.seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 >= argc || strcmp(argv[i], "--kind") != 0 ||
                   !plim_trace_kind_find(argv[++i], &it->spec.kind)) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    bench it = { .spec = { .kind = PLIM_TRACE_TRAINING, .seed = 1, .events = 1000000 },
                 .rounds = ROUNDS_MAX };
    measure measures[] = {
        { .text = "" },
        { .text = "expandable_segments:True" },
        { .text = "max_split_size_mb:64" },
        { .text = "garbage_collection_threshold:0.7,per_process_memory_fraction:0.99",
          .is_tight = true },
    };
    const size_t count = sizeof measures / sizeof measures[0];
    if (!read_arguments(argc, argv, &it)) {
        fprintf(stderr, "usage: bench_replay_speed [--quick] [--kind KIND] [--events N] "
                        "[--seed N]\n");
        return 2;
    }
    prepare(&it);
    for (unsigned round = 0; round < it.rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            run(&it, &measures[i], round);
        }
    }
    printf("{\"bench\":\"replay_speed\",\"trace\":\"%s\",\"seed\":%" PRIu64 ",\"events\":%" PRIu64
           ",\"generated\":true,\"create_s\":%.4f,\"create_events_per_s\":%.0f,\"rounds\":%u,"
           "\"runs\":[",
           plim_trace_kind_name(it.spec.kind), it.spec.seed, it.outcome.events, it.create_s,
           (double)it.outcome.events / it.create_s, it.rounds);
    for (size_t i = 0; i < count; i++) {
        print(&it, &measures[i], i == 0);
    }
    printf("]}\n");
    plim_replay_destroy(it.replay);
    plim_history_destroy(it.history);
    return 0;
}
