/*
 * test_tune.c - searches whose answers can be worked out on paper.
 */
#include "base/units.h"
#include "plimsoll/replay.h"

#include "story.h"
#include "traces/trace.h"
#include "tuning.h"

#include <string.h>

typedef struct scene {
    plim_history *history;
    plim_replay *replay;
    plim_tuning *tuning;
} scene;

static scene play(void (*tell)(story *s), const plim_tune_options *options)
{
    story s;
    story_begin(&s);
    tell(&s);
    scene it = { .history = story_end(&s) };
    it.replay = tuning_replay(it.history);
    it.tuning = tuning_of(it.replay, options);
    tuning_check(it.replay, it.tuning);
    return it;
}

static void end(scene *it)
{
    plim_tuning_destroy(it->tuning);
    plim_replay_destroy(it->replay);
    plim_history_destroy(it->history);
}

static const plim_tune_row *find(const plim_tuning *tuning, const char *text)
{
    for (size_t i = 0; i < tuning->row_count; i++) {
        if (strcmp(tuning->rows[i].conf.text, text) == 0 &&
            tuning->rows[i].empty_cache == PLIM_EMPTY_NEVER) {
            return &tuning->rows[i];
        }
    }
    return NULL;
}

/* 60 out of 100 leaves 40, and 100 does not fit there: 200, where 160 is live. */
static void a_block_split_in_the_wrong_place_is_kept_whole(void)
{
    const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED };
    scene it = play(story_tell_split, &options);
    const plim_tune_row *const best = &it.tuning->rows[it.tuning->best];
    const plim_tune_row *const baseline = &it.tuning->rows[it.tuning->baseline];
    T_EQ_U64(it.tuning->floor_bytes, 160 * MIB);
    T_EQ_U64(baseline->min_capacity_bytes, 200 * MIB);
    T_FALSE(baseline->is_min_capacity_bound);
    T_EQ_U64(best->min_capacity_bytes, 160 * MIB);
    T_EQ_STR(best->conf.text, "expandable_segments:True"); /* the plainest of those that do */
    bool is_kept_whole = false;
    for (size_t i = 0; i < it.tuning->row_count; i++) {
        const plim_tune_row *const row = &it.tuning->rows[i];
        const uint64_t split_bytes = row->conf.settings.max_split_bytes;
        is_kept_whole |= !row->conf.settings.expandable_segments && split_bytes > 60 * MIB &&
                         split_bytes <= 100 * MIB && row->min_capacity_bytes == 160 * MIB;
    }
    T_TRUE(is_kept_whole);
    T_FALSE(it.tuning->is_saved); /* without a limit, both survive */
    T_FALSE(it.tuning->is_hopeless);
    T_FALSE(it.tuning->is_incomplete);
    end(&it);
}

static void what_ran_out_of_memory_is_saved(void)
{
    const plim_tune_options options = { .capacity_bytes = 180 * MIB };
    scene it = play(story_tell_split, &options);
    T_TRUE(it.tuning->is_saved);
    T_FALSE(it.tuning->rows[it.tuning->baseline].result.survives);
    T_EQ_U64(it.tuning->rows[it.tuning->baseline].min_capacity_bytes, 200 * MIB);
    T_TRUE(it.tuning->rows[it.tuning->best].result.survives);
    end(&it);
}

static void a_collector_of_garbage_gets_a_limit_to_act_under(void)
{
    const plim_tune_options options = { .capacity_bytes = 180 * MIB };
    scene it = play(story_tell_split, &options);
    size_t collecting = 0;
    for (size_t i = 0; i < it.tuning->row_count; i++) {
        const plim_settings *const settings = &it.tuning->rows[i].conf.settings;
        if (settings->garbage_collection_threshold > 0) {
            collecting++;
            T_TRUE(settings->per_process_memory_fraction < 1);
        }
    }
    T_TRUE(collecting >= 2);
    end(&it);
}

static void where_nothing_is_better_nothing_is_recommended(void)
{
    static const uint64_t capacities[] = { PLIM_UNLIMITED, 500 * MIB, 128 * MIB };
    for (size_t i = 0; i < T_COUNT(capacities); i++) {
        const plim_tune_options options = { .capacity_bytes = capacities[i] };
        scene it = play(story_tell_even, &options);
        T_EQ_U64(it.tuning->best, it.tuning->baseline);
        T_EQ_U64(it.tuning->recorded, it.tuning->baseline);
        T_EQ_U64(it.tuning->rows[0].min_capacity_bytes, 128 * MIB);
        T_FALSE(it.tuning->is_saved);
        end(&it);
    }
}

