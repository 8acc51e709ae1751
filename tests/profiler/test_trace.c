/*
 * test_trace.c - traces of PyTorch's profiler as histories: events, stacks, annotations, damage.
 */
#include "reading.h"

#define MEMORY(ts, tid, args)                                                                     \
    "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts ",\"args\":{" args \
    "}}"
#define GPU0 "\"Device Type\":1,\"Device Id\":0,"
#define SPAN(cat, name, tid, ts, dur)                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts \
    ",\"dur\":" dur "}"

static const char small[] =
    "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": ["
    /* in no order, as Kineto writes them */
    MEMORY(
        "30.5", "7",
        GPU0
        "\"Addr\":4096,\"Bytes\":-1024,\"Total Allocated\":5000,"
        "\"Total Reserved\":8192") "," MEMORY("15.25", "7",
                                              GPU0
                                              "\"Addr\":4096,\"Bytes\":1024,\"Total "
                                              "Allocated\":6024,"
                                              "\"Total Reserved\":8192,\"Ev Idx\":3") "," SPAN("pyt"
                                                                                               "hon"
                                                                                               "_fu"
                                                                                               "nct"
                                                                                               "io"
                                                                                               "n",
                                                                                               "tra"
                                                                                               "in."
                                                                                               "py("
                                                                                               "12)"
                                                                                               ": "
                                                                                               "ste"
                                                                                               "p",
                                                                                               "7",
                                                                                               "10",
                                                                                               "20") "," SPAN("cpu_op",
                                                                                                              "aten::mm",
                                                                                                              "7",
                                                                                                              "15",
                                                                                                              "5") "," SPAN("python_function",
                                                                                                                            "<built-in method mm of type object at 0x7ffff66e9fa0>",
                                                                                                                            "7",
                                                                                                                            "14",
                                                                                                                            "7") "," SPAN("cpu_op",
                                                                                                                                          "aten::mul",
                                                                                                                                          "8",
                                                                                                                                          "0",
                                                                                                                                          "100") "," /* another thread */
    SPAN("kernel", "gemm", "7", "15",
         "5") "," SPAN("user_annotation", "ProfilerStep#3", "7", "1",
                       "40") "," MEMORY("16", "7",
                                        "\"Device Type\":0,\"Device "
                                        "Id\":-1,\"Addr\":64,\"Bytes\":8") "], \"traceName\": "
                                                                           "\"t.json\"}";

static void events_are_sorted_and_have_stacks(void)
{
    plim_history *const history = t_must_read(small);
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_U64(events->count, 4); /* what was there before, an alloc, both halves of a free */
    T_EQ_U64(events->action[0], PLIM_ALLOC);
    T_EQ_U64(events->bytes[0], 5000);
    T_EQ_U64(plim_history_device(history, 0)->earlier_events, 1);
    T_EQ_STR(t_frame(history, 0, 0), "(allocated before the trace began)");
    T_EQ_U64(events->action[1], PLIM_ALLOC);
    T_EQ_U64(events->addr[1], 4096);
    T_EQ_U64(events->bytes[1], 1024);
    T_EQ_I64(events->time_us[1], INT64_C(1700000000000015));
    T_EQ_STR(t_frame(history, 1, 0), "aten::mm");
    T_EQ_STR(t_frame(history, 1, 1), "<built-in method mm of type object>");
    T_EQ_STR(t_frame(history, 1, 2), "step");
    const plim_stack stack = plim_history_stack(history, events->stack[1]);
    T_EQ_U64(stack.frame_count, 3);
    const plim_frame *const frame = plim_history_frame(history, stack.frames[2]);
    T_EQ_STR(plim_history_string(history, frame->filename, NULL), "train.py");
    T_EQ_U64(frame->line, 12);
    T_EQ_U64(events->action[2], PLIM_FREE_REQUESTED);
    T_EQ_U64(events->action[3], PLIM_FREE_COMPLETED);
    T_EQ_U64(events->stack[3], PLIM_NONE); /* step had ended */
    T_EQ_U64(t_peak(history), 6024);
    plim_history_destroy(history);
}

static void annotations_begin_and_end(void)
{
    plim_history *const history = t_must_read(small);
    uint64_t count = 0;
    const plim_annotation *const annotations = plim_history_annotations(history, &count);
    T_EQ_U64(count, 2);
    T_EQ_STR(plim_history_string(history, annotations[0].name, NULL), "ProfilerStep#3");
    T_TRUE(annotations[0].is_start);
    T_FALSE(annotations[1].is_start);
    T_EQ_I64(annotations[1].time_us, INT64_C(1700000000000041));
    plim_history_destroy(history);
}

static void the_source_says_what_it_lacks(void)
{
    static const char *const lines[] = {
        "the profiler records the sizes of blocks: what was requested of them is not known, nor "
        "are segments and streams",
        "GPU 0: event 0 stands for 4.88 KiB that were allocated before the trace began and not "
        "freed in it",
        "GPU 0: the trace says that up to 8.00 KiB were reserved, but not in which segments",
        "stacks are those of the profiler: a line is the one where its function begins",
        "1 event of CPU memory is left out",
    };
    plim_history *const history = t_must_read(small);
    T_EQ_STR(plim_history_source(history).format, "kineto");
    T_EQ_U64(plim_history_source(history).sizes, PLIM_SIZES_OF_BLOCKS);
    T_EQ_U64(plim_history_source(history).bytes, sizeof small - 1);
    T_EQ_U64(plim_history_warning_count(history), T_COUNT(lines));
    for (size_t i = 0; i < T_COUNT(lines); i++) {
        T_EQ_STR(plim_history_warning(history, i), lines[i]);
    }
    plim_history_destroy(history);
}

static void a_bare_array_is_a_trace(void)
{
    plim_history *const history = t_must_read(
        "[" MEMORY("3", "\"main\"", GPU0 "\"Addr\":512,\"Bytes\":700") ",{\"ph\":\"M\"}]");
    T_EQ_U64(plim_history_device(history, 0)->events.count, 1);
    T_EQ_U64(t_peak(history), 700); /* sizes are those of blocks: nothing is rounded */
    plim_history_destroy(history);
}

static void devices_come_in_order(void)
{
    plim_history *const history = t_must_read(
        "[" MEMORY("3", "1", "\"Device Type\":1,\"Device Id\":2,\"Addr\":512,\"Bytes\":8") "," MEMORY(
            "4", "1",
            GPU0 "\"Addr\":512,\"Bytes\":16") "," MEMORY("5", "1",
                                                         "\"Device Type\":20,\"Device "
                                                         "Id\":0,\"Addr\":512,\"Bytes\":32") "]");
    T_EQ_U64(plim_history_device_count(history), 2);
    T_EQ_I64(plim_history_device(history, 0)->device, 0);
    T_EQ_I64(plim_history_device(history, 1)->device, 2);
    T_EQ_STR(plim_history_warning(history, 2), "1 event of another kind of device is left out");
    plim_history_destroy(history);
}

/* The same run has a recording of its own, with this peak (tests/data/profiles/README.md). */
static void a_recorded_trace_has_the_peak_of_its_run(void)
{
    plim_history *const history = t_must_read_file("tests/data/profiles/kineto.json.gz");
    T_EQ_U64(t_peak(history), 79180800);
    T_EQ_STR(plim_history_source(history).compression, "gzip");
    uint64_t count = 0;
    (void)plim_history_annotations(history, &count);
    T_TRUE(count > 0);
    plim_history_destroy(history);
}

static void what_cannot_be_read_says_why(void)
{
    static const struct {
        const char *text;
        plim_status status;
        const char *message;
    } rows[] = {
        { "{\"traceEvents\": []}", PLIM_UNSUPPORTED,
          "a trace without memory events: torch.profiler.profile(profile_memory=True) records "
          "them" },
        { "{\"schemaVersion\": 1}", PLIM_UNSUPPORTED,
          "a trace without \"traceEvents\": not one of PyTorch's profiler" },
        { "[" MEMORY("3", "1", "\"Device Type\":0,\"Device Id\":-1,\"Addr\":1,\"Bytes\":8") "]",
          PLIM_UNSUPPORTED, "the trace has memory events of the CPU alone, none of a GPU" },
        { "[" MEMORY("3", "1", GPU0 "\"Bytes\":8") "]", PLIM_UNSUPPORTED,
          "the trace's memory events have no addresses (\"Addr\"), so that no free can be matched; "
          "newer PyTorch records them" },
        { "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>",
          PLIM_UNSUPPORTED,
          "a memory timeline as a picture has no figures: export it to NAME.raw.json.gz, or record "
          "a snapshot" },
        { "{\"traceEvents\": [" MEMORY("3", "1", GPU0 "\"Bytes\":8"), PLIM_CORRUPT,
          "damaged JSON: a character that does not belong there, or the file is cut off" },
        { "{\"traceEvents\": [NaN]}", PLIM_CORRUPT,
          "damaged JSON: a character that does not belong there, or the file is cut off" },
        { "{\"segments\": []}", PLIM_UNSUPPORTED, "not an export of PyTorch's profiler" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("row %zu", i);
        plim_history *history = NULL;
        plim_error err = { 0 };
        T_EQ_U64(t_read(rows[i].text, strlen(rows[i].text), NULL, &history, &err), rows[i].status);
        T_EQ_STR(err.message, rows[i].message);
        T_NULL(history);
    }
}

static void wrong_types_are_counted(void)
{
    plim_history *const history = t_must_read(
        "[" MEMORY("3", "1", GPU0 "\"Addr\":512,\"Bytes\":8,\"Bytes\":16") "," MEMORY("\"x\"", "1", GPU0 "\"Addr\":512,\"Bytes\":8") "," MEMORY("4", "1", GPU0 "\"Addr\":512,\"Bytes\":1e9") "," MEMORY(
            "4", "1",
            GPU0
            "\"Addr\":512,\"Bytes\":99999999999999999999") "," MEMORY("4", "1",
                                                                      GPU0
                                                                      "\"Addr\":512,"
                                                                      "\"Bytes\":{"
                                                                      "\"Bytes\":[1,[2]]"
                                                                      "}") "," MEMORY("4", "1",
                                                                                      "\""
                                                                                      "De"
                                                                                      "vi"
                                                                                      "ce"
                                                                                      " T"
                                                                                      "yp"
                                                                                      "e"
                                                                                      "\""
                                                                                      ":1"
                                                                                      ","
                                                                                      "\""
                                                                                      "De"
                                                                                      "vi"
                                                                                      "ce"
                                                                                      " I"
                                                                                      "d"
                                                                                      "\""
                                                                                      ":-"
                                                                                      "7,"
                                                                                      "\""
                                                                                      "Ad"
                                                                                      "dr"
                                                                                      "\""
                                                                                      ":5"
                                                                                      "12"
                                                                                      ","
                                                                                      "\""
                                                                                      "By"
                                                                                      "te"
                                                                                      "s"
                                                                                      "\""
                                                                                      ":"
                                                                                      "1") "," SPAN("cpu_op",
                                                                                                    "a",
                                                                                                    "1",
                                                                                                    "1",
                                                                                                    "-5") "," SPAN("cpu_op",
                                                                                                                   "b",
                                                                                                                   "1",
                                                                                                                   "99999999999999999999",
                                                                                                                   "5") ","
                                                                                                                        "17, [], {\"args\": 3}, {\"args\": {\"Bytes\": {}}}]");
    T_EQ_U64(plim_history_device(history, 0)->events.count, 1);
    T_EQ_U64(plim_history_device(history, 0)->events.bytes[0], 16);
    T_EQ_U64(plim_history_anomaly_count(history, PLIM_ANOMALY_BAD_FIELD), 7);
    plim_history_destroy(history);
}

/* A span that outlives the one around it ends with it; one that ends as another begins is over. */
static void spans_that_do_not_nest_are_cut(void)
{
    plim_history *const history = t_must_read("[" SPAN("cpu_op", "outer", "1", "0", "10") "," SPAN(
        "cpu_op", "late", "1", "5",
        "100") "," SPAN("cpu_op", "next", "1", "10",
                        "5") "," MEMORY("6", "1",
                                        GPU0
                                        "\"Addr\":512,\"Bytes\":8") "," MEMORY("12", "1",
                                                                               GPU0
                                                                               "\"Addr\":1024,"
                                                                               "\"Bytes\":8") "]");
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_STR(t_frame(history, 0, 0), "late");
    T_EQ_STR(t_frame(history, 0, 1), "outer");
    T_EQ_STR(t_frame(history, 1, 0), "next");
    T_EQ_U64(plim_history_stack(history, events->stack[1]).frame_count, 1);
    plim_history_destroy(history);
}

static void deep_stacks_and_nesting_are_bounded(void)
{
    enum { DEPTH = 100000, ROW = 128 };
    char *const text = malloc((size_t)DEPTH * ROW + 1024);
    T_NOT_NULL(text);
    size_t at = (size_t)sprintf(text, "[");
    for (int i = 0; i < DEPTH; i++) {
        at += (size_t)sprintf(text + at, SPAN("cpu_op", "f%d", "1", "%d", "%d") ",", i, i,
                              2 * DEPTH - 2 * i);
    }
    at +=
        (size_t)sprintf(text + at, MEMORY("%d.5", "1", GPU0 "\"Addr\":512,\"Bytes\":8") "]", DEPTH);
    plim_history *history = t_must_read(text);
    const plim_events *const events = &plim_history_device(history, 0)->events;
    T_EQ_U64(plim_history_stack(history, events->stack[0]).frame_count, 512);
    T_EQ_STR(t_frame(history, 0, 0), "f99999");
    plim_history_destroy(history);

    at = (size_t)sprintf(text, "{\"traceEvents\":[{\"args\":");
    memset(text + at, '[', DEPTH);
    text[at + DEPTH] = '\0';
    plim_error err = { 0 };
    history = NULL;
    T_EQ_U64(t_read(text, at + DEPTH, NULL, &history, &err), PLIM_CORRUPT);
    free(text);
}

static void a_name_of_a_mebibyte_is_a_frame(void)
{
    const size_t bytes = (size_t)1 << 20;
    char *const name = malloc(bytes + 1);
    char *const text = malloc(bytes + 1024);
    T_NOT_NULL(name);
    T_NOT_NULL(text);
    memset(name, '(', bytes);
    name[bytes] = '\0';
    (void)sprintf(text,
                  "[" SPAN("python_function", "%s", "1", "0",
                           "10") "," MEMORY("5", "1", GPU0 "\"Addr\":512,\"Bytes\":8") "]",
                  name);
    plim_history *const history = t_must_read(text);
    T_EQ_STR(t_frame(history, 0, 0), name);
    plim_history_destroy(history);
    free(name);
    free(text);
}

static void snapshots_are_not_taken_for_traces(void)
{
    static const char *const others[] = {
        "{\"segments\": [], \"device_traces\": []}",
        "[{\"device\": 0, \"address\": 1}]",
        "{\"device_traces\": [[{\"ph\": 1}]]}",
        "[]",
        "{}",
        "",
        "[",
        "{\"schema",
        "text",
        "<html><title>Loss</title></html>",
    };
    for (size_t i = 0; i < T_COUNT(others); i++) {
        T_CASE("file %zu", i);
        T_FALSE(plim_profiler_looks_like((const uint8_t *)others[i], strlen(others[i])));
    }
    T_TRUE(plim_profiler_looks_like((const uint8_t *)small, sizeof small - 1));
}

static bool read_small(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_history *history = NULL;
    plim_error err = { 0 };
    const plim_status status = t_read(small, sizeof small - 1, mem, &history, &err);
    T_EQ_U64(err.status, status);
    plim_history_destroy(history);
    return status == PLIM_OK;
}

static void every_allocation_may_fail(void)
{
    t_fail_each_allocation(read_small, NULL);
}

T_MAIN(T_TEST(events_are_sorted_and_have_stacks), T_TEST(annotations_begin_and_end),
       T_TEST(the_source_says_what_it_lacks), T_TEST(a_bare_array_is_a_trace),
       T_TEST(devices_come_in_order), T_TEST(a_recorded_trace_has_the_peak_of_its_run),
       T_TEST(what_cannot_be_read_says_why), T_TEST(wrong_types_are_counted),
       T_TEST(spans_that_do_not_nest_are_cut), T_TEST(deep_stacks_and_nesting_are_bounded),
       T_TEST(a_name_of_a_mebibyte_is_a_frame), T_TEST(snapshots_are_not_taken_for_traces),
       T_TEST(every_allocation_may_fail))
