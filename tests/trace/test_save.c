/*
 * test_save.c - histories as recordings: nothing is lost, and the same bytes come each time.
 */
#include "torch/same.h"
#include "trace/program.h"

#include "history/builder.h"
#include "plimsoll/snapshot.h"
#include "trace/chunk.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define RECORDINGS "tests/data/recordings"

typedef struct file_bytes {
    uint8_t *data;
    size_t count;
} file_bytes;

static file_bytes read_bytes(const char *path)
{
    struct stat about;
    file_bytes file = { 0 };
    FILE *const from = fopen(path, "rb");
    T_NOT_NULL(from);
    T_EQ_U64(fstat(fileno(from), &about), 0);
    file.count = (size_t)about.st_size;
    file.data = malloc(file.count + 1);
    T_NOT_NULL(file.data);
    T_EQ_U64(fread(file.data, 1, file.count, from), file.count);
    (void)fclose(from);
    return file;
}

static file_bytes saved(const plim_history *history, uint32_t compression)
{
    char path[256];
    plim_error err = { .status = PLIM_OK };
    const plim_recording_save_options options = { .compression = compression };
    t_path(path, sizeof path, "save.plim");
    if (plim_recording_save(history, path, &options, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    const file_bytes file = read_bytes(path);
    (void)unlink(path);
    return file;
}

static plim_history *parsed(file_bytes file)
{
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_recording_parse(file.data, file.count, NULL, &history, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return history;
}

static void expect_no_warnings(const plim_history *history)
{
    if (plim_history_warning_count(history) > 0) {
        fail_msg("%s", plim_history_warning(history, 0));
    }
}

/* Saved and loaded, the history says the same; saved again, the bytes are the same. */
static void check_round_trip(const plim_history *history, uint32_t compression)
{
    char difference[1024];
    const file_bytes first = saved(history, compression);
    plim_history *const again = parsed(first);
    if (!same_history(history, again, difference, sizeof difference)) {
        fail_msg("%s", difference);
    }
    T_EQ_U64(plim_history_device_count(history), plim_history_device_count(again));
    T_EQ_U64(plim_history_anomaly_count(again, PLIM_ANOMALY_UNKNOWN_ACTION),
             plim_history_anomaly_count(history, PLIM_ANOMALY_UNKNOWN_ACTION));
    expect_no_warnings(again);
    const file_bytes second = saved(again, compression);
    T_EQ_U64(first.count, second.count);
    T_EQ_MEM(first.data, second.data, first.count);
    plim_history_destroy(again);
    free(first.data);
    free(second.data);
}

/* --- snapshots --- */

/* Calls `check` with every snapshot of a folder; how many there were. */
static size_t each_of_folder(const char *folder, void (*check)(const plim_history *history))
{
    DIR *const entries = opendir(folder);
    size_t count = 0;
    T_NOT_NULL(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        plim_history *history = NULL;
        plim_error err = { .status = PLIM_OK };
        T_CASE("%.150s", entry->d_name);
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".pickle") == NULL) {
            continue;
        }
        if (plim_snapshot_load(path, NULL, &history, &err) != PLIM_OK) {
            fail_msg("%s", err.message);
        }
        check(history);
        plim_history_destroy(history);
        count++;
    }
    (void)closedir(entries);
    return count;
}

static void check_snapshot(const plim_history *history)
{
    check_round_trip(history, 0);
    check_round_trip(history, 3);
}

static void our_recordings_come_back(void)
{
    T_TRUE(each_of_folder(RECORDINGS, check_snapshot) >= 12);
}

static void snapshots_of_others_come_back(void)
{
    const char *const folder = t_snapshot_dir();
    if (folder == NULL) {
        T_SKIP("PLIM_SNAPSHOT_DIR names no folder of snapshots");
    }
    (void)each_of_folder(folder, check_snapshot);
}

/* --- readers that do not know the chunks a recorder does not write --- */

typedef bool chunk_test(uint16_t kind);

static bool is_extra(uint16_t kind)
{
    return kind >= PLIM_CHUNK_END_STATE;
}

/* Turns chunks into ones of a kind that nobody knows; how many. */
static size_t hide_chunks(file_bytes file, chunk_test *hides)
{
    size_t hidden = 0;
    uint8_t *at = file.data + PLIM_FILE_HEADER_BYTES;
    while (at < file.data + file.count) {
        if (hides(plim_get_u16(at + 4))) {
            plim_put_u16(at + 4, 9999);
            plim_put_u32(at + 28, (uint32_t)crc32_z(0, at, 28));
            hidden++;
        }
        at += PLIM_CHUNK_HEADER_BYTES + plim_get_u32(at + 16);
    }
    return hidden;
}

/* The next block that is not free, or NULL. */
static const plim_block *next_block(const plim_device_history *device, uint64_t *next)
{
    while (*next < device->block_count) {
        const plim_block *const block = &device->blocks[(*next)++];
        if (block->state != PLIM_BLOCK_INACTIVE) {
            return block;
        }
    }
    return NULL;
}

static void expect_same_blocks(const plim_device_history *told, const plim_device_history *worked)
{
    uint64_t i = 0;
    uint64_t k = 0;
    const plim_block *a = next_block(told, &i);
    const plim_block *b = next_block(worked, &k);
    while (a != NULL && b != NULL) {
        T_EQ_U64(a->addr, b->addr);
        T_EQ_U64(a->bytes, b->bytes);
        T_EQ_U64(a->state, b->state);
        if (a->state == PLIM_BLOCK_ACTIVE_ALLOCATED) {
            T_EQ_U64(a->requested_bytes, b->requested_bytes);
        }
        a = next_block(told, &i);
        b = next_block(worked, &k);
    }
    T_TRUE(a == NULL && b == NULL);
}

/* Without the end that is told: from the start that was worked out, and the events. */
static void check_worked_out(const plim_history *history)
{
    const file_bytes file = saved(history, 0);
    T_TRUE(hide_chunks(file, is_extra) > 0);
    plim_history *const again = parsed(file);
    expect_no_warnings(again);
    T_EQ_U64(plim_history_device_count(again), plim_history_device_count(history));
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *const told = plim_history_device(history, i);
        const plim_device_history *const worked = plim_history_device(again, i);
        T_EQ_U64(told->events.count, worked->events.count);
        T_EQ_U64(told->segment_count, worked->segment_count);
        for (uint64_t k = 0; k < told->segment_count; k++) {
            const plim_segment *const a = &told->segments[k];
            const plim_segment *const b = &worked->segments[k];
            T_EQ_U64(a->addr, b->addr);
            T_EQ_U64(a->bytes, b->bytes);
            T_EQ_U64(a->is_large, b->is_large);
            T_EQ_U64(a->is_expandable, b->is_expandable);
            T_EQ_U64(a->pool.a, b->pool.a);
            T_EQ_U64(a->pool.b, b->pool.b);
            T_EQ_U64(plim_history_stream(history, a->stream),
                     plim_history_stream(again, b->stream));
        }
        expect_same_blocks(told, worked);
    }
    plim_history_destroy(again);
    free(file.data);
}

