/*
 * test_rehearse_json.c - the document `rehearse/1`: as approved, and JSON whatever names are in it.
 */
#include "golden.h"
#include "harness.h"
#include "rehearse_sample.h"

#include "report/json/documents.h"

#include <math.h>
#include <yajl/yajl_tree.h>

#define DOCUMENT_BYTES_MAX ((size_t)1 << 22)

static rehearse_sample sample; /* large, and filled anew by each test */

static plim_rehearse_try tries[] = {
    { 1, PLIM_REHEARSED_FITS, { 8 * GIB, 9 * GIB, 10 * GIB }, 4.5 },
    { 16, PLIM_REHEARSED_FITS, { 70 * GIB, 74 * GIB, 75 * GIB }, 5 },
    { 17, PLIM_REHEARSED_OUT_OF_MEMORY, { 71 * GIB, 78 * GIB, 79 * GIB }, 3 },
};

static plim_status write_to(plim_sink sink, const plim_mem *mem, plim_error *err)
{
    plim_page page;
    plim_page_init(&page, mem);
    plim_rehearse_page(&page, &sample.rehearsed, false);
    const plim_status status = plim_rehearse_json_write(sink, &sample.rehearsed, &page, err);
    plim_page_deinit(&page);
    return status;
}

static plim_status write(plim_text *out, const plim_mem *mem)
{
    plim_text_init(out, mem, DOCUMENT_BYTES_MAX);
    return write_to(plim_sink_to_text(out), mem, NULL);
}

static plim_status write_search(plim_text *out, const plim_mem *mem, size_t count, uint64_t best)
{
    sample_begin(&sample);
    const plim_rehearse_tries search = {
        .items = tries,
        .count = count,
        .best = best,
        .is_complete = true,
        .gpu = &sample.gpu,
        .device_count = 1,
        .capacity_bytes = 79 * GIB,
    };
    plim_text_init(out, mem, DOCUMENT_BYTES_MAX);
    plim_page page;
    plim_page_init(&page, mem);
    plim_rehearse_tries_page(&page, &search);
    const plim_status status =
        plim_rehearse_json_write_tries(plim_sink_to_text(out), &search, &page, NULL);
    plim_page_deinit(&page);
    return status;
}

static void fits(void)
{
    static const char *const recordings[] = { "run.plim" };
    sample.rehearsed.recordings = recordings;
    sample.rehearsed.recording_count = 1;
    sample.outcome.warnings = sample_warnings;
    sample.outcome.warning_count = 1;
    sample.processes[0].warnings = sample_warnings;
    sample.processes[0].warning_count = 1;
}

static void ran_out(void)
{
    sample_run_out(&sample);
}

static void ran_out_with_need(void)
{
    sample_run_out(&sample);
    sample_need(&sample);
}

static void ran_out_and_tried(void)
{
    sample_run_out(&sample);
    sample_tried(&sample);
}

static void no_process(void)
{
    sample.outcome.process_count = 0;
    sample.outcome.call_count = 0;
}

static void ranks(void)
{
    sample_spread(&sample, 2);
}

static const struct {
    const char *golden;
    void (*change)(void);
} documents[] = {
    { "rehearse-fits.json", fits },
    { "rehearse-oom.json", ran_out },
    { "rehearse-oom-need.json", ran_out_with_need },
    { "rehearse-oom-tried.json", ran_out_and_tried },
    { "rehearse-no-process.json", no_process },
    { "rehearse-ranks.json", ranks },
};

static void documents_are_as_approved(void)
{
    plim_text out;
    for (size_t i = 0; i < T_COUNT(documents); i++) {
        T_CASE("%s", documents[i].golden);
        sample_begin(&sample);
        documents[i].change();
        T_EQ_I64(write(&out, NULL), PLIM_OK);
        golden_check(documents[i].golden, &out);
        plim_text_deinit(&out);
    }
    T_EQ_I64(write_search(&out, NULL, T_COUNT(tries), 16), PLIM_OK);
    golden_check("rehearse-tries.json", &out);
    plim_text_deinit(&out);
    T_EQ_I64(write_search(&out, NULL, 0, 0), PLIM_OK);
    golden_check("rehearse-tries-none.json", &out);
    plim_text_deinit(&out);
}

