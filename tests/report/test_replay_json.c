/*
 * test_replay_json.c - the documents `replay/1` and `tune/1`: as approved, and every member there.
 */
#include "golden.h"
#include "harness.h"
#include "replay_sample.h"

#include "report/json/documents.h"

#include <yajl/yajl_tree.h>

#define DOCUMENT_BYTES_MAX ((size_t)1 << 22)

static replay_sample sample; /* large, and filled anew by each test */

/* The document of the sample's replay, or of its search. */
static plim_status write_to(plim_sink sink, bool is_search, plim_error *err)
{
    const plim_replay_rows rows = { .items = sample.rows,
                                    .count = sample.row_count,
                                    .asked = sample.row_count > 1 ? 1 : 0 };
    plim_page page;
    plim_page_init(&page, NULL);
    plim_status status = PLIM_OK;
    if (is_search) {
        plim_tune_page(&page, &(plim_tune_view){ 0 }, &sample.input, &sample.tuning);
        status = plim_tune_json_write(sink, &sample.input, &sample.tuning, &page, err);
    } else {
        plim_replay_page(&page, &(plim_replay_view){ 0 }, &sample.input, rows.items, rows.count);
        status = plim_replay_json_write(sink, &sample.input, &rows, &page, err);
    }
    plim_page_deinit(&page);
    return status;
}

static void write_replay(plim_text *out)
{
    plim_text_init(out, NULL, DOCUMENT_BYTES_MAX);
    T_EQ_I64(write_to(plim_sink_to_text(out), false, NULL), PLIM_OK);
}

static void write_search(plim_text *out)
{
    plim_text_init(out, NULL, DOCUMENT_BYTES_MAX);
    T_EQ_I64(write_to(plim_sink_to_text(out), true, NULL), PLIM_OK);
}

/* Two devices, a start that does not fit, scales, a divergence. */
static void complicate(void)
{
    sample.input.device_count = 2;
    sample.input.scales = replay_scales;
    sample.input.scale_count = T_COUNT(replay_scales);
    sample.rows[2].result = NULL;
    sample.rows[2].results = NULL;
    sample.rows[2].failure = "what stood before the first event needs 25.0 GiB";
    sample.tried[2].result = (plim_run_result){ .failed_event = PLIM_NO_EVENT };
    sample.tried[0].empty_cache = PLIM_EMPTY_AT_EVENT;
    sample.tried[0].empty_cache_event = 512;
    sample.fidelity[1].segment_events_matched = 19;
    sample.fidelity[1].share = 0.5;
    sample.fidelity[1].diverges_at_event = 77;
    snprintf(sample.fidelity[1].divergence, sizeof sample.fidelity[1].divergence, "\"quoted\"");
    sample.fidelity[1].caveats[PLIM_CAVEAT_CAPACITY] = 2;
}

static void without_capacity(void)
{
    sample.input.capacity_bytes = PLIM_UNLIMITED;
    sample.facts[0].capacity_source = PLIM_CAPACITY_UNKNOWN;
    sample.facts[0].oom_event = PLIM_NO_EVENT;
    sample.row_count = 1;
    sample.rows[0].min_capacity_bytes = 0;
}

static void simple(void) {}

static const struct {
    void (*change)(void);
    const char *replay;
    const char *tune;
} documents[] = {
    { simple, "replay-died.json", "tune-saved.json" },
    { complicate, "replay-complicated.json", "tune-complicated.json" },
    { without_capacity, "replay-no-capacity.json", "tune-no-capacity.json" },
};

static void documents_are_as_approved(void)
{
    for (size_t i = 0; i < T_COUNT(documents); i++) {
        plim_text out;
        replay_sample_begin(&sample);
        documents[i].change();
        T_CASE("%s", documents[i].replay);
        write_replay(&out);
        golden_check(documents[i].replay, &out);
        plim_text_deinit(&out);
        T_CASE("%s", documents[i].tune);
        write_search(&out);
        golden_check(documents[i].tune, &out);
        plim_text_deinit(&out);
        replay_sample_end(&sample);
    }
}

/* ---- every member is there ------------------------------------------------------------------- */

static yajl_val read_back(plim_text *out)
{
    char why[256] = "";
    yajl_val root = yajl_tree_parse(plim_text_string(out), why, sizeof why);
    T_NOT_NULL(root);
    return root;
}

static yajl_val get(yajl_val object, const char *key)
{
    const char *path[] = { key, NULL };
    return yajl_tree_get(object, path, yajl_t_any);
}