static void the_end_can_be_worked_out_too(void)
{
    T_TRUE(each_of_folder(RECORDINGS, check_worked_out) >= 12);
}

/* --- everything a history can say --- */

static uint32_t string_of(plim_history *history, const char *text)
{
    uint32_t string = 0;
    T_EQ_U64(plim_history_add_string(history, text, strlen(text), &string, NULL), PLIM_OK);
    return string;
}

static uint32_t stack_of(plim_history *history, const char *file, const char *fx)
{
    uint32_t frames[2] = { 0 };
    uint32_t stack = 0;
    plim_frame frame = { .filename = string_of(history, file),
                         .name = string_of(history, "inner"),
                         .line = UINT32_MAX,
                         .fx = fx == NULL ? PLIM_NONE : string_of(history, fx) };
    T_EQ_U64(plim_history_add_frame(history, &frame, &frames[0], NULL), PLIM_OK);
    frame =
        (plim_frame){ .filename = PLIM_NONE, .name = string_of(history, "outer"), .fx = PLIM_NONE };
    T_EQ_U64(plim_history_add_frame(history, &frame, &frames[1], NULL), PLIM_OK);
    T_EQ_U64(plim_history_add_stack(history, frames, 2, &stack, NULL), PLIM_OK);
    return stack;
}

