/*
 * bench_tune_speed.c - how long a search takes: a made-up history of a million events, on a device
 * where it runs out of memory, over all settings that the search thinks of.
 *
 * The device has what the program holds at its peak and three quarters of what the allocator
 * wastes on top: so the settings differ in whether they survive. One line of JSON; `runs` is how
 * often the history was run in all.
 *
 *   bench_tune_speed [--quick] [--kind KIND] [--events N] [--seed N] [--threads N]
 */
#include "plimsoll/replay.h"
#include "traces/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench {
    plim_trace_spec spec;
    uint64_t threads;
} bench;

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(plim_status status, const plim_error *err)
{
    if (status != PLIM_OK) {
        fprintf(stderr, "tune_speed: %s\n", err->message);
        exit(1);
    }
}

static bool read_arguments(int argc, char **argv, bench *it)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            it->spec.events = 20000;
        } else if (i + 1 < argc && strcmp(argv[i], "--events") == 0) {
            it->spec.events = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            it->spec.seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--threads") == 0) {
            it->threads = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 >= argc || strcmp(argv[i], "--kind") != 0 ||
                   !plim_trace_kind_find(argv[++i], &it->spec.kind)) {
            return false;
        }
    }
    return true;
}

static void print(const bench *it, const plim_trace_outcome *outcome, const plim_tuning *found,
                  const double seconds[2])
{
    const plim_tune_row *const best = &found->rows[found->best];
    printf(
        "{\"bench\":\"tune_speed\",\"trace\":\"%s\",\"seed\":%" PRIu64 ",\"events\":%" PRIu64
        ",\"generated\":true,\"threads\":%" PRIu64
        ",\"create_s\":%.3f,\"tune_s\":%.3f,\"settings\":%zu,\"runs\":%" PRIu64
        ",\"events_per_s\":%.0f,\"saved\":%s,\"best\":\"%s\",\"best_min_capacity_bytes\":%" PRIu64
        ",\"recorded_min_capacity_bytes\":%" PRIu64 ",\"floor_bytes\":%" PRIu64 "}\n",
        plim_trace_kind_name(it->spec.kind), it->spec.seed, outcome->events, it->threads,
        seconds[0], seconds[1], found->row_count, found->runs,
        (double)found->runs * (double)outcome->events / seconds[1],
        found->is_saved ? "true" : "false", best->conf.text, best->min_capacity_bytes,
        found->rows[found->recorded].min_capacity_bytes, found->floor_bytes);
}

int main(int argc, char **argv)
{
    bench it = { .spec = { .kind = PLIM_TRACE_TRAINING, .seed = 1, .events = 1000000 },
                 .threads = 2 };
    if (!read_arguments(argc, argv, &it)) {
        fprintf(stderr, "usage: bench_tune_speed [--quick] [--kind KIND] [--events N] [--seed N] "
                        "[--threads N]\n");
        return 2;
    }
    plim_error err;
    plim_history *history = NULL;
    plim_trace_outcome outcome;
    plim_replay *replay = NULL;
    plim_tuning *found = NULL;
    double seconds[2];
    const plim_replay_options options = { .device = 0 };
    check(plim_trace_make(&it.spec, &history, &outcome, &err), &err);
    double begun = now_s();
    check(plim_replay_create(history, &options, &replay, &err), &err);
    seconds[0] = now_s() - begun;
    const plim_tune_options tune = {
        .capacity_bytes = outcome.peak_allocated_bytes +
                          (outcome.peak_reserved_bytes - outcome.peak_allocated_bytes) / 4 * 3,
        .threads = (uint32_t)it.threads,
    };
    begun = now_s();
    check(plim_replay_tune(replay, &tune, &found, &err), &err);
    seconds[1] = now_s() - begun;
    print(&it, &outcome, found, seconds);
    plim_tuning_destroy(found);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
    return 0;
}
