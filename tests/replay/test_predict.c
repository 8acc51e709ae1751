/*
 * test_predict.c - predicted histories: those of the recorded settings say what was recorded,
 * those of others agree with the run they are of, and all of them are without contradictions.
 */
#include "harness.h"

#include "plimsoll/inspect.h"
#include "plimsoll/load.h"
#include "plimsoll/recorder.h"
#include "plimsoll/replay.h"
#include "plimsoll/snapshot.h"
#include "replay/replay.h"
#include "torch/same.h"

#include <dirent.h>
#include <unistd.h>

#define RECORDINGS "tests/data/recordings"
#define REHEARSALS "tests/data/rehearsals"
#define EVENTS_MAX 60000 /* longer recordings are told by the short ones */

static const char *const confs[] = {
    "",
    "expandable_segments:True",
    "max_split_size_mb:20",
    "roundup_power2_divisions:2",
    "naive",
    "bfc",
    "async",
    "async,release_threshold:1GiB",
    "arena",
    "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9",
};

/* --- files --- */

static bool has_requests(const plim_history *history)
{
    uint64_t events = 0;
    bool has_any = false;
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_events *of_device = &plim_history_device(history, i)->events;
        events += of_device->count;
        has_any = has_any || (of_device->count > 0 &&
                              memchr(of_device->action, PLIM_ALLOC, of_device->count) != NULL);
    }
    return has_any && events <= EVENTS_MAX;
}

static void each_file_of(const char *folder, void (*check)(const plim_history *history))
{
    DIR *directory = opendir(folder);
    T_NOT_NULL(directory);
    uint64_t seen = 0;
    uint64_t left_out = 0;
    for (const struct dirent *entry = NULL; (entry = readdir(directory)) != NULL;) {
        if (strstr(entry->d_name, ".pickle") == NULL) {
            continue;
        }
        if (seen++ % t_share() != 0) {
            left_out++;
            continue;
        }
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        plim_history *history = NULL;
        plim_error err = { .status = PLIM_OK };
        if (plim_history_load(path, NULL, &history, &err) != PLIM_OK) {
            fail_msg("%s: %s", path, err.message);
        }
        T_CASE("%.120s", entry->d_name);
        if (has_requests(history)) {
            check(history);
        }
        plim_history_destroy(history);
    }
    (void)closedir(directory);
    if (left_out > 0) {
        print_message("%" PRIu64 " of %" PRIu64 " files are left out: PLIM_TEST_SHARE\n", left_out,
                      seen);
    }
}

/* Of other people's programs, torn and all: who has some says where. */
static void each_file_of_others(void (*check)(const plim_history *history))
{
    const char *const folder = t_snapshot_dir();
    if (folder != NULL) {
        each_file_of(folder, check);
    }
}

static void each_file(void (*check)(const plim_history *history))
{
    each_file_of(RECORDINGS, check);
    each_file_of(REHEARSALS, check);
    each_file_of_others(check);
}

static plim_replay *prepared(const plim_history *history, const plim_mem *mem)
{
    const plim_replay_options options = { .mem = mem, .device = PLIM_ALL_DEVICES };
    plim_replay *replay = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_replay_create(history, &options, &replay, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return replay;
}

static plim_history *predicted(const plim_replay *replay, const plim_conf *conf,
                               uint64_t capacity_bytes)
{
    const plim_run_options options = { .capacity_bytes = capacity_bytes };
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_replay_predict(replay, conf, &options, &history, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return history;
}

static plim_conf conf_of(const char *text)
{
    plim_conf conf;
    T_EQ_U64(plim_conf_parse(text, &conf, NULL), PLIM_OK);
    return conf;
}

/* --- without contradictions --- */

/* What says that a history contradicts itself. What was true of the recording's requests (its
 * clock, what follows an oom) is true of the prediction too. */
static bool is_contradiction(size_t anomaly)
{
    return anomaly != PLIM_ANOMALY_TIME_BACKWARDS && anomaly != PLIM_ANOMALY_AFTER_OOM &&
           anomaly != PLIM_ANOMALY_UNKNOWN_ACTION;
}

static uint64_t contradictions(const plim_history *history)
{
    plim_inspection *inspection = NULL;
    T_EQ_U64(plim_inspect(history, NULL, &inspection, NULL), PLIM_OK);
    uint64_t times = 0;
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        times +=
            is_contradiction(i) ? plim_inspection_anomaly_count(inspection, (plim_anomaly)i) : 0;
    }
    plim_inspection_destroy(inspection);
    return times;
}

static plim_inspection *inspected(const plim_history *history)
{
    plim_inspection *inspection = NULL;
    T_EQ_U64(plim_inspect(history, NULL, &inspection, NULL), PLIM_OK);
    for (size_t i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        const uint64_t times = plim_inspection_anomaly_count(inspection, (plim_anomaly)i);
        if (is_contradiction(i) && times != 0) {
            fail_msg("%" PRIu64 " times %s", times, plim_anomaly_text((plim_anomaly)i));
        }
    }
    return inspection;
}

/* A folder's file; the caller frees nothing. */
static const char *path_in_tmp(const char *name)
{
    static char path[256];
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/plim-predict-%ld-%s", folder == NULL ? "/tmp" : folder,
                   (long)getpid(), name);
    return path;
}

