/*
 * test_save.c - histories as snapshots: nothing is lost, and the same bytes come each time.
 */
#include "harness.h"

#include "history/builder.h"
#include "torch/same.h"
#include "torch/save.h"

#include <dirent.h>

#define PICKLE_BYTES_MAX ((size_t)1 << 28)
#define RECORDINGS       "tests/data/recordings"
#define TORCH_ALL        PLIM_TORCH(2, 14) /* every key that is known */

/* --- saving to memory --- */

static plim_text written(const plim_history *history, uint32_t torch)
{
    plim_text text;
    plim_error err = { .status = PLIM_OK };
    const plim_snapshot_save_options options = { .torch = torch };
    plim_text_init(&text, NULL, PICKLE_BYTES_MAX);
    if (plim_snapshot_write(history, &options, plim_sink_to_text(&text), &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return text;
}

static plim_history *parsed(const plim_text *text)
{
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    if (plim_snapshot_parse(text->data, text->length, NULL, &history, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return history;
}

static plim_history *parsed_json(const char *json)
{
    plim_text text;
    plim_text_init(&text, NULL, PICKLE_BYTES_MAX);
    for (const char *c = json; *c != '\0'; c++) {
        plim_text_append_char(&text, *c == '\'' ? '"' : *c);
    }
    plim_history *history = parsed(&text);
    plim_text_deinit(&text);
    return history;
}

/* Saved and loaded, the history says the same; saved again, the bytes are the same. */
static void check_round_trip(const plim_history *history, uint32_t torch)
{
    char difference[1024];
    plim_text first = written(history, torch);
    plim_history *again = parsed(&first);
    if (!same_history(history, again, difference, sizeof difference)) {
        fail_msg("%s", difference);
    }
    for (int i = 0; i < PLIM_ANOMALY_COUNT; i++) {
        if (i == PLIM_ANOMALY_UNKNOWN_FIELD || i == PLIM_ANOMALY_BAD_FIELD) {
            T_EQ_U64(plim_history_anomaly_count(again, (plim_anomaly)i), 0);
        }
    }
    plim_text second = written(again, torch);
    T_EQ_U64(first.length, second.length);
    T_EQ_MEM(first.data, second.data, first.length);
    plim_history_destroy(again);
    plim_text_deinit(&first);
    plim_text_deinit(&second);
}

/* Every snapshot of a folder; how many there were. */
static size_t check_folder(const char *folder, uint32_t torch)
{
    DIR *const entries = opendir(folder);
    size_t count = 0;
    T_NOT_NULL(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        plim_history *history = NULL;
        plim_error err = { .status = PLIM_OK };
        T_CASE("%.150s", entry->d_name);
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".pickle") == NULL) {
            continue;
        }
        if (plim_snapshot_load(path, NULL, &history, &err) != PLIM_OK) {
            fail_msg("%s", err.message);
        }
        check_round_trip(history, torch);
        plim_history_destroy(history);
        count++;
    }
    closedir(entries);
    return count;
}

static void our_recordings_come_back(void)
{
    T_TRUE(check_folder(RECORDINGS, 0) >= 12);
    T_TRUE(check_folder(RECORDINGS, TORCH_ALL) >= 12);
}

static void snapshots_of_others_come_back(void)
{
    const char *folder = t_snapshot_dir();
    if (folder == NULL) {
        T_SKIP("PLIM_SNAPSHOT_DIR names no folder of snapshots");
    }
    (void)check_folder(folder, TORCH_ALL);
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
    event.stream = stream;
    T_EQ_U64(plim_history_push_event(history, &event, NULL), PLIM_OK);
}

static void push_segment(plim_history *history, uint64_t addr, uint32_t stack, uint64_t stream)
{
    const plim_block blocks[] = {
        { addr, 512, 500, stack, PLIM_BLOCK_ACTIVE_ALLOCATED },
        { addr + 512, 512, 512, PLIM_NONE, PLIM_BLOCK_ACTIVE_PENDING_FREE },
        { addr + 1024, UINT64_C(1) << 40, UINT64_MAX, PLIM_NONE, PLIM_BLOCK_INACTIVE },
    };
    plim_segment segment = { .addr = addr,
                             .bytes = 1024 + (UINT64_C(1) << 40),
                             .pool = { 3, 4 },
                             .stack = stack,
                             .block_count = T_COUNT(blocks),
                             .is_large = stack == PLIM_NONE,
                             .is_expandable = true };
    T_EQ_U64(plim_history_add_stream(history, stream, &segment.stream, NULL), PLIM_OK);
    T_EQ_U64(plim_history_push_segment(history, &segment, NULL), PLIM_OK);
    for (size_t i = 0; i < T_COUNT(blocks); i++) {
        T_EQ_U64(plim_history_push_block(history, &blocks[i], NULL), PLIM_OK);
    }
}

static void push_settings(plim_history *history)
{
    const uint32_t group = string_of(history, "roundup_power2_divisions");
    const plim_setting settings[] = {
        { .group = PLIM_NONE,
          .name = string_of(history, "max_split_size"),
          .kind = PLIM_SETTING_INTEGER,
          .value.integer = -1 },
        { .group = PLIM_NONE,
          .name = string_of(history, "garbage_collection_threshold"),
          .kind = PLIM_SETTING_REAL,
          .value.real = 0.8 },
        { .group = group,
          .name = string_of(history, "1"),
          .kind = PLIM_SETTING_INTEGER,
          .value.integer = INT64_MIN },
        { .group = group,
          .name = string_of(history, "2"),
          .kind = PLIM_SETTING_INTEGER,
          .value.integer = 4 },
        { .group = PLIM_NONE,
          .name = string_of(history, "expandable_segments"),
          .kind = PLIM_SETTING_BOOLEAN,
          .value.boolean = true },
        { .group = string_of(history, "alone"),
          .name = string_of(history, "one"),
          .kind = PLIM_SETTING_NONE },
        { .group = PLIM_NONE,
          .name = string_of(history, "PYTORCH_CUDA_ALLOC_CONF"),
          .kind = PLIM_SETTING_TEXT,
          .value.text = string_of(history, "") },
    };
    for (size_t i = 0; i < T_COUNT(settings); i++) {
        T_EQ_U64(plim_history_push_setting(history, &settings[i], NULL), PLIM_OK);
    }
}

static uint32_t full_note(plim_history *history)
{
    const plim_note note = { .pool = { 7, UINT64_MAX },
                             .has_pool = true,
                             .compile_context = string_of(history, "Torch-Compiled Region: 0/0"),
                             .user_metadata = string_of(history, "step 1"),
                             .forward_stack = string_of(history, "a.py:1\n\nb.py:2"),
                             .category = string_of(history, "ACTIVATION") };
    uint32_t number = 0;
    T_EQ_U64(plim_history_add_note(history, &note, &number, NULL), PLIM_OK);
    return number;
}

/* A device 0 and the host with events and segments, a device 3 that is known and empty. */
static plim_history *everything(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    const uint32_t stack = stack_of(history, "\xc3\xa4.py", "call_function\nlinear\ntrace\nof it");
    const uint32_t note = full_note(history);
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
    push_event(
        history, "oom",
        (plim_event){ .addr = 77, .bytes = 512, .time_ns = plim_time_ns(-1), .stack = stack },
        UINT64_C(1) << 63);
    push_event(history, "an action\xe2\x82\xac of its own",
               (plim_event){ .addr = 0, .bytes = 0, .time_ns = INT64_MAX, .stack = stack }, 5);
    push_event(
        history, "alloc",
        (plim_event){
            .addr = 1, .bytes = 2, .time_ns = plim_time_ns(3), .stack = PLIM_NONE, .note = note },
        0);
    push_segment(history, 4096, stack, UINT64_MAX);
    push_segment(history, UINT64_MAX - (UINT64_C(1) << 41), PLIM_NONE, 0);
    push_segment(history, 8192, stack, 0);
    const plim_device_ranges ranges[] = {
        { 0, { 0, 4 }, { 0, 2 }, { 0, 6 }, 1000, PLIM_YES, 0 },
        { 3, { 4, 0 }, { 2, 0 }, { 6, 0 }, 1000, PLIM_YES, 0 },
        { PLIM_HOST_DEVICE, { 4, 1 }, { 2, 1 }, { 6, 3 }, 0, PLIM_UNKNOWN, 0 },
    };
    for (size_t i = 0; i < T_COUNT(ranges); i++) {
        T_EQ_U64(plim_history_add_device(history, &ranges[i], NULL), PLIM_OK);
    }
    push_settings(history);
    const plim_annotation annotations[] = {
        { string_of(history, "step"), 0, 5, true },
        { string_of(history, "step"), 3, PLIM_TIME_UNKNOWN, false },
    };
    for (size_t i = 0; i < T_COUNT(annotations); i++) {
        T_EQ_U64(plim_history_push_annotation(history, &annotations[i], NULL), PLIM_OK);
    }
    plim_history_seal(history);
    return history;
}

static void everything_a_history_can_say_comes_back(void)
{
    char difference[1024];
    plim_history *history = everything();
    plim_text text = written(history, TORCH_ALL);
    plim_history *again = parsed(&text);
    /* Files have what is known of ring buffers among the settings; the history had it not there. */
    T_FALSE(same_history(history, again, difference, sizeof difference));
    T_EQ_STR(difference, "the settings: their number is 7, then 9");
    T_EQ_U64(plim_history_device_count(again), 5); /* 0 … 3 and the host */
    check_round_trip(again, TORCH_ALL);
    plim_history_destroy(again);
    plim_history_destroy(history);
    plim_text_deinit(&text);
}

static void an_unknown_size_is_written_as_nothing(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    push_event(history, "oom",
               (plim_event){ .addr = PLIM_SIZE_UNKNOWN,
                             .bytes = PLIM_SIZE_UNKNOWN,
                             .time_ns = plim_time_ns(1),
                             .stack = PLIM_NONE },
               0);
    const plim_device_ranges range = { .device = 0, .events = { 0, 1 } };
    T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
    plim_history_seal(history);
    plim_text text = written(history, 0);
    plim_history *again = parsed(&text);
    T_EQ_U64(plim_history_device(again, 0)->events.addr[0], 0);
    T_EQ_U64(plim_history_device(again, 0)->events.bytes[0], 0);
    plim_history_destroy(again);
    plim_history_destroy(history);
    plim_text_deinit(&text);
}

static void an_empty_history_is_an_empty_snapshot(void)
{
    plim_history *history = NULL;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    plim_history_seal(history);
    check_round_trip(history, 0);
    check_round_trip(history, TORCH_ALL);
    plim_history_destroy(history);
}

/* Batches hold a thousand; there are as many items as each of these. */
static void any_number_of_events_comes_back(void)
{
    static const uint64_t counts[] = { 0, 1, 2, 999, 1000, 1001, 2000, 2001, 10000 };
    for (size_t i = 0; i < T_COUNT(counts); i++) {
        plim_history *history = NULL;
        T_CASE("%" PRIu64 " events", counts[i]);
        T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
        for (uint64_t k = 0; k < counts[i]; k++) {
            push_event(history, "alloc",
                       (plim_event){ .addr = t_random(),
                                     .bytes = t_random_bytes(0, UINT64_MAX),
                                     .time_ns = (int64_t)t_random(),
                                     .stack = PLIM_NONE },
                       t_random_bytes(0, UINT64_MAX));
        }
        const plim_device_ranges range = { .device = 0, .events = { 0, counts[i] } };
        T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
        plim_history_seal(history);
        check_round_trip(history, 0);
        plim_history_destroy(history);
    }
}

static const char *fx_of_first_frame(const plim_history *history)
{
    const plim_device_history *device = plim_history_device(history, 0);
    const plim_stack stack = plim_history_stack(history, device->events.stack[0]);
    return plim_history_string(history, plim_history_frame(history, stack.frames[0])->fx, NULL);
}

static void what_fx_knows_of_a_frame_comes_back(void)
{
    char longest[2048];
    char parts[4][1025];
    for (size_t i = 0; i < 4; i++) {
        memset(parts[i], 'a' + (int)i, 1024);
        parts[i][1024] = '\0';
    }
    snprintf(longest, sizeof longest, "%s\n%.1000s", parts[0], parts[1]);
    const char *const texts[] = {
        "placeholder",
        "call_function\nlinear",
        "call_module\nrelu_1\nFile \"m.py\", line 1\nx = y\n",
        "output\n",
        "output\n\nx",
        "output\nx\n",
        "something else",
        "\n",
        "\nx",
        longest,
        parts[2],
    };
    for (size_t i = 0; i < T_COUNT(texts); i++) {
        plim_history *history = NULL;
        T_CASE("%.150s", texts[i]);
        T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
        push_event(history, "alloc", (plim_event){ .stack = stack_of(history, "a.py", texts[i]) },
                   0);
        const plim_device_ranges range = { .device = 0, .events = { 0, 1 } };
        T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
        plim_history_seal(history);
        T_EQ_STR(fx_of_first_frame(history), texts[i]);
        check_round_trip(history, 0);
        plim_history_destroy(history);
    }
}

static void texts_that_are_not_utf8_become_so(void)
{
    static const struct {
        const char *text, *becomes;
    } cases[] = {
        { "a\xff"
          "b",
          "a\xef\xbf\xbd"
          "b" },
        { "\xc3", "\xef\xbf\xbd" },
        { "\xc3(", "\xef\xbf\xbd(" },
        { "\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xf4\x90\x80\x80!", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!" },
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
        { "\xed\xa0\x80", "\xed\xa0\x80" }, /* a surrogate: Python writes and reads them */
        { "\xf0\x9f\x98\x80 \xe2\x82\xac", "\xf0\x9f\x98\x80 \xe2\x82\xac" },
    };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        plim_history *history = NULL;
        T_CASE("case %zu", i);
        T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
        push_event(history, "alloc",
                   (plim_event){ .stack = stack_of(history, cases[i].text, NULL) }, 0);
        const plim_device_ranges range = { .device = 0, .events = { 0, 1 } };
        T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
        plim_history_seal(history);
        plim_text text = written(history, 0);
        plim_history *again = parsed(&text);
        const plim_stack stack =
            plim_history_stack(again, plim_history_device(again, 0)->events.stack[0]);
        T_EQ_STR(
            plim_history_string(again, plim_history_frame(again, stack.frames[0])->filename, NULL),
            cases[i].becomes);
        check_round_trip(again, 0);
        plim_history_destroy(again);
        plim_history_destroy(history);
        plim_text_deinit(&text);
    }
}

static void a_trace_beyond_all_devices_is_refused(void)
{
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    plim_text text;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    push_event(history, "alloc", (plim_event){ .stack = PLIM_NONE }, 0);
    const plim_device_ranges range = { .device = INT32_MAX, .events = { 0, 1 } };
    T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
    plim_history_seal(history);
    plim_text_init(&text, NULL, PICKLE_BYTES_MAX);
    T_EQ_U64(plim_snapshot_write(history, NULL, plim_sink_to_text(&text), &err), PLIM_LIMIT);
    T_EQ_STR(err.message, "a snapshot has a trace for each device; this has a device 2147483647");
    plim_text_deinit(&text);
    plim_history_destroy(history);
}

/* --- releases --- */

static void older_releases_have_fewer_keys(void)
{
    /* What 2.0 and 1.x can say, they say so that it is read again. */
    static const char json[] =
        "{'segments':[{'device':1,'address':4096,'total_size':1024,'stream':0,"
        "'segment_type':'small','blocks':[{'address':4096,'size':1024,'requested_size':%s,"
        "'state':'active_allocated','frames':[]}]}],'device_traces':[]}";
    static const struct {
        uint32_t torch;
        const char *requested;
        const char *generation;
    } cases[] = { { PLIM_TORCH(2, 0), "1000", "PyTorch 2.0" },
                  { PLIM_TORCH(1, 13), "1024", "PyTorch 1.x" },
                  { PLIM_TORCH(2, 1), "1000", "PyTorch 2.1 or 2.2" },
                  { PLIM_TORCH(2, 3), "1000", "PyTorch 2.1 or 2.2" }, /* there are no settings */
                  { PLIM_TORCH(2, 5), "1000", "PyTorch 2.5 to 2.7" } };
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        char text[512];
        T_CASE("torch %u", cases[i].torch);
        snprintf(text, sizeof text, json, cases[i].requested);
        plim_history *history = parsed_json(text);
        check_round_trip(history, cases[i].torch);
        plim_text pickle = written(history, cases[i].torch);
        plim_history *again = parsed(&pickle);
        T_EQ_STR(plim_history_source(again).generation, cases[i].generation);
        plim_history_destroy(again);
        plim_text_deinit(&pickle);
        plim_history_destroy(history);
    }
}

/* --- what it costs, and failures --- */

static bool write_in(const plim_mem *mem, void *ctx)
{
    plim_text text;
    plim_error err = { .status = PLIM_OK };
    const plim_snapshot_save_options options = { .mem = mem, .torch = TORCH_ALL };
    plim_text_init(&text, NULL, PICKLE_BYTES_MAX);
    const plim_status status = plim_snapshot_write(ctx, &options, plim_sink_to_text(&text), &err);
    plim_text_deinit(&text);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    T_EQ_U64(err.status, status);
    return status == PLIM_OK;
}

static void running_out_of_memory_anywhere_leaks_nothing(void)
{
    plim_history *history = everything();
    t_fail_each_allocation(write_in, history);
    plim_history_destroy(history);
}

typedef struct short_sink {
    size_t left; /* bytes until it takes no more */
    bool refused;
} short_sink;

static bool write_short(void *ctx, const void *data, size_t bytes)
{
    short_sink *sink = ctx;
    (void)data;
    T_FALSE(sink->refused);
    sink->refused = bytes > sink->left;
    sink->left -= sink->refused ? 0 : bytes;
    return !sink->refused;
}

static void a_sink_that_refuses_is_not_asked_again(void)
{
    plim_history *history = NULL;
    plim_error err = { .status = PLIM_OK };
    T_EQ_U64(plim_snapshot_load(RECORDINGS "/train_gpt.pickle", NULL, &history, &err), PLIM_OK);
    static const size_t limits[] = { 0, 1, 2, 3, 70000, 140000 };
    for (size_t i = 0; i < T_COUNT(limits); i++) {
        short_sink sink = { .left = limits[i] };
        T_EQ_U64(plim_snapshot_write(history, NULL, (plim_sink){ write_short, &sink }, &err),
                 PLIM_IO);
    }
    plim_history_destroy(history);
}

static bool write_nowhere(void *ctx, const void *data, size_t bytes)
{
    (void)data;
    *(uint64_t *)ctx += bytes;
    return true;
}

/* What is written is never held: memory is for a frame and for the tables of what is shared. */
static void memory_does_not_grow_with_events(void)
{
    plim_history *history = NULL;
    uint64_t bytes = 0;
    T_EQ_U64(plim_history_create(NULL, &history, NULL), PLIM_OK);
    const uint32_t stack = stack_of(history, "a.py", NULL);
    for (uint64_t i = 0; i < 100000; i++) {
        push_event(history, i % 2 == 0 ? "alloc" : "free_completed",
                   (plim_event){ .addr = 512 * i,
                                 .bytes = i,
                                 .time_ns = plim_time_ns((int64_t)(i << 30)),
                                 .stack = stack },
                   0);
    }
    const plim_device_ranges range = { .device = 0, .events = { 0, 100000 } };
    T_EQ_U64(plim_history_add_device(history, &range, NULL), PLIM_OK);
    plim_history_seal(history);
    t_mem heap;
    t_mem_init(&heap);
    const plim_snapshot_save_options options = { .mem = &heap.mem };
    T_EQ_U64(plim_snapshot_write(history, &options, (plim_sink){ write_nowhere, &bytes }, NULL),
             PLIM_OK);
    T_TRUE(bytes > 4000000);
    T_TRUE(heap.peak_bytes < 100000);
    T_EQ_U64(heap.live_bytes, 0);
    plim_history_destroy(history);
}

T_MAIN(T_TEST(our_recordings_come_back), T_TEST(snapshots_of_others_come_back),
       T_TEST(everything_a_history_can_say_comes_back),
       T_TEST(an_unknown_size_is_written_as_nothing), T_TEST(an_empty_history_is_an_empty_snapshot),
       T_TEST(any_number_of_events_comes_back), T_TEST(what_fx_knows_of_a_frame_comes_back),
       T_TEST(texts_that_are_not_utf8_become_so), T_TEST(a_trace_beyond_all_devices_is_refused),
       T_TEST(older_releases_have_fewer_keys), T_TEST(running_out_of_memory_anywhere_leaks_nothing),
       T_TEST(a_sink_that_refuses_is_not_asked_again), T_TEST(memory_does_not_grow_with_events))