static void below_the_floor_nobody_survives(void)
{
    const plim_tune_options options = { .capacity_bytes = 150 * MIB, .has_all_policies = true };
    scene it = play(story_tell_split, &options);
    T_TRUE(it.tuning->is_hopeless);
    T_FALSE(it.tuning->is_saved);
    for (size_t i = 0; i < it.tuning->row_count; i++) {
        T_FALSE(it.tuning->rows[i].result.survives);
        T_TRUE(it.tuning->rows[i].min_capacity_bytes >= 160 * MIB);
    }
    T_EQ_U64(it.tuning->rows[0].min_capacity_bytes, 160 * MIB); /* what needs least is on top */
    end(&it);
}

static void confs_of_the_caller_are_rows_of_their_own(void)
{
    const char *const confs[] = { "max_split_size_mb:90", "default", "roundup_power2_divisions:4" };
    const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED,
                                        .confs = confs,
                                        .conf_count = T_COUNT(confs),
                                        .only_given = true };
    scene it = play(story_tell_split, &options);
    T_EQ_U64(it.tuning->row_count, 3); /* the default is what was recorded */
    T_TRUE(it.tuning->rows[it.tuning->baseline].is_given);
    for (size_t i = 0; i < 3; i++) {
        T_TRUE(it.tuning->rows[i].is_given);
        T_FALSE(it.tuning->rows[i].is_min_capacity_bound);
    }
    T_EQ_STR(it.tuning->rows[0].conf.text, "max_split_size_mb:90");
    end(&it);
}

/* A setting holds for the process: the needs of the neediest device count. */
static void tell_two_devices(story *s)
{
    story_tell_even(s);
    story_end_device(s);
    story_tell_split(s);
}