/* ---- every member is there ------------------------------------------------------------------- */

static yajl_val read_back(plim_text *out)
{
    char why[256] = "";
    yajl_val root = yajl_tree_parse(plim_text_string(out), why, sizeof(why));
    if (root == NULL) {
        print_error("%s\n", why);
    }
    T_NOT_NULL(root);
    return root;
}

static yajl_val get(yajl_val object, const char *key)
{
    const char *path[] = { key, NULL };
    return yajl_tree_get(object, path, yajl_t_any);
}

static yajl_val first(yajl_val object, const char *key)
{
    yajl_val array = get(object, key);
    T_TRUE(YAJL_IS_ARRAY(array));
    T_TRUE(YAJL_GET_ARRAY(array)->len > 0);
    return YAJL_GET_ARRAY(array)->values[0];
}

/* These and no others: what docs/formats/rehearse-json.md lists. `keys` ends in NULL. */
static void check_members(yajl_val object, const char *const *keys)
{
    size_t count = 0;
    T_TRUE(YAJL_IS_OBJECT(object));
    for (; keys[count] != NULL; count++) {
        T_CASE("%s", keys[count]);
        T_NOT_NULL(get(object, keys[count]));
    }
    T_EQ_U64(YAJL_GET_OBJECT(object)->len, count);
}

#define MEMBERS(...)      \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static void every_member_is_there_whatever_happened(void)
{
    for (size_t i = 0; i < T_COUNT(documents); i++) {
        plim_text out;
        sample_begin(&sample);
        documents[i].change();
        T_EQ_I64(write(&out, NULL), PLIM_OK);
        yajl_val root = read_back(&out);
        check_members(root, MEMBERS("says", "schema", "verdict", "reason", "bound", "command",
                                    "exit_status", "gpu", "peak_allocated_bytes",
                                    "peak_reserved_bytes", "peak_device_bytes", "peak_device",
                                    "oom_verdict", "need", "tried", "late", "devices", "processes",
                                    "with", "unanswered", "calls", "recordings", "warnings"));
        check_members(get(root, "peak_device"),
                      MEMBERS("low_bytes", "expected_bytes", "high_bytes"));
        check_members(get(root, "gpu"), MEMBERS("key", "name", "capacity_bytes", "count"));
        check_members(first(root, "devices"),
                      MEMBERS("device", "peak", "peak_bytes", "program_bytes", "context_bytes",
                              "libraries_bytes", "driver_reserved_bytes", "nvml_v1_peak_bytes",
                              "waits", "waiting_bytes"));
        if (sample.outcome.process_count > 0) {
            yajl_val process = first(root, "processes");
            check_members(process,
                          MEMBERS("pid", "rank", "world_size", "torch", "conf", "ended",
                                  "stop_reason", "stop_text", "exception", "steps",
                                  "import_seconds", "total_seconds", "devices", "ooms", "oom_count",
                                  "oom_places", "value_reads", "facts", "with", "warnings"));
            yajl_val device = first(process, "devices");
            check_members(device, MEMBERS("device", "peak_allocated_bytes", "peak_reserved_bytes",
                                          "peak_active_bytes", "peak_requested_bytes", "peak_step",
                                          "peak_phase", "allocated_bytes", "reserved_bytes",
                                          "alloc_retries", "ooms", "phases", "steps"));
            check_members(first(device, "phases"),
                          MEMBERS("phase", "peak_allocated_bytes", "peak_reserved_bytes"));
            check_members(first(device, "steps"),
                          MEMBERS("step", "peak_allocated_bytes", "peak_reserved_bytes",
                                  "end_allocated_bytes"));
            check_members(first(process, "value_reads"),
                          MEMBERS("where", "what", "why", "count", "stack"));
            check_members(first(root, "calls"), MEMBERS("function", "kind", "count", "note"));
        }
        if (sample.rehearsed.tried_count > 0) {
            check_members(first(root, "tried"),
                          MEMBERS("settings", "verdict", "peak_allocated_bytes",
                                  "peak_reserved_bytes", "peak_device_bytes", "steps", "has_all"));
        }
        if (sample.rehearsed.ran_out) {
            check_members(first(first(root, "processes"), "ooms"),
                          MEMBERS("device", "step", "phase", "requested_bytes",
                                  "device_total_bytes", "device_free_bytes", "verdict",
                                  "alternatives", "confidence", "certainty", "why", "figures",
                                  "text", "stack"));
        }
        yajl_tree_free(root);
        plim_text_deinit(&out);
    }
}

