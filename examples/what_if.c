/*
 * what_if.c - what other settings would have made of a run: load, compare, run again, search.
 *
 *     cc what_if.c $(pkg-config --cflags --libs plimsoll) && ./a.out snapshot.pickle
 *
 * Ctrl-C ends the search early: the callback that tells how far it is also says whether to go on.
 */
#include <plimsoll/load.h>
#include <plimsoll/replay.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define CONF "expandable_segments:True"
#define MIB  ((uint64_t)1 << 20)

static volatile sig_atomic_t was_interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    was_interrupted = 1;
}

/* The search calls this from whichever of its threads made a run, from one at a time. */
static bool go_on(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *ret_runs = ctx;
    (void)total;
    *ret_runs = done;
    return was_interrupted == 0;
}

static plim_status no_memory(plim_error *err)
{
    err->status = PLIM_OUT_OF_HOST_MEMORY;
    snprintf(err->message, sizeof err->message, "no memory for the results");
    return PLIM_OUT_OF_HOST_MEMORY;
}

/* How well a replay under the recorded settings agrees with the recording: how far to believe
 * what follows. */
static plim_status compare(const plim_replay *replay, plim_error *err)
{
    const size_t count = plim_replay_device_count(replay);
    const plim_run_options options = { .capacity_bytes = PLIM_UNLIMITED };
    plim_fidelity *found = calloc(count, sizeof *found);
    if (found == NULL) {
        return no_memory(err);
    }
    const plim_status status = plim_replay_verify(replay, &options, found, err);
    for (size_t i = 0; status == PLIM_OK && i < count; i++) {
        printf("GPU %" PRId32 ": %" PRIu64 " of %" PRIu64 " driver calls predicted\n",
               found[i].device, found[i].segment_events_matched, found[i].segment_events_recorded);
    }
    free(found);
    return status;
}

/* One run under settings of our choice, on a device that has whatever is requested. */
static plim_status run_under(const plim_replay *replay, const char *text, plim_error *err)
{
    const size_t count = plim_replay_device_count(replay);
    const plim_run_options options = { .capacity_bytes = PLIM_UNLIMITED };
    plim_conf conf;
    plim_status status = plim_conf_parse(text, &conf, err);
    plim_run_result *results = calloc(count, sizeof *results);
    if (status == PLIM_OK && results == NULL) {
        status = no_memory(err);
    }
    if (status == PLIM_OK) {
        status = plim_replay_run(replay, &conf, &options, results, err);
    }
    for (size_t i = 0; status == PLIM_OK && i < count; i++) {
        const plim_replay_facts *facts = plim_replay_device(replay, i);
        printf("GPU %" PRId32 " under %s: %" PRIu64 " MiB reserved at most; recorded: %" PRIu64
               " MiB\n",
               results[i].device, text, results[i].peak_reserved_bytes / MIB,
               facts->recorded_peak_reserved_bytes / MIB);
    }
    free(results);
    return status;
}

/* Which settings need the smallest device? */
static plim_status search(const plim_replay *replay, plim_error *err)
{
    uint64_t runs = 0;
    const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED,
                                        .progress = go_on,
                                        .progress_ctx = &runs };
    plim_tuning *tuning = NULL;
    const plim_status status = plim_replay_tune(replay, &options, &tuning, err);
    if (status == PLIM_CANCELLED) {
        printf("interrupted after %" PRIu64 " runs\n", runs);
        return PLIM_OK;
    }
    if (status != PLIM_OK) {
        return status;
    }
    const plim_tune_row *best = &tuning->rows[tuning->best];
    const plim_tune_row *before = &tuning->rows[tuning->baseline];
    printf("best of %zu: \"%s\" needs %" PRIu64 " MiB, the recorded settings %" PRIu64
           " MiB, what is live %" PRIu64 " MiB\n",
           tuning->row_count, best->conf.text, best->min_capacity_bytes / MIB,
           before->min_capacity_bytes / MIB, tuning->floor_bytes / MIB);
    plim_tuning_destroy(tuning);
    return PLIM_OK;
}

int main(int argc, char **argv)
{
    plim_history *history = NULL;
    plim_replay *replay = NULL;
    plim_error err = { 0 };
    const plim_replay_options options = { .device = PLIM_ALL_DEVICES };
    if (argc != 2) {
        fprintf(stderr, "usage: what_if SNAPSHOT\n");
        return 2;
    }
    (void)signal(SIGINT, interrupt);
    plim_status status = plim_history_load(argv[1], NULL, &history, &err);
    if (status == PLIM_OK) {
        status = plim_replay_create(history, &options, &replay, &err);
    }
    if (status == PLIM_OK) {
        status = compare(replay, &err);
    }
    if (status == PLIM_OK) {
        status = run_under(replay, CONF, &err);
    }
    if (status == PLIM_OK) {
        status = search(replay, &err);
    }
    if (status != PLIM_OK) {
        fprintf(stderr, "what_if: %s\n", err.message);
    }
    plim_replay_destroy(replay);
    plim_history_destroy(history);
    return status == PLIM_OK ? 0 : 3;
}