static void expect_same_in_file(const plim_history *history, const char *path)
{
    plim_history *again = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_history_load(path, NULL, &again, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    char difference[1024];
    if (!same_history(history, again, difference, sizeof difference)) {
        fail_msg("%s", difference);
    }
    plim_inspection_destroy(inspected(again));
    plim_history_destroy(again);
    T_EQ_U64(unlink(path), 0);
}

static void expect_round_trips(const plim_history *history)
{
    const char *path = path_in_tmp("saved.pickle");
    /* The newest keys, so that nothing has to be left out. */
    const plim_snapshot_save_options newest = { .torch = PLIM_TORCH(2, 14) };
    T_EQ_U64(plim_snapshot_save(history, path, &newest, NULL), PLIM_OK);
    expect_same_in_file(history, path);
    path = path_in_tmp("saved.plim");
    T_EQ_U64(plim_recording_save(history, path, NULL, NULL), PLIM_OK);
    expect_same_in_file(history, path);
}

/* --- under the recorded settings --- */

static bool is_told(uint8_t action)
{
    return action <= PLIM_SEGMENT_UNMAP || action == PLIM_OOM;
}

/* What the allocator does for a request is told with the time of that. */
static bool has_own_time(uint8_t action)
{
    return action == PLIM_ALLOC || action == PLIM_FREE_REQUESTED || action == PLIM_OOM;
}

static uint64_t count_of(const plim_events *events, uint8_t action)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        count += events->action[i] == action;
    }
    return count;
}

/* Row by row: what the allocator did, and with which stack and time. */
static void expect_same_events(const plim_history *a, const plim_device_history *x,
                               const plim_history *b, const plim_device_history *y)
{
    T_EQ_U64(x->events.count, y->events.count);
    for (uint64_t i = 0; i < x->events.count; i++) {
        const bool is_equal =
            x->events.action[i] == y->events.action[i] &&
            x->events.bytes[i] == y->events.bytes[i] &&
            (x->events.addr[i] == y->events.addr[i] || x->events.action[i] == PLIM_OOM) &&
            (!has_own_time(x->events.action[i]) || x->events.time_us[i] == y->events.time_us[i]) &&
            plim_history_stream(a, x->events.stream[i]) ==
                plim_history_stream(b, y->events.stream[i]);
        if (is_told(x->events.action[i]) && !is_equal) {
            fail_msg("event %" PRIu64 ": %s of %" PRIu64 " at 0x%" PRIx64 ", not %s of %" PRIu64
                     " at 0x%" PRIx64,
                     i, plim_history_action_name(b, y->events.action[i]), y->events.bytes[i],
                     y->events.addr[i], plim_history_action_name(a, x->events.action[i]),
                     x->events.bytes[i], x->events.addr[i]);
        }
    }
}

static const plim_device_history *device_of(const plim_history *history, int32_t device)
{
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        if (plim_history_device(history, i)->device == device) {
            return plim_history_device(history, i);
        }
    }
    fail_msg("there is no device %d", (int)device);
    return NULL;
}