static void verdicts_are_told_in_their_order(void)
{
    static const struct {
        size_t unanswered_count;
        bool ran_out;
        int exit_status;
        const char *verdict;
    } rows[] = {
        { 0, false, 0, "fits" },         { 0, false, 1, "failed" },
        { 0, true, 1, "out_of_memory" }, { 1, false, 0, "unanswered" },
        { 2, true, 1, "unanswered" },    { 0, false, 137, "failed" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        plim_text out;
        sample_begin(&sample);
        sample.outcome.unanswered_count = rows[i].unanswered_count;
        sample.rehearsed.ran_out = rows[i].ran_out;
        sample.rehearsed.exit_status = rows[i].exit_status;
        T_EQ_I64(write(&out, NULL), PLIM_OK);
        yajl_val root = read_back(&out);
        T_EQ_STR(YAJL_GET_STRING(get(root, "verdict")), rows[i].verdict);
        T_EQ_I64(YAJL_GET_INTEGER(get(root, "exit_status")), rows[i].exit_status);
        T_EQ_I64(YAJL_GET_INTEGER(get(root, "unanswered")), (int64_t)rows[i].unanswered_count);
        yajl_tree_free(root);
        plim_text_deinit(&out);
    }
}

static void a_failure_has_its_reason_and_places_their_counts(void)
{
    static const plim_rehearsed_oom_place places[] = { { "train.py:9 main", 24 },
                                                       { "train.py:12 main", 1 } };
    plim_text out;
    sample_begin(&sample);
    sample.rehearsed.reason = (plim_rehearsed_reason){ "no_gpu_used", "CUDA was never used" };
    sample.processes[0].oom_total = 25;
    sample.processes[0].oom_places = places;
    sample.processes[0].oom_place_count = T_COUNT(places);
    T_EQ_I64(write(&out, NULL), PLIM_OK);
    yajl_val root = read_back(&out);
    T_EQ_STR(YAJL_GET_STRING(get(root, "verdict")), "failed"); /* with exit status 0 */
    check_members(get(root, "reason"), MEMBERS("word", "text"));
    T_EQ_STR(YAJL_GET_STRING(get(get(root, "reason"), "word")), "no_gpu_used");
    yajl_val process = first(root, "processes");
    T_EQ_I64(YAJL_GET_INTEGER(get(process, "oom_count")), 25);
    check_members(first(process, "oom_places"), MEMBERS("where", "count"));
    T_EQ_I64(YAJL_GET_INTEGER(get(first(process, "oom_places"), "count")), 24);
    yajl_tree_free(root);
    plim_text_deinit(&out);
}

/* ---- strangers ------------------------------------------------------------------------------- */

static void names_of_any_bytes_stay_json(void)
{
    static const char *const hostile[] = { "\"\\\b\f\n\r\t\x01\x1f\x7f", "\xff\xfe\xc3(\xe2\x82",
                                           "\xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf", "" };
    for (size_t i = 0; i < T_COUNT(hostile); i++) {
        const char *const text = hostile[i];
        const char *const list[] = { text, text, NULL };
        const plim_rehearsed_read read = { text, text, 1, list, 2, NULL };
        const plim_rehearsed_call call = { text, text, text, UINT64_MAX };
        plim_rehearsed_phase phase = sample_phases[0];
        plim_text out;
        T_CASE("row %zu", i);
        sample_begin(&sample);
        sample_run_out(&sample);
        snprintf(sample.gpu.name, sizeof(sample.gpu.name), "%s", text);
        phase.name = text;
        sample.devices[0].phases = &phase;
        sample.devices[0].phase_count = 1;
        sample.devices[0].peak_phase = text;
        sample.processes[0].reads = &read;
        sample.processes[0].read_count = 1;
        sample.processes[0].warnings = list;
        sample.processes[0].warning_count = 2;
        sample.processes[0].torch = sample.processes[0].exception = text;
        sample.processes[0].ended = sample.processes[0].settings = text;
        sample.oom.phase = sample.oom.text = text;
        sample.oom.stack = list;
        sample.oom.stack_count = 2;
        sample.outcome.calls = &call;
        sample.outcome.call_count = 1;
        sample.rehearsed.argv = sample.rehearsed.recordings = list;
        sample.rehearsed.recording_count = 2;
        T_EQ_I64(write(&out, NULL), PLIM_OK);
        for (size_t at = 0; at < out.length; at++) {
            const unsigned char c = (unsigned char)out.data[at];
            T_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f));
        }
        yajl_val root = read_back(&out); /* which refuses what is not UTF-8 */
        T_EQ_U64(YAJL_GET_ARRAY(get(root, "command"))->len, 2);
        yajl_tree_free(root);
        plim_text_deinit(&out);
    }
}

