/*
 * test_export.c - weights of stacks, names of any bytes, every format over hostile histories, and
 * each allocation of an export failing.
 */
#include "export/weights.h"
#include "history/script.h"

#include "plimsoll/export.h"

#include <unistd.h>

static char folder[] = "/tmp/plimsoll-export-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t read_back(const char *path, char *text, size_t bytes)
{
    FILE *const file = fopen(path, "rb");
    T_NOT_NULL(file);
    const size_t got = fread(text, 1, bytes - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    return got;
}

/* The text of an export as folded stacks. */
static const char *folded(const plim_history *history, plim_export_options options)
{
    static char text[1 << 16];
    plim_export_result result = { 0 };
    plim_error err = { 0 };
    options.replaces = true;
    const char *const path = in_folder("a.folded");
    if (plim_history_export(history, path, &options, &result, &err) != PLIM_OK) {
        fail_msg("%s", err.message);
    }
    plim_export_result_deinit(&result);
    (void)read_back(path, text, sizeof text);
    return text;
}

/* --- weights --- */

static void a_stack_of_a_free_is_not_shown_as_one_of_an_allocation(void)
{
    /* 0 and 512 stood before; 512 was freed by @3, and 0 is a block of the end, made by @1. */
    plim_history *const history = script_history("segment 0 2048; block 0 512 100 allocated @1; "
                                                 "block 512 512 30 free; block 1024 1024 0 free; "
                                                 "alloc 1024 50 @3; alloc 1536 7; "
                                                 "request 512 30 @3; complete 512 30 @3; "
                                                 "request 1024 50 @4; request 1536 7");
    const plim_moment_choice at = { .kind = PLIM_MOMENT_EVENT, .number = 1 };
    T_EQ_STR(folded(history, (plim_export_options){ .moments = &at, .moment_count = 1 }),
             "train.py:1 in f1 100\n"
             "train.py:1 in f3 50\n"
             "[allocated before the recording; freed by this stack];train.py:1 in f3 30\n"
             "[no stack was recorded] 7\n");
    const plim_moment_choice start = { .kind = PLIM_MOMENT_START };
    T_EQ_STR(folded(history, (plim_export_options){ .moments = &start, .moment_count = 1 }),
             "train.py:1 in f1 100\n"
             "[allocated before the recording; freed by this stack];train.py:1 in f3 30\n");
    plim_history_destroy(history);
}

static const char spans[] = "alloc 0 100 @1; alloc 512 40 @2; request 0 100; complete 0 100; "
                            "alloc 1024 30 @1; alloc 2048 60 @2; alloc 4096 5";

static void a_span_weighs_what_grew_what_differs_and_all_that_was_allocated(void)
{
    plim_history *const history = script_history(spans);
    const plim_moment_choice from = { .kind = PLIM_MOMENT_EVENT, .number = 1 };
    plim_export_options options = { .from = &from, .what = PLIM_EXPORT_GROWTH };
    T_EQ_STR(folded(history, options), "train.py:1 in f2 60\n[no stack was recorded] 5\n");
    options.what = PLIM_EXPORT_DIFFERENCE;
    T_EQ_STR(folded(history, options), "train.py:1 in f2 40 100\ntrain.py:1 in f1 100 30\n"
                                       "[no stack was recorded] 0 5\n");
    options.what = PLIM_EXPORT_CHURN;
    T_EQ_STR(folded(history, options),
             "train.py:1 in f2 60\ntrain.py:1 in f1 30\n[no stack was recorded] 5\n");
    options.from = NULL;
    T_EQ_STR(folded(history, options),
             "train.py:1 in f1 130\ntrain.py:1 in f2 100\n[no stack was recorded] 5\n");
    plim_history_destroy(history);
}

static void the_result_has_the_sums(void)
{
    plim_history *const history = script_history(spans);
    plim_export_result result = { 0 };
    const plim_moment_choice from = { .kind = PLIM_MOMENT_EVENT, .number = 1 };
    plim_export_options options = { .what = PLIM_EXPORT_GROWTH, .from = &from, .replaces = true };
    T_TRUE(plim_history_export(history, in_folder("a.folded"), &options, &result, NULL) == PLIM_OK);
    T_EQ_U64(result.part_count, 1);
    T_EQ_U64(result.parts[0].bytes, 65);
    T_EQ_U64(result.parts[0].shrunk_bytes, 70);
    T_EQ_U64(result.parts[0].stacks, 2);
    T_EQ_I64(result.parts[0].from, 1);
    T_EQ_I64(result.parts[0].event, 6);
    plim_export_result_deinit(&result);
    options = (plim_export_options){ .replaces = true };
    T_TRUE(plim_history_export(history, in_folder("a.speedscope.json"), &options, &result, NULL) ==
           PLIM_OK);
    T_EQ_U64(result.part_count, 2); /* the peak and the end */
    T_EQ_U64(result.parts[0].bytes, 140);
    T_EQ_U64(result.parts[1].bytes, 135);
    T_EQ_U64(result.parts[1].count, 4);
    plim_export_result_deinit(&result);
    plim_history_destroy(history);
}

/* --- names --- */

static plim_history *history_of_names(const char *file, const char *name, size_t name_bytes)
{
    plim_history *history = NULL;
    plim_frame frame = { .line = 7, .fx = PLIM_NONE };
    uint32_t number = 0;
    plim_event event = { .action = PLIM_ALLOC, .bytes = 64, .time_ns = PLIM_TIME_UNKNOWN };
    const plim_device_ranges ranges = { .events = { .count = 1 } };
    T_TRUE(plim_history_create(NULL, &history, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_string(history, file, strlen(file), &frame.filename, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_string(history, name, name_bytes, &frame.name, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_frame(history, &frame, &number, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_stack(history, &number, 1, &event.stack, NULL) == PLIM_OK);
    event.note = PLIM_NONE;
    T_TRUE(plim_history_push_event(history, &event, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

static const struct {
    const char *file;
    const char *name;
    const char *line;
} names[] = {
    { "a.py", "f;g\nh\tk\x01", "a.py:7 in f:g h k  64\n" },
    { "a.py", "\xc3\xa9t\xc3\xa9 \xff\xfe",
      "a.py:7 in \xc3\xa9t\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd 64\n" },
    { "a.py", "x\xe2\x80\xa8y\xc2\x85z", "a.py:7 in x y z 64\n" },
    { "a.py", "\"quoted\" 12", "a.py:7 in \"quoted\"_12 64\n" },
    { "a.py", "call 1.5", "a.py:7 in call_1.5 64\n" },
    { "a.py", "v2", "a.py:7 in v2 64\n" },
    { "", "", "[unnamed frame] 64\n" },
};

static void names_of_any_bytes_make_one_line(void)
{
    for (size_t i = 0; i < T_COUNT(names); i++) {
        T_CASE("%s", names[i].line);
        plim_history *const history =
            history_of_names(names[i].file, names[i].name, strlen(names[i].name));
        T_EQ_STR(folded(history, (plim_export_options){ 0 }), names[i].line);
        plim_history_destroy(history);
    }
}

/* --- every format --- */

static const char *name_for(const plim_export_format *format)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "every%s", format->endings[0]);
    return in_folder(name);
}

static plim_status export_as(const plim_history *history, const plim_export_format *format,
                             const plim_mem *mem)
{
    plim_export_result result = { 0 };
    const plim_export_options options = { .mem = mem, .format = format, .replaces = true };
    const char *const path = name_for(format);
    plim_error err = { 0 };
    const plim_status status = plim_history_export(history, path, &options, &result, &err);
    plim_export_result_deinit(&result);
    if (status != PLIM_OK && status != PLIM_OUT_OF_HOST_MEMORY) {
        fail_msg("%s", err.message);
    }
    return status;
}

static const char *const hostile[] = {
    "capacity 5",                                                  /* nothing happened */
    "alloc 0 100 @1",                                              /* one event */
    "segment 0 2048; block 0 2048 100 allocated @1",               /* a state without events */
    "capacity 2; overflowed yes; request 0 7 @2; complete 0 7 @2", /* a ring that wrapped */
    "alloc 0 18446744073709551615 @1; alloc 512 18446744073709551615 @2",  /* sums beyond 2^64 */
    "alloc 0 5 @1; alloc 0 6 @1; request 0 6; request 0 6; complete 99 1", /* contradictions */
    "alloc 0 0 @1; oom 512 100 @2; alloc 512 1", /* a request of no bytes, a failure */
    "segment_alloc 0 2048; alloc 0 5; segment_free 0 2048; snapshot 5",
};

static void every_format_takes_hostile_histories(void)
{
    const plim_export_format *format = NULL;
    for (size_t i = 0; (format = plim_export_format_at(i)) != NULL; i++) {
        for (size_t j = 0; j < T_COUNT(hostile); j++) {
            T_CASE("%s of %s", format->name, hostile[j]);
            plim_history *const history = script_history(hostile[j]);
            T_TRUE(export_as(history, format, NULL) == PLIM_OK);
            plim_history_destroy(history);
        }
        T_CASE("%s of a name of 1 MB", format->name);
        char *const name = malloc(1 << 20);
        T_NOT_NULL(name);
        memset(name, '"', 1 << 20);
        plim_history *const history = history_of_names("a.py", name, 1 << 20);
        T_TRUE(export_as(history, format, NULL) == PLIM_OK);
        plim_history_destroy(history);
        free(name);
    }
}

typedef struct attempt {
    const plim_history *history;
    const plim_export_format *format;
} attempt;

static bool export_with(const plim_mem *mem, void *ctx)
{
    const attempt *const self = ctx;
    const plim_status status = export_as(self->history, self->format, mem);
    if (status != PLIM_OK) {
        T_TRUE(status == PLIM_OUT_OF_HOST_MEMORY);
        T_TRUE(access(name_for(self->format), F_OK) != 0); /* nothing is left */
    }
    (void)unlink(name_for(self->format));
    return status == PLIM_OK;
}

static void each_failing_allocation_surfaces(void)
{
    plim_history *const history =
        script_history("segment 0 4096; block 0 512 100 allocated @1; alloc 1024 50 @3; "
                       "alloc 1536 7; request 512 30 @3; complete 512 30 @3; oom 64 99 @2");
    const plim_export_format *format = NULL;
    for (size_t i = 0; (format = plim_export_format_at(i)) != NULL; i++) {
        T_CASE("%s", format->name);
        (void)unlink(name_for(format));
        t_fail_each_allocation(export_with, &(attempt){ history, format });
    }
    plim_history_destroy(history);
}

/* --- the table --- */

static const struct {
    const char *path;
    const char *format; /* NULL: none */
} endings[] = {
    { "a.speedscope.json", "speedscope" },
    { "a.speedscope.json.gz", "speedscope" },
    { "a.folded", "folded" },
    { "a.collapsed.gz", "folded" },
    { "a.pickle", "snapshot" },
    { "a.plim", "plim" },
    { "a.sqlite", "sqlite" },
    { "a.db", "sqlite" },
    { "a.csv", "csv" },
    { "a.csv.gz", "csv" },
    { "a.trace.json", "chrome" },
    { "a.pb.gz", "pprof" },
    { "a.db.gz", NULL },
    { "a.json", NULL },
    { "a.plim.gz", NULL },
    { ".folded", NULL },
    { "a", NULL },
    { "", NULL },
    { "a.folded.txt", NULL },
    { "-", NULL },
};

static void the_longest_ending_names_the_format(void)
{
    for (size_t i = 0; i < T_COUNT(endings); i++) {
        T_CASE("%s", endings[i].path);
        const plim_export_format *const format = plim_export_format_of(endings[i].path);
        if (endings[i].format == NULL) {
            T_NULL(format);
        } else {
            T_NOT_NULL(format);
            T_EQ_STR(format->name, endings[i].format);
            T_TRUE(plim_export_format_named(format->name) == format);
        }
    }
    T_NULL(plim_export_format_named("none"));
}

static void a_history_without_devices_has_no_stacks_to_weigh(void)
{
    plim_history *history = NULL;
    plim_error err = { 0 };
    plim_export_result result = { 0 };
    T_TRUE(plim_history_create(NULL, &history, NULL) == PLIM_OK);
    plim_history_seal(history);
    T_TRUE(plim_history_export(history, in_folder("none.folded"), NULL, &result, &err) ==
           PLIM_UNSUPPORTED);
    T_EQ_STR(err.message, "no device is recorded in it");
    T_TRUE(access(in_folder("none.folded"), F_OK) != 0);
    plim_history_destroy(history);
}

static void a_folder_is_made(void)
{
    T_NOT_NULL(mkdtemp(folder));
}

static void nothing_else_was_left(void)
{
    const plim_export_format *format = NULL;
    for (size_t i = 0; (format = plim_export_format_at(i)) != NULL; i++) {
        (void)unlink(name_for(format));
    }
    (void)unlink(in_folder("a.folded"));
    (void)unlink(in_folder("a.speedscope.json"));
    T_EQ_I64(rmdir(folder), 0);
}

T_MAIN(T_TEST(a_folder_is_made), T_TEST(a_stack_of_a_free_is_not_shown_as_one_of_an_allocation),
       T_TEST(a_span_weighs_what_grew_what_differs_and_all_that_was_allocated),
       T_TEST(the_result_has_the_sums), T_TEST(names_of_any_bytes_make_one_line),
       T_TEST(every_format_takes_hostile_histories), T_TEST(each_failing_allocation_surfaces),
       T_TEST(the_longest_ending_names_the_format),
       T_TEST(a_history_without_devices_has_no_stacks_to_weigh), T_TEST(nothing_else_was_left))