static void expect_same_end(const plim_device_history *x, const plim_device_history *y)
{
    T_EQ_U64(x->segment_count, y->segment_count);
    for (uint64_t i = 0; i < x->segment_count; i++) {
        T_EQ_U64(x->segments[i].addr, y->segments[i].addr);
        T_EQ_U64(x->segments[i].bytes, y->segments[i].bytes);
        T_EQ_U64(x->segments[i].is_large, y->segments[i].is_large);
    }
    T_EQ_U64(x->block_count, y->block_count);
    for (uint64_t i = 0; i < x->block_count; i++) {
        T_EQ_U64(x->blocks[i].addr, y->blocks[i].addr);
        T_EQ_U64(x->blocks[i].bytes, y->blocks[i].bytes);
        T_EQ_U64(x->blocks[i].state, y->blocks[i].state);
        if (x->blocks[i].state != PLIM_BLOCK_INACTIVE) {
            T_EQ_U64(x->blocks[i].requested_bytes, y->blocks[i].requested_bytes);
            T_EQ_U64(x->blocks[i].stack, y->blocks[i].stack);
        }
    }
}

static size_t exact_devices;

/* Where a replay makes every driver call and places every request as recorded. */
static bool is_exact(const plim_fidelity *fidelity)
{
    uint64_t caveats = 0;
    for (size_t i = 0; i < PLIM_CAVEAT_COUNT; i++) {
        caveats += fidelity->caveats[i];
    }
    return caveats == 0 && fidelity->diverges_at_event == PLIM_NO_EVENT &&
           fidelity->placements == fidelity->placements_matched;
}

static uint64_t known_capacity(const plim_replay *replay)
{
    uint64_t most = 0;
    for (size_t i = 0; i < plim_replay_device_count(replay); i++) {
        const plim_replay_facts *facts = plim_replay_device(replay, i);
        if (facts->capacity_source == PLIM_CAPACITY_UNKNOWN) {
            return PLIM_UNLIMITED;
        }
        most = facts->capacity_bytes > most ? facts->capacity_bytes : most;
    }
    return most;
}

static void check_recorded_settings(const plim_history *history)
{
    const bool is_sound = contradictions(history) == 0;
    plim_replay *replay = prepared(history, NULL);
    const plim_run_options options = { .capacity_bytes = known_capacity(replay) };
    plim_fidelity fidelity[16];
    T_TRUE(plim_replay_device_count(replay) <= T_COUNT(fidelity));
    T_EQ_U64(plim_replay_verify(replay, &options, fidelity, NULL), PLIM_OK);
    const plim_conf conf = plim_replay_device(replay, 0)->conf;
    plim_history *prediction = predicted(replay, &conf, options.capacity_bytes);
    plim_inspection_destroy(inspected(prediction));
    for (size_t i = 0; i < plim_replay_device_count(replay); i++) {
        const int32_t device = plim_replay_device(replay, i)->device;
        if (is_exact(&fidelity[i])) {
            exact_devices++;
            expect_same_events(history, device_of(history, device), prediction,
                               device_of(prediction, device));
            if (is_sound) { /* else the end is that of another moment */
                expect_same_end(device_of(history, device), device_of(prediction, device));
            }
        }
    }
    expect_round_trips(prediction);
    plim_history_destroy(prediction);
    plim_replay_destroy(replay);
}

static void the_recorded_settings_predict_what_was_recorded(void)
{
    exact_devices = 0;
    each_file(check_recorded_settings);
    print_message("%zu devices are told event by event\n", exact_devices);
    T_TRUE(exact_devices > 0);
}

/* --- under others --- */

static void expect_agreement(const plim_inspection *inspection, const plim_history *prediction,
                             const plim_run_result *result)
{
    const plim_device_history *device = device_of(prediction, result->device);
    const plim_device_inspection *facts = NULL;
    for (size_t i = 0; i < plim_inspection_device_count(inspection); i++) {
        const plim_device_inspection *row = plim_inspection_device(inspection, i);
        facts = row->device == result->device ? row : facts;
    }
    T_NOT_NULL(facts);
    uint64_t reserved_max = 0;
    for (size_t i = 0; i < facts->timeline_count; i++) {
        const uint64_t bin = facts->timeline[i].reserved_bytes_max;
        reserved_max = bin > reserved_max ? bin : reserved_max;
    }
    /* Of requests that failed inside of the run only the way to them is in the result. */
    if (result->failed_event == PLIM_NO_EVENT) {
        T_EQ_U64(reserved_max, result->peak_reserved_bytes);
        T_EQ_U64(facts->end.reserved_bytes, result->end_reserved_bytes);
        T_EQ_U64(count_of(&device->events, PLIM_OOM), 0);
    } else {
        T_TRUE(count_of(&device->events, PLIM_OOM) > 0);
    }
}