static void push_event(plim_history *history, const char *action, plim_event event, uint64_t stream)
{
    T_EQ_U64(plim_history_add_action(history, action, strlen(action), &event.action, NULL),
             PLIM_OK);
    if (event.action >= PLIM_ACTION_OTHER) {
        plim_history_count_anomaly(history, PLIM_ANOMALY_UNKNOWN_ACTION, 1);
    }
    event.stream = stream;
    T_EQ_U64(plim_history_push_event(history, &event, NULL), PLIM_OK);
}

static void push_segment(plim_history *history, uint64_t addr, uint32_t stack, uint64_t first)
{
    const plim_block blocks[] = {
        { addr, 512, 500, stack, PLIM_BLOCK_ACTIVE_ALLOCATED },
        { addr + 512, 512, 512, PLIM_NONE, PLIM_BLOCK_ACTIVE_PENDING_FREE },
        { addr + 1024, UINT64_C(1) << 40, UINT64_MAX, stack, PLIM_BLOCK_INACTIVE },
    };
    plim_segment segment = { .addr = addr,
                             .bytes = 1024 + (UINT64_C(1) << 40),
                             .pool = { 3, 4 },
                             .stack = stack,
                             .block_first = first,
                             .block_count = T_COUNT(blocks),
                             .is_large = stack == PLIM_NONE,
                             .is_expandable = true };
    T_EQ_U64(plim_history_add_stream(history, addr, &segment.stream, NULL), PLIM_OK);
    T_EQ_U64(plim_history_push_segment(history, &segment, NULL), PLIM_OK);
    for (size_t i = 0; i < T_COUNT(blocks); i++) {
        T_EQ_U64(plim_history_push_block(history, &blocks[i], NULL), PLIM_OK);
    }
}

static void push_setting(plim_history *history, const char *group, const char *name,
                         plim_setting setting)
{
    setting.group = group == NULL ? PLIM_NONE : string_of(history, group);
    setting.name = string_of(history, name);
    T_EQ_U64(plim_history_push_setting(history, &setting, NULL), PLIM_OK);
}

static void push_settings(plim_history *history)
{
    plim_setting setting = { .kind = PLIM_SETTING_INTEGER, .value.integer = INT64_MIN };
    push_setting(history, "roundup_power2_divisions", "1", setting);
    setting = (plim_setting){ .kind = PLIM_SETTING_REAL, .value.real = 0.8 };
    push_setting(history, NULL, "garbage_collection_threshold", setting);
    setting = (plim_setting){ .kind = PLIM_SETTING_BOOLEAN, .value.boolean = true };
    push_setting(history, NULL, "expandable_segments", setting);
    setting = (plim_setting){ .kind = PLIM_SETTING_NONE };
    push_setting(history, "alone", "one", setting);
    setting =
        (plim_setting){ .kind = PLIM_SETTING_TEXT, .value.text = string_of(history, "a:b,c:d") };
    push_setting(history, NULL, "PYTORCH_CUDA_ALLOC_CONF", setting);
}

static uint32_t note_of(plim_history *history, bool is_full)
{
    plim_note note = { .pool = { 7, UINT64_MAX },
                       .has_pool = true,
                       .compile_context = PLIM_NONE,
                       .user_metadata = string_of(history, "step 1"),
                       .forward_stack = PLIM_NONE,
                       .category = PLIM_NONE };
    uint32_t number = 0;
    if (is_full) {
        note.compile_context = string_of(history, "Torch-Compiled Region: 0/0");
        note.forward_stack = string_of(history, "a.py:1\n\nb.py:2");
        note.category = string_of(history, "");
    }
    T_EQ_U64(plim_history_add_note(history, &note, &number, NULL), PLIM_OK);
    return number;
}