/* What may be missing is null, and numbers beyond all measure stay numbers. */
static void what_is_missing_is_null(void)
{
    plim_text out;
    sample_begin(&sample);
    sample_run_out(&sample);
    sample.rehearsed.message = NULL;
    sample.processes[0].exception = NULL;
    sample.processes[0].total_seconds = (double)NAN;
    sample.oom.text = NULL;
    sample.devices[0].peak_allocated_bytes = INT64_MAX;
    T_EQ_I64(write(&out, NULL), PLIM_OK);
    yajl_val root = read_back(&out);
    yajl_val process = first(root, "processes");
    T_TRUE(YAJL_IS_NULL(get(root, "oom_verdict")));
    T_TRUE(YAJL_IS_NULL(get(process, "exception")));
    T_TRUE(YAJL_IS_NULL(get(process, "total_seconds")));
    T_TRUE(YAJL_IS_NULL(get(first(process, "ooms"), "text")));
    T_EQ_I64(YAJL_GET_INTEGER(get(root, "peak_allocated_bytes")), INT64_MAX);
    yajl_tree_free(root);
    plim_text_deinit(&out);
}

/* ---- lack of memory, and of room --------------------------------------------------------------
 */

static bool write_document(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_text out;
    const bool ok = write(&out, mem) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static bool write_search_document(const plim_mem *mem, void *ctx)
{
    (void)ctx;
    plim_text out;
    const bool ok = write_search(&out, mem, T_COUNT(tries), 16) == PLIM_OK;
    plim_text_deinit(&out);
    return ok;
}

static void lack_of_memory_is_never_a_success(void)
{
    sample_begin(&sample);
    sample_run_out(&sample);
    t_fail_each_allocation(write_document, NULL);
    t_fail_each_allocation(write_search_document, NULL);
}

static void a_sink_that_is_full_is_an_error(void)
{
    plim_text out;
    plim_error err = { 0 };
    sample_begin(&sample);
    plim_text_init(&out, NULL, 100);
    T_EQ_I64(write_to(plim_sink_to_text(&out), NULL, &err), PLIM_IO);
    T_EQ_STR(err.message, "cannot write the document");
    plim_text_deinit(&out);
}

T_MAIN(T_TEST(documents_are_as_approved), T_TEST(every_member_is_there_whatever_happened),
       T_TEST(verdicts_are_told_in_their_order),
       T_TEST(a_failure_has_its_reason_and_places_their_counts),
       T_TEST(names_of_any_bytes_stay_json), T_TEST(what_is_missing_is_null),
       T_TEST(lack_of_memory_is_never_a_success), T_TEST(a_sink_that_is_full_is_an_error))