static void check_other_settings(const plim_history *history)
{
    plim_replay *replay = prepared(history, NULL);
    const uint64_t capacities[] = { PLIM_UNLIMITED, known_capacity(replay) };
    plim_run_result results[16];
    T_TRUE(plim_replay_device_count(replay) <= T_COUNT(results));
    for (size_t i = 0; i < 2 * T_COUNT(confs); i++) {
        const plim_conf conf = conf_of(confs[i / 2]);
        const plim_run_options options = { .capacity_bytes = capacities[i % 2] };
        plim_error err = { .status = PLIM_OK };
        if (plim_replay_run(replay, &conf, &options, results, &err) != PLIM_OK) {
            T_EQ_U64(err.status, PLIM_OUT_OF_DEVICE_MEMORY); /* not even the start fits */
            plim_history *none = NULL;
            T_EQ_U64(plim_replay_predict(replay, &conf, &options, &none, NULL), err.status);
            T_NULL(none);
            continue;
        }
        plim_history *prediction = predicted(replay, &conf, options.capacity_bytes);
        plim_inspection *inspection = inspected(prediction);
        for (size_t j = 0; j < plim_replay_device_count(replay); j++) {
            expect_agreement(inspection, prediction, &results[j]);
        }
        plim_inspection_destroy(inspection);
        plim_history_destroy(prediction);
    }
    plim_replay_destroy(replay);
}

static void other_settings_predict_what_the_run_says(void)
{
    each_file_of(RECORDINGS, check_other_settings);
    each_file_of_others(check_other_settings);
}

/* --- a part, and other sizes --- */

static void check_options(const plim_history *history, const plim_replay_options *options)
{
    plim_replay *replay = NULL;
    const plim_status status = plim_replay_create(history, options, &replay, NULL);
    if (status != PLIM_OK) {
        T_EQ_U64(status, PLIM_INVALID_ARGUMENT); /* a device without events there */
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        const plim_conf other = conf_of("expandable_segments:True");
        const plim_conf conf = i == 0 ? plim_replay_device(replay, 0)->conf : other;
        plim_history *prediction = predicted(replay, &conf, PLIM_UNLIMITED);
        plim_inspection_destroy(inspected(prediction));
        plim_history_destroy(prediction);
    }
    plim_replay_destroy(replay);
}

static void check_parts(const plim_history *history)
{
    const uint64_t events = plim_history_device(history, 0)->events.count;
    const plim_scale scale = { .what = "all", .factor = 1.7 };
    const plim_replay_options cases[] = {
        { .device = PLIM_ALL_DEVICES, .from_event = events / 3 },
        { .device = PLIM_ALL_DEVICES, .to_event = events / 2 + 1 },
        { .device = PLIM_ALL_DEVICES, .from_event = events / 5, .to_event = events / 2 + 1 },
        { .device = PLIM_ALL_DEVICES, .scales = &scale, .scale_count = 1 },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        check_options(history, &cases[i]);
    }
}

static void parts_and_scaled_requests_can_be_predicted(void)
{
    each_file(check_parts);
}

/* --- what a prediction keeps --- */