static void push_annotation(plim_history *history, const char *name, int32_t device,
                            int64_t time_us)
{
    const plim_annotation annotation = { string_of(history, name), device, time_us, time_us != 5 };
    T_EQ_U64(plim_history_push_annotation(history, &annotation, NULL), PLIM_OK);
}

/* Devices 0 and the host with events and segments, 3 known and empty, 1 and 4 only annotated. */
static plim_history *everything(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    const uint32_t stack = stack_of(history, "\xc3\xa4.py", "call_function\nlinear\ntrace\nof it");
    const uint32_t other = stack_of(history, "other.py", "");
    const uint32_t note = note_of(history, true);
    const uint32_t short_note = note_of(history, false);
    const int64_t last_us = INT64_MAX / 1000;
    push_event(
        history, "alloc",
        (plim_event){
            .addr = 4096, .bytes = 500, .time_ns = plim_time_ns(1), .stack = stack, .note = note },
        0);
    push_event(history, "free_requested",
               (plim_event){ .addr = UINT64_MAX,
                             .bytes = UINT64_C(1) << 63,
                             .time_ns = PLIM_TIME_UNKNOWN,
                             .stack = PLIM_NONE },
               UINT64_MAX);
    push_event(history, "oom",
               (plim_event){ .addr = PLIM_SIZE_UNKNOWN,
                             .bytes = 512,
                             .time_ns = plim_time_ns(9),
                             .stack = stack,
                             .note = short_note },
               UINT64_C(1) << 63);
    push_event(
        history, "an action\xe2\x82\xac of its own",
        (plim_event){ .addr = 0, .bytes = 0, .time_ns = plim_time_ns(last_us), .stack = other }, 5);
    push_event(
        history, "another",
        (plim_event){
            .addr = 9, .bytes = 9, .time_ns = plim_time_ns(4), .stack = PLIM_NONE, .note = note },
        5);
    push_event(
        history, "user_defined",
        (plim_event){
            .addr = 9, .bytes = 9, .time_ns = plim_time_ns(4), .stack = PLIM_NONE, .note = note },
        5);
    push_event(
        history, "alloc",
        (plim_event){
            .addr = 1, .bytes = 2, .time_ns = plim_time_ns(3), .stack = PLIM_NONE, .note = note },
        0);
    push_segment(history, 4096, stack, 0);
    push_segment(history, UINT64_MAX - (UINT64_C(1) << 41), PLIM_NONE, 3);
    push_segment(history, 8192, stack, 0);
    const plim_device_ranges ranges[] = {
        { 0, { 0, 6 }, { 0, 2 }, { 0, 6 }, 1000, PLIM_YES, 0 },
        { 3, { 6, 0 }, { 2, 0 }, { 6, 0 }, 500, PLIM_NO, 0 },
        { PLIM_HOST_DEVICE, { 6, 1 }, { 2, 1 }, { 6, 3 }, 0, PLIM_UNKNOWN, 0 },
    };
    for (size_t i = 0; i < T_COUNT(ranges); i++) {
        T_EQ_U64(plim_history_add_device(history, &ranges[i], NULL), PLIM_OK);
    }
    push_settings(history);
    push_annotation(history, "step", 0, 5);
    push_annotation(history, "step", 0, PLIM_TIME_UNKNOWN);
    push_annotation(history, "earlier", 0, 2);
    push_annotation(history, "", 1, 7);
    push_annotation(history, "step", 3, PLIM_TIME_UNKNOWN);
    push_annotation(history, "step", 4, last_us);
    push_annotation(history, "step", PLIM_HOST_DEVICE, 1);
    plim_history_seal(history);
    return history;
}

