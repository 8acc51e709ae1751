/*
 * test_tune_rehearsals.c - searches of recordings of PyTorch: what the tables promise holds when
 * it is tried, and is the same for any number of threads.
 */
#include "plimsoll/load.h"
#include "plimsoll/replay.h"

#include "story.h"
#include "tuning.h"

#include <string.h>

#define FOLDER "tests/data/rehearsals/"

static const char *const files[] = {
    FOLDER "bug-fragmented.pickle.zst",  FOLDER "ddp-zero-of-8.pickle.zst",
    FOLDER "gpt2-124m-oom.pickle.zst",   FOLDER "generate-oom.pickle.zst",
    FOLDER "unet-expandable.pickle.zst",
};

static plim_history *load(const char *path)
{
    plim_history *history = NULL;
    plim_error err = { .message = "" };
    if (plim_history_load(path, NULL, &history, &err) != PLIM_OK) {
        fail_msg("%s: %s", path, err.message);
    }
    return history;
}

static void check(const plim_replay *replay, uint64_t capacity_bytes)
{
    plim_tune_options options = { .capacity_bytes = capacity_bytes, .threads = 1 };
    plim_tuning *const tuning = tuning_of(replay, &options);
    tuning_check(replay, tuning);
    options.threads = 3;
    plim_tuning *const again = tuning_of(replay, &options);
    tuning_expect_same(tuning, again);
    const plim_tune_row *const best = &tuning->rows[tuning->best];
    const plim_tune_row *const baseline = &tuning->rows[tuning->baseline];
    T_TRUE(best->is_recorded ||
           tuning_cost(best, best->min_capacity_bytes) <
               tuning_cost(baseline, baseline->min_capacity_bytes) ||
           best->result.survives > baseline->result.survives);
    plim_tuning_destroy(again);
    plim_tuning_destroy(tuning);
}

static void tables_of_recordings_hold(void)
{
    for (size_t i = 0; i < T_COUNT(files); i++) {
        plim_history *const history = load(files[i]);
        plim_replay *const replay = tuning_replay(history);
        const plim_replay_facts *const facts = plim_replay_device(replay, 0);
        check(replay, PLIM_UNLIMITED);
        check(replay, facts->floor_bytes * 9 / 8);
        if (facts->capacity_bytes != 0) {
            check(replay, facts->capacity_bytes);
        }
        plim_replay_destroy(replay);
        plim_history_destroy(history);
    }
}

/* The rehearsal of a program that breaks its memory up: its own settings need 788 MiB where 514
 * are live, and some settings need much less. */
static void a_fragmented_run_is_saved(void)
{
    plim_history *const history = load(files[0]);
    plim_replay *const replay = tuning_replay(history);
    const plim_tune_options options = { .capacity_bytes = 640 * MIB };
    plim_tuning *const tuning = tuning_of(replay, &options);
    T_TRUE(tuning->is_saved);
    T_FALSE(tuning->rows[tuning->baseline].result.survives);
    T_TRUE(tuning->rows[tuning->best].result.survives);
    T_TRUE(tuning->rows[tuning->best].min_capacity_bytes <
           tuning->rows[tuning->baseline].min_capacity_bytes * 3 / 4);
    plim_tuning_destroy(tuning);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(tables_of_recordings_hold), T_TEST(a_fragmented_run_is_saved))