static void check_again(const plim_history *history)
{
    const plim_conf conf = conf_of("expandable_segments:True,max_split_size_mb:64");
    plim_replay *replay = prepared(history, NULL);
    plim_history *prediction = predicted(replay, &conf, PLIM_UNLIMITED);
    const plim_source source = plim_history_source(prediction);
    T_EQ_STR(source.format, "replay");
    uint64_t wanted = 0;
    uint64_t found = 0;
    (void)plim_history_annotations(history, &wanted);
    (void)plim_history_annotations(prediction, &found);
    T_EQ_U64(wanted, found);
    /* Predicted again under its own settings, it comes out the same. */
    plim_replay *second = prepared(prediction, NULL);
    for (size_t i = 0; i < plim_replay_device_count(second); i++) {
        const plim_replay_facts *facts = plim_replay_device(second, i);
        T_EQ_STR(facts->conf.text, "max_split_size_mb:64,expandable_segments:True");
        /* Requests that failed were served. */
        const plim_device_history *recorded = device_of(history, facts->device);
        T_EQ_U64(facts->requests,
                 plim_replay_device(replay, i)->requests + count_of(&recorded->events, PLIM_OOM));
        T_EQ_U64(facts->floor_bytes, plim_replay_device(replay, i)->floor_bytes);
    }
    plim_replay_destroy(second);
    plim_history_destroy(prediction);
    plim_replay_destroy(replay);
}

static void a_prediction_keeps_the_program_and_names_its_settings(void)
{
    each_file_of(RECORDINGS, check_again);
}

/* --- failures --- */

typedef struct failing {
    const plim_history *history;
    plim_conf conf;
} failing;

static void attempt_prediction(const plim_mem *mem, const failing *what, plim_status *ret_status)
{
    const plim_replay_options options = { .mem = mem, .device = PLIM_ALL_DEVICES };
    plim_replay *replay = NULL;
    plim_error err = { .status = PLIM_OK };
    plim_history *prediction = NULL;
    *ret_status = plim_replay_create(what->history, &options, &replay, &err);
    if (*ret_status == PLIM_OK) {
        const plim_run_options run = { .capacity_bytes = PLIM_UNLIMITED };
        *ret_status = plim_replay_predict(replay, &what->conf, &run, &prediction, &err);
        T_EQ_U64(*ret_status == PLIM_OK, prediction != NULL);
    }
    if (*ret_status != PLIM_OK) {
        T_EQ_U64(*ret_status, PLIM_OUT_OF_HOST_MEMORY);
        T_EQ_U64(err.status, PLIM_OUT_OF_HOST_MEMORY);
    } else {
        plim_inspection_destroy(inspected(prediction));
    }
    plim_history_destroy(prediction);
    plim_replay_destroy(replay);
}

/* Not as t_fail_each_allocation(): an allocator without memory for a shortcut goes without it. */
static void every_failing_allocation_is_survived(void)
{
    static const char *const files[] = { RECORDINGS "/streams.pickle",
                                         RECORDINGS "/two_devices.pickle.gz" };
    for (size_t i = 0; i < T_COUNT(files); i++) {
        plim_history *history = NULL;
        T_EQ_U64(plim_history_load(files[i], NULL, &history, NULL), PLIM_OK);
        const failing what = { history, conf_of(i == 0 ? "" : "expandable_segments:True") };
        bool has_failed = true;
        for (uint64_t n = 1; has_failed; n++) {
            T_CASE("%s, allocation %" PRIu64, files[i], n);
            t_mem heap;
            t_mem_init(&heap);
            heap.fail_at = n;
            plim_status status = PLIM_OK;
            attempt_prediction(&heap.mem, &what, &status);
            T_EQ_U64(heap.live_bytes, 0);
            has_failed = heap.failed;
            T_TRUE(has_failed || status == PLIM_OK);
        }
        plim_history_destroy(history);
    }
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    return false;
}

static void a_caller_may_stop_it(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_load(RECORDINGS "/train_gpt.pickle", NULL, &history, NULL), PLIM_OK);
    plim_replay *replay = prepared(history, NULL);
    const plim_conf conf = conf_of("");
    const plim_run_options options = { .capacity_bytes = PLIM_UNLIMITED, .progress = stop_at_once };
    plim_history *prediction = NULL;
    T_EQ_U64(plim_replay_predict(replay, &conf, &options, &prediction, NULL), PLIM_CANCELLED);
    T_NULL(prediction);
    plim_replay_destroy(replay);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(the_recorded_settings_predict_what_was_recorded),
       T_TEST(other_settings_predict_what_the_run_says),
       T_TEST(parts_and_scaled_requests_can_be_predicted),
       T_TEST(a_prediction_keeps_the_program_and_names_its_settings),
       T_TEST(every_failing_allocation_is_survived), T_TEST(a_caller_may_stop_it))