/* These, and `more` others besides. `keys` ends in NULL. */
static void check_members(yajl_val object, const char *const *keys, size_t more)
{
    size_t count = 0;
    T_TRUE(YAJL_IS_OBJECT(object));
    for (; keys[count] != NULL; count++) {
        T_CASE("%s", keys[count]);
        T_NOT_NULL(get(object, keys[count]));
    }
    T_EQ_U64(YAJL_GET_OBJECT(object)->len, count + more);
}

static const char *const input_members[] = {
    "schema",      "file",   "capacity_bytes", "capacity_source", "is_capacity_bound",
    "floor_bytes", "scales", "devices",        "fidelity",        "results",
    "says",        NULL
};

static const char *const result_members[] = {
    "survives",
    "device",
    "peak_reserved_bytes",
    "peak_allocated_bytes",
    "peak_requested_bytes",
    "fragmentation",
    "reserved_at_peak_bytes",
    "allocated_at_peak_bytes",
    "end_reserved_bytes",
    "events",
    "driver_calls",
    "driver_time_us",
    "retries",
    "ooms_survived",
    "start_released_bytes",
    "failed_event",
    "failed_bytes",
    "failed_reserved_bytes",
    "failed_allocated_bytes",
    "failed_request",
    "was_oom",
    "failed_frame",
    NULL,
};

static const char *const row_members[] = {
    "conf",
    "policy",
    "is_recorded",
    "empty_cache",
    "empty_cache_event",
    "min_capacity_bytes",
    "is_min_capacity_bound",
    "failure",
    "by_device",
    NULL,
};

#define RESULT_MEMBERS (T_COUNT(result_members) - 1)
#define ROW_MEMBERS    (T_COUNT(row_members) - 1)

static void check_results(yajl_val root, size_t more)
{
    yajl_val results = get(root, "results");
    T_TRUE(YAJL_IS_ARRAY(results));
    T_TRUE(YAJL_GET_ARRAY(results)->len > 0);
    for (size_t i = 0; i < YAJL_GET_ARRAY(results)->len; i++) {
        yajl_val row = YAJL_GET_ARRAY(results)->values[i];
        check_members(row, row_members, RESULT_MEMBERS + more);
        check_members(row, result_members, ROW_MEMBERS + more);
        yajl_val devices = get(row, "by_device");
        for (size_t j = 0; j < YAJL_GET_ARRAY(devices)->len; j++) {
            check_members(YAJL_GET_ARRAY(devices)->values[j], result_members, 0);
        }
    }
}

static void every_member_is_there_whatever_happened(void)
{
    static const char *const tune_members[] = { "best",
                                                "best_index",
                                                "recorded_index",
                                                "baseline_index",
                                                "reference_index",
                                                "hardly_better_index",
                                                "gain",
                                                "is_saved",
                                                "is_hopeless",
                                                "is_incomplete",
                                                "runs",
                                                NULL };
    for (size_t i = 0; i < T_COUNT(documents); i++) {
        plim_text out;
        replay_sample_begin(&sample);
        documents[i].change();
        write_replay(&out);
        yajl_val root = read_back(&out);
        check_members(root, input_members, RESULT_MEMBERS + ROW_MEMBERS);
        check_members(root, result_members, T_COUNT(input_members) - 1 + ROW_MEMBERS);
        check_results(root, 0);
        yajl_tree_free(root);
        plim_text_deinit(&out);

        write_search(&out);
        root = read_back(&out);
        check_members(root, input_members, T_COUNT(tune_members) - 1);
        check_members(root, tune_members, T_COUNT(input_members) - 1);
        check_results(root, 4); /* is_given, needs_torch, is_too_new, is_start_requested */
        yajl_tree_free(root);
        plim_text_deinit(&out);
        replay_sample_end(&sample);
    }
}

/* ---- sinks ----------------------------------------------------------------------------------- */

static bool refuse(void *ctx, const void *data, size_t bytes)
{
    (void)ctx;
    (void)data;
    (void)bytes;
    return false;
}

static void a_sink_that_fails_is_told(void)
{
    const plim_sink broken = { .write = refuse };
    plim_error err = { 0 };
    replay_sample_begin(&sample);
    T_EQ_I64(write_to(broken, false, &err), PLIM_IO);
    T_EQ_I64(write_to(broken, true, &err), PLIM_IO);
    T_EQ_I64(err.status, PLIM_IO);
    replay_sample_end(&sample);
}

T_MAIN(T_TEST(documents_are_as_approved), T_TEST(every_member_is_there_whatever_happened),
       T_TEST(a_sink_that_fails_is_told))