static void everything_a_history_can_say_comes_back(void)
{
    plim_history *const history = everything();
    check_round_trip(history, 0);
    check_round_trip(history, 19);
    plim_history_destroy(history);
}

static void an_empty_history_comes_back(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    plim_history_seal(history);
    check_round_trip(history, 0);
    plim_history_destroy(history);
}

/* Numbers without sense, and more streams than a chunk has lanes. */
static void any_events_come_back(void)
{
    static const uint64_t counts[] = { 1, 2, 1000, 20000 };
    for (size_t i = 0; i < T_COUNT(counts); i++) {
        plim_history *history = NULL;
        T_CASE("%" PRIu64 " events", counts[i]);
        T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
        for (uint64_t k = 0; k < counts[i]; k++) {
            const plim_event event = { .addr = t_random_bytes(0, UINT64_MAX),
                                       .bytes = t_random_bytes(0, UINT64_MAX),
                                       .time_ns = plim_time_ns(
                                           (int64_t)t_random_between(1, INT64_MAX / 1000)),
                                       .stack = PLIM_NONE,
                                       .stream = 0 };
            static const char *const names[] = { "alloc",          "free_requested",
                                                 "free_completed", "segment_alloc",
                                                 "segment_free",   "segment_map",
                                                 "segment_unmap",  "oom" };
            push_event(history, names[t_random() % T_COUNT(names)], event, t_random() % 300);
        }
        const plim_device_ranges range = { .device = 0, .events = { 0, counts[i] } };
        T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
        plim_history_seal(history);
        check_round_trip(history, 0);
        plim_history_destroy(history);
    }
}

/* What a recording became is saved as it is, with what was worked out of its gaps. */
static void recordings_come_back(void)
{
    static t_program program;
    char path[256];
    plim_recorder *recorder = NULL;
    plim_history *history = NULL;
    const plim_recorder_options options = { .leaves_out_frames = true };
    t_path(path, sizeof path, "recorded.plim");
    T_EQ_U64(plim_recorder_start(path, &options, &recorder, NULL), PLIM_OK);
    t_program_init(&program, T_DEVICES_MAX);
    program.sink = plim_recorder_sink(recorder);
    t_program_run(&program, 20000);
    T_EQ_U64(plim_recorder_annotate(recorder, 1, "step", true, NULL), PLIM_OK);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    T_EQ_U64(plim_recording_load(path, NULL, &history, NULL), PLIM_OK);
    t_program_expect_end(&program, history);
    check_round_trip(history, 0);
    check_worked_out(history);
    plim_history_destroy(history);
    t_program_deinit(&program);
    (void)unlink(path);
}

/* --- damage --- */

static bool is_end_state(uint16_t kind)
{
    return kind == PLIM_CHUNK_END_STATE;
}

static void a_lost_end_is_worked_out(void)
{
    char difference[1024];
    plim_history *history = NULL;
    T_EQ_U64(plim_snapshot_load(RECORDINGS "/streams.pickle", NULL, &history, NULL), PLIM_OK);
    const file_bytes file = saved(history, 0);
    T_TRUE(hide_chunks(file, is_end_state) > 0);
    plim_history *const again = parsed(file);
    expect_same_blocks(plim_history_device(history, 0), plim_history_device(again, 0));
    T_FALSE(same_history(history, again, difference, sizeof difference));
    plim_history_destroy(again);
    plim_history_destroy(history);
    free(file.data);
}

