/*
 * test_recording.c - what is told is read back: events, stacks, settings, and what stands.
 */
#include "trace/program.h"

#include "history/builder.h"

#include <unistd.h>

static plim_recorder *start(const char *path, plim_recorder_options options)
{
    plim_recorder *recorder = NULL;
    options.leaves_out_frames = true; /* made-up addresses have no names */
    T_EQ_U64(plim_recorder_start(path, &options, &recorder, NULL), PLIM_OK);
    return recorder;
}

static plim_history *load(const char *path)
{
    plim_history *history = NULL;
    plim_error err = { 0 };
    if (plim_recording_load(path, NULL, &history, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    return history;
}

static void reads_back_what_programs_told(void)
{
    static const plim_recorder_options cases[] = {
        { 0 },
        { .compression = 1 },
        { .flush_ms = 1 },
        { .queue_events = 4096, .compression = 9 },
    };
    static t_program program;
    char path[256];
    t_path(path, sizeof path, "back.plim");
    for (size_t i = 0; i < T_COUNT(cases); i++) {
        T_CASE("case %zu", i);
        plim_recorder *const recorder = start(path, cases[i]);
        t_program_init(&program, 1 + i % T_DEVICES_MAX);
        program.sink = plim_recorder_sink(recorder);
        for (int part = 0; part < 10; part++) {
            t_program_run(&program, 2000);
            T_EQ_U64(plim_recorder_flush(recorder, NULL), PLIM_OK);
        }
        const plim_recorder_counts counts = plim_recorder_count(recorder);
        T_EQ_U64(counts.events, program.count);
        T_EQ_U64(counts.dropped, 0);
        T_TRUE(counts.written_bytes > 0);
        T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
        plim_history *const history = load(path);
        T_EQ_U64(plim_history_warning_count(history), 0);
        T_EQ_STR(plim_history_source(history).format, "plim");
        t_program_expect_events(&program, history, 0);
        t_program_expect_end(&program, history);
        plim_history_destroy(history);
        t_program_deinit(&program);
    }
    (void)unlink(path);
}

/* Half a program is recorded, then the rest with what stood in between told at its start. */
static void goes_on_from_a_state(void)
{
    static t_program program;
    char path[256];
    char path_of_rest[256];
    t_path(path, sizeof path, "half.plim");
    t_path(path_of_rest, sizeof path_of_rest, "rest.plim");
    plim_recorder *recorder = start(path, (plim_recorder_options){ 0 });
    t_program_init(&program, 2);
    program.sink = plim_recorder_sink(recorder);
    t_program_run(&program, 5000);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const half = load(path);
    const size_t told = program.count;

    recorder = start(path_of_rest, (plim_recorder_options){ 0 });
    T_EQ_U64(plim_recorder_state(recorder, half, NULL), PLIM_OK);
    plim_history_destroy(half);
    program.sink = plim_recorder_sink(recorder);
    memset(program.is_recorded, 0, sizeof program.is_recorded);
    t_program_run(&program, 5000);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const rest = load(path_of_rest);
    T_EQ_U64(plim_history_warning_count(rest), 0);
    t_program_expect_events(&program, rest, told);
    t_program_expect_end(&program, rest);
    plim_history_destroy(rest);
    t_program_deinit(&program);
    (void)unlink(path);
    (void)unlink(path_of_rest);
}

static void add_setting(plim_history *history, const char *group, const char *name,
                        plim_setting setting)
{
    setting.group = PLIM_NONE;
    if (group != NULL) {
        T_EQ_U64(plim_history_add_string(history, group, strlen(group), &setting.group, NULL),
                 PLIM_OK);
    }
    T_EQ_U64(plim_history_add_string(history, name, strlen(name), &setting.name, NULL), PLIM_OK);
    T_EQ_U64(plim_history_push_setting(history, &setting, NULL), PLIM_OK);
}

static void keeps_settings(void)
{
    char path[256];
    plim_history *told = NULL;
    uint32_t text = 0;
    uint64_t count = 0;
    t_path(path, sizeof path, "settings.plim");
    T_EQ_U64(plim_history_create(NULL, &told, NULL), PLIM_OK);
    T_EQ_U64(plim_history_add_string(told, "a:b", 3, &text, NULL), PLIM_OK);
    add_setting(told, NULL, "nothing", (plim_setting){ .kind = PLIM_SETTING_NONE });
    add_setting(told, NULL, "text",
                (plim_setting){ .kind = PLIM_SETTING_TEXT, .value.text = text });
    add_setting(told, NULL, "minus",
                (plim_setting){ .kind = PLIM_SETTING_INTEGER, .value.integer = -1 });
    add_setting(told, "divisions", "64",
                (plim_setting){ .kind = PLIM_SETTING_REAL, .value.real = 0.75 });
    add_setting(told, "divisions", "on",
                (plim_setting){ .kind = PLIM_SETTING_BOOLEAN, .value.boolean = true });
    plim_history_seal(told);
    plim_recorder *const recorder = start(path, (plim_recorder_options){ 0 });
    T_EQ_U64(plim_recorder_state(recorder, told, NULL), PLIM_OK);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const read = load(path);
    const plim_setting *const settings = plim_history_settings(read, &count);
    T_EQ_U64(count, 5);
    T_EQ_U64(settings[0].kind, PLIM_SETTING_NONE);
    T_EQ_U64(settings[0].group, PLIM_NONE);
    T_EQ_STR(plim_history_string(read, settings[1].value.text, NULL), "a:b");
    T_EQ_I64(settings[2].value.integer, -1);
    T_EQ_STR(plim_history_string(read, settings[3].group, NULL), "divisions");
    T_EQ_STR(plim_history_string(read, settings[3].name, NULL), "64");
    T_TRUE(settings[3].value.real == 0.75);
    T_TRUE(settings[4].value.boolean);
    plim_history_destroy(read);
    plim_history_destroy(told);
    (void)unlink(path);
}

static void keeps_annotations(void)
{
    char path[256];
    uint64_t count = 0;
    t_path(path, sizeof path, "annotations.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ 0 });
    T_EQ_U64(plim_recorder_annotate(recorder, 0, "step 1", true, NULL), PLIM_OK);
    T_EQ_U64(plim_recorder_annotate(recorder, 0, "step 1", false, NULL), PLIM_OK);
    T_EQ_U64(plim_recorder_annotate(recorder, 1, NULL, true, NULL), PLIM_OK);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    const plim_annotation *const annotations = plim_history_annotations(history, &count);
    T_EQ_U64(count, 3);
    T_EQ_STR(plim_history_string(history, annotations[0].name, NULL), "step 1");
    T_TRUE(annotations[0].is_start);
    T_FALSE(annotations[1].is_start);
    T_TRUE(annotations[0].time_us <= annotations[1].time_us);
    T_EQ_STR(plim_history_string(history, annotations[2].name, NULL), "");
    T_EQ_I64(annotations[2].device, 1);
    T_EQ_U64(plim_history_device_count(history), 0);
    plim_history_destroy(history);
    (void)unlink(path);
}

/* Extreme numbers in every field, unknown times, and more lanes than a chunk holds. */
static void keeps_any_numbers(void)
{
    enum { COUNT = 3000 };
    static plim_event told[COUNT];
    char path[256];
    t_path(path, sizeof path, "numbers.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ .compression = 3 });
    const plim_event_sink sink = plim_recorder_sink(recorder);
    for (size_t i = 0; i < COUNT; i++) {
        told[i] = (plim_event){
            .action = PLIM_OOM, /* changes nothing that stands */
            .device = -1,
            .addr = t_random_bytes(0, UINT64_MAX - 1),
            .bytes = t_random_bytes(0, UINT64_MAX - 1),
            .block_bytes = t_random_bytes(0, UINT64_MAX - 1),
            .time_ns = t_random_between(0, 9) == 0 ? 0 : (int64_t)t_random_bytes(0, INT64_MAX),
            .stack = PLIM_NONE,
            .stream = t_random_bytes(0, UINT64_MAX - 1),
            .pool = { t_random_bytes(0, UINT64_MAX - 1), t_random_bytes(0, UINT64_MAX - 1) },
            .is_small = t_random_between(0, 1) == 0,
        };
        sink.event(sink.ctx, &told[i]);
    }
    T_EQ_U64(plim_recorder_count(recorder).dropped, 0);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    T_EQ_U64(plim_history_device_count(history), 1);
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_I64(plim_history_device(history, 0)->device, PLIM_HOST_DEVICE);
    T_EQ_U64(events->count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const plim_note *const note = plim_history_note(history, events->note[i]);
        T_EQ_U64(events->addr[i], told[i].addr);
        T_EQ_U64(events->bytes[i], told[i].bytes);
        T_EQ_U64(plim_history_stream(history, events->stream[i]), told[i].stream);
        T_EQ_U64(note->pool.a, told[i].pool.a);
        T_EQ_U64(note->pool.b, told[i].pool.b);
        T_EQ_I64(events->time_us[i],
                 told[i].time_ns == 0 ? PLIM_TIME_UNKNOWN : (int64_t)(told[i].time_ns / 1000));
    }
    plim_history_destroy(history);
    (void)unlink(path);
}

/* Return addresses within this program: of a function that is called like ours, and of others. */
__attribute__((noinline)) static uint64_t here(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__attribute__((noinline)) static uint64_t plim_like_ours(void)
{
    const uint64_t address = here();
    return address + (t_now.row[0] == '?'); /* never: keeps the call from being the last thing */
}

static void names_functions_and_leaves_out_our_own(void)
{
    char path[256];
    plim_recorder *recorder = NULL;
    t_path(path, sizeof path, "names.plim");
    T_EQ_U64(plim_recorder_start(path, NULL, &recorder, NULL), PLIM_OK);
    const plim_event_sink sink = plim_recorder_sink(recorder);
    const uint64_t ours = plim_like_ours();
    const uint64_t addresses[] = { ours, ours, here(), ours };
    const plim_foreign_frame foreign = { "train.py", "step", 3 };
    const plim_stack_record stack = { .id = 7,
                                      .addresses = addresses,
                                      .address_count = T_COUNT(addresses),
                                      .foreign = &foreign,
                                      .foreign_count = 1 };
    const plim_event event = { .action = PLIM_OOM, .stack = 7 };
    sink.stack(sink.ctx, &stack);
    sink.event(sink.ctx, &event);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    plim_history *const history = load(path);
    const plim_stack read =
        plim_history_stack(history, plim_history_device(history, 0)->events.stack[0]);
    const char *const names[] = { "step", __func__, "plim_like_ours" };
    T_EQ_U64(read.frame_count, T_COUNT(names));
    for (size_t i = 0; i < T_COUNT(names); i++) {
        const plim_frame *const frame = plim_history_frame(history, read.frames[i]);
        T_EQ_STR(plim_history_string(history, frame->name, NULL), names[i]);
    }
    plim_history_destroy(history);
    (void)unlink(path);
}

static bool attempt_load(const plim_mem *mem, void *ctx)
{
    plim_history *history = NULL;
    plim_error err = { 0 };
    const plim_status status = plim_recording_load(ctx, mem, &history, &err);
    plim_history_destroy(history);
    T_TRUE(status == PLIM_OK || status == PLIM_OUT_OF_HOST_MEMORY);
    return status == PLIM_OK;
}

static void survives_a_lack_of_memory_while_reading(void)
{
    static t_program program;
    char path[256];
    t_path(path, sizeof path, "memory.plim");
    plim_recorder *const recorder = start(path, (plim_recorder_options){ .compression = 1 });
    t_program_init(&program, 2);
    program.sink = plim_recorder_sink(recorder);
    t_program_run(&program, 1500);
    T_EQ_U64(plim_recorder_annotate(recorder, 0, "here", true, NULL), PLIM_OK);
    T_EQ_U64(plim_recorder_stop(recorder, NULL), PLIM_OK);
    t_fail_each_allocation(attempt_load, path);
    t_program_deinit(&program);
    (void)unlink(path);
}

T_MAIN(T_TEST(reads_back_what_programs_told), T_TEST(goes_on_from_a_state), T_TEST(keeps_settings),
       T_TEST(keeps_annotations), T_TEST(keeps_any_numbers),
       T_TEST(names_functions_and_leaves_out_our_own),
       T_TEST(survives_a_lack_of_memory_while_reading))