/* Rows in the order they were given in, like or unlike, each with what its own run gives. */
static void comparisons_are_runs_side_by_side(void)
{
    const char *const confs[] = { "max_split_size_mb:90", "", "", "expandable_segments:True" };
    const plim_tune_options options = { .capacity_bytes = 180 * MIB,
                                        .confs = confs,
                                        .conf_count = T_COUNT(confs) };
    story s;
    story_begin(&s);
    tell_two_devices(&s);
    plim_history *const history = story_end(&s);
    plim_replay *const replay = tuning_replay(history);
    for (int is_quick = 0; is_quick < 2; is_quick++) {
        plim_tuning *tuning = NULL;
        T_TRUE(plim_replay_compare(replay, &options, is_quick, &tuning, NULL) == PLIM_OK);
        T_EQ_U64(tuning->row_count, T_COUNT(confs) + 1);
        for (size_t i = 0; i < tuning->row_count; i++) {
            const plim_tune_row *const row = &tuning->rows[i];
            const plim_run_options running = { .capacity_bytes = 180 * MIB };
            plim_run_result results[2];
            T_CASE("row %zu, quick %d", i, is_quick);
            T_EQ_STR(row->conf.text, i == 0 ? "" : confs[i - 1]);
            T_EQ_U64(row->is_recorded, i == 0);
            T_NULL(row->failure);
            T_TRUE(plim_replay_run(replay, &row->conf, &running, results, NULL) == PLIM_OK);
            T_EQ_MEM(row->results, results, sizeof results);
            T_EQ_U64(row->min_capacity_bytes == 0, is_quick);
        }
        T_EQ_U64(tuning->rows[0].min_capacity_bytes, is_quick ? 0 : 200 * MIB);
        T_EQ_U64(tuning->rows[3].min_capacity_bytes, tuning->rows[0].min_capacity_bytes);
        T_EQ_U64(tuning->rows[4].min_capacity_bytes, is_quick ? 0 : 160 * MIB);
        T_TRUE(is_quick ? tuning->runs == 5 : tuning->runs > 5);
        plim_tuning_destroy(tuning);
    }
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

static void a_conf_that_does_not_parse_is_an_error(void)
{
    story s;
    story_begin(&s);
    story_tell_even(&s);
    plim_history *const history = story_end(&s);
    plim_replay *const replay = tuning_replay(history);
    const char *const confs[] = { "max_split_size_mb:3" };
    const plim_tune_options options = { .confs = confs, .conf_count = 1 };
    plim_tuning *tuning = NULL;
    plim_error err = { .message = "" };
    T_TRUE(plim_replay_tune(replay, &options, &tuning, &err) == PLIM_INVALID_ARGUMENT);
    T_NULL(tuning);
    T_TRUE(strstr(err.message, "max_split_size_mb") != NULL);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

static void other_allocators_are_shown_and_never_win(void)
{
    const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED,
                                        .has_all_policies = true };
    scene it = play(story_tell_even, &options);
    const plim_tune_row *const naive = find(it.tuning, "naive");
    T_NOT_NULL(naive);
    T_EQ_U64(naive->min_capacity_bytes, 128 * MIB);
    T_FALSE(naive->is_min_capacity_bound);
    T_TRUE(it.tuning->rows[it.tuning->best].conf.policy == PLIM_POLICY_TORCH);
    end(&it);
}

static void all_devices_survive_or_none(void)
{
    const plim_tune_options options = { .capacity_bytes = 170 * MIB };
    scene it = play(tell_two_devices, &options);
    const plim_tune_row *const baseline = &it.tuning->rows[it.tuning->baseline];
    T_EQ_U64(it.tuning->floor_bytes, 160 * MIB);
    T_FALSE(baseline->result.survives);
    T_EQ_U64(baseline->result.device, 1);
    T_EQ_U64(baseline->min_capacity_bytes, 200 * MIB);
    T_TRUE(it.tuning->is_saved);
    end(&it);
}

/* The start of a torn recording has the holes it had; no candidate can. */
static void a_start_as_recorded_is_compared_with_nothing(void)
{
    const plim_trace_spec spec = { .kind = PLIM_TRACE_VISION, .events = 6000, .keep_events = 2000 };
    scene it = { .history = NULL };
    T_TRUE(plim_trace_make(&spec, &it.history, NULL, NULL) == PLIM_OK);
    it.replay = tuning_replay(it.history);
    T_TRUE(plim_replay_device(it.replay, 0)->start_allocations > 0);
    const plim_tune_options options = { .capacity_bytes = PLIM_UNLIMITED };
    it.tuning = tuning_of(it.replay, &options);
    tuning_check(it.replay, it.tuning);
    T_TRUE(it.tuning->recorded != it.tuning->baseline);
    T_TRUE(it.tuning->recorded != it.tuning->best);
    for (size_t i = 0; i < it.tuning->row_count; i++) {
        T_EQ_U64(it.tuning->rows[i].is_start_requested, i != it.tuning->recorded);
        T_EQ_U64(it.tuning->rows[i].is_recorded,
                 i == it.tuning->recorded || i == it.tuning->baseline);
    }
    end(&it);
}

static void a_capacity_below_the_start_is_an_error(void)
{
    const plim_trace_spec spec = { .kind = PLIM_TRACE_VISION, .events = 6000, .keep_events = 2000 };
    plim_history *history = NULL;
    T_TRUE(plim_trace_make(&spec, &history, NULL, NULL) == PLIM_OK);
    plim_replay *const replay = tuning_replay(history);
    const plim_tune_options options = { .capacity_bytes = 64 * MIB };
    plim_tuning *tuning = NULL;
    plim_error err = { .message = "" };
    T_TRUE(plim_replay_tune(replay, &options, &tuning, &err) == PLIM_OUT_OF_DEVICE_MEMORY);
    T_TRUE(strlen(err.message) > 0);
    T_NULL(tuning);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(a_block_split_in_the_wrong_place_is_kept_whole),
       T_TEST(what_ran_out_of_memory_is_saved),
       T_TEST(a_collector_of_garbage_gets_a_limit_to_act_under),
       T_TEST(where_nothing_is_better_nothing_is_recommended),
       T_TEST(below_the_floor_nobody_survives), T_TEST(confs_of_the_caller_are_rows_of_their_own),
       T_TEST(comparisons_are_runs_side_by_side), T_TEST(a_conf_that_does_not_parse_is_an_error),
       T_TEST(other_allocators_are_shown_and_never_win), T_TEST(all_devices_survive_or_none),
       T_TEST(a_start_as_recorded_is_compared_with_nothing),
       T_TEST(a_capacity_below_the_start_is_an_error))