/* Payloads that make no sense in chunks whose checksums are right. */
static void nonsense_is_left_out(void)
{
    plim_history *const history = everything();
    const file_bytes file = saved(history, 0);
    uint8_t *const copy = malloc(file.count);
    T_NOT_NULL(copy);
    for (int round = 0; round < 3000; round++) {
        memcpy(copy, file.data, file.count);
        for (uint8_t *at = copy + PLIM_FILE_HEADER_BYTES; at < copy + file.count;) {
            const uint32_t bytes = plim_get_u32(at + 16);
            if (plim_get_u16(at + 4) >= PLIM_CHUNK_STATE && bytes > 0 && t_random() % 2 == 0) {
                at[PLIM_CHUNK_HEADER_BYTES + t_random() % bytes] = (uint8_t)t_random();
                plim_put_u32(at + 24, (uint32_t)crc32_z(0, at + PLIM_CHUNK_HEADER_BYTES, bytes));
                plim_put_u32(at + 28, (uint32_t)crc32_z(0, at, 28));
            }
            at += PLIM_CHUNK_HEADER_BYTES + bytes;
        }
        plim_history *again = NULL;
        if (plim_recording_parse(copy, file.count, NULL, &again, NULL) == PLIM_OK) {
            const file_bytes whatever = saved(again, 0);
            free(whatever.data);
        }
        plim_history_destroy(again);
    }
    free(copy);
    free(file.data);
    plim_history_destroy(history);
}

/* --- trouble --- */

static void what_cannot_be_written_fails(void)
{
    plim_history *const history = everything();
    plim_error err = { .status = PLIM_OK };
    T_EQ_U64(plim_recording_save(history, "/dev/full", NULL, &err), PLIM_IO);
    T_EQ_U64(access("/dev/full", F_OK), 0);
    T_TRUE(strlen(err.message) > 0);
    T_EQ_U64(plim_recording_save(history, "/nowhere/at/all.plim", NULL, &err), PLIM_IO);
    T_EQ_U64(plim_recording_save(history, "/nowhere/at/all.plim", NULL, NULL), PLIM_IO);
    plim_history_destroy(history);
}

static void what_was_begun_is_removed(void)
{
    char path[256];
    struct rlimit before;
    plim_history *const history = everything();
    t_path(path, sizeof path, "begun.plim");
    T_EQ_U64(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = { .rlim_cur = 200, .rlim_max = before.rlim_max };
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    T_EQ_U64(setrlimit(RLIMIT_FSIZE, &small), 0);
    const plim_status status = plim_recording_save(history, path, NULL, NULL);
    T_EQ_U64(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    T_EQ_U64(status, PLIM_IO);
    T_TRUE(access(path, F_OK) != 0);
    plim_history_destroy(history);
}

static bool save_with(const plim_mem *mem, void *ctx)
{
    char path[256];
    const plim_recording_save_options options = { .mem = mem, .compression = 1 };
    plim_error err = { .status = PLIM_OK };
    t_path(path, sizeof path, "memory.plim");
    const plim_status status = plim_recording_save(ctx, path, &options, &err);
    T_EQ_U64(err.status, status);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_U64(access(path, F_OK) == 0, status == PLIM_OK);
    (void)unlink(path);
    return status == PLIM_OK;
}

static bool parse_with(const plim_mem *mem, void *ctx)
{
    const file_bytes *const file = ctx;
    plim_history *history = NULL;
    const plim_status status = plim_recording_parse(file->data, file->count, mem, &history, NULL);
    plim_history_destroy(history);
    return status == PLIM_OK;
}

static void no_memory_is_an_ordinary_failure(void)
{
    plim_history *const history = everything();
    file_bytes file = saved(history, 0);
    t_fail_each_allocation(save_with, history);
    t_fail_each_allocation(parse_with, &file);
    free(file.data);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(our_recordings_come_back), T_TEST(snapshots_of_others_come_back),
       T_TEST(the_end_can_be_worked_out_too), T_TEST(everything_a_history_can_say_comes_back),
       T_TEST(an_empty_history_comes_back), T_TEST(any_events_come_back),
       T_TEST(recordings_come_back), T_TEST(a_lost_end_is_worked_out), T_TEST(nonsense_is_left_out),
       T_TEST(what_cannot_be_written_fails), T_TEST(what_was_begun_is_removed),
       T_TEST(no_memory_is_an_ordinary_failure))
