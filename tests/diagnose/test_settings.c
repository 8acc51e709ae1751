/*
 * test_settings.c - settings without effect, settings against each other, the collector, and
 * pinned host memory.
 */
#include "history/script.h"
#include "plimsoll/diagnose.h"

#define M (UINT64_C(1) << 20)
#define G (UINT64_C(1) << 30)

/* A setting: a text, or one of the numbers. */
typedef struct setting {
    const char *name; /* NULL ends them */
    const char *text; /* NULL: */
    bool is_boolean;
    bool is_real;
    int64_t integer; /* or the boolean, or thousandths */
} setting;

static uint32_t add_string(plim_history *history, const char *text)
{
    uint32_t string = 0;
    T_TRUE(plim_history_add_string(history, text, strlen(text), &string, NULL) == PLIM_OK);
    return string;
}

static void push_setting(plim_history *history, const setting *given)
{
    plim_setting one = { .group = PLIM_NONE, .name = add_string(history, given->name) };
    if (given->text != NULL) {
        one.kind = PLIM_SETTING_TEXT;
        one.value.text = add_string(history, given->text);
    } else if (given->is_boolean) {
        one.kind = PLIM_SETTING_BOOLEAN;
        one.value.boolean = given->integer != 0;
    } else if (given->is_real) {
        one.kind = PLIM_SETTING_REAL;
        one.value.real = (double)given->integer / 1000;
    } else {
        one.kind = PLIM_SETTING_INTEGER;
        one.value.integer = given->integer;
    }
    T_TRUE(plim_history_push_setting(history, &one, NULL) == PLIM_OK);
}

typedef struct state {
    const setting *settings;
    bool is_expandable;
    const char *span;     /* NULL: none */
    const char *metadata; /* NULL: none */
    int32_t device;
    uint64_t bytes;     /* of the one segment */
    uint64_t requested; /* of the one block, which fills it */
} state;

/* One segment with one block, and an event. */
static plim_history *make(const state *made)
{
    plim_history *history = NULL;
    uint32_t stream = 0;
    T_TRUE(plim_history_create(NULL, &history, NULL) == PLIM_OK);
    T_TRUE(plim_history_add_stream(history, 0, &stream, NULL) == PLIM_OK);
    for (size_t i = 0; made->settings != NULL && made->settings[i].name != NULL; i++) {
        push_setting(history, &made->settings[i]);
    }
    if (made->span != NULL) {
        const plim_annotation span = { .name = add_string(history, made->span),
                                       .time_us = 10,
                                       .is_start = true };
        T_TRUE(plim_history_push_annotation(history, &span, NULL) == PLIM_OK);
    }
    uint32_t note = PLIM_NONE;
    if (made->metadata != NULL) {
        const plim_note one = { .compile_context = PLIM_NONE,
                                .user_metadata = add_string(history, made->metadata),
                                .forward_stack = PLIM_NONE,
                                .category = PLIM_NONE };
        T_TRUE(plim_history_add_note(history, &one, &note, NULL) == PLIM_OK);
    }
    const uint32_t stack = script_stack(history, 1);
    const plim_event event = { .action = PLIM_ALLOC,
                               .addr = 0x1000000,
                               .bytes = made->requested,
                               .stack = stack,
                               .note = note };
    T_TRUE(plim_history_push_event(history, &event, NULL) == PLIM_OK);
    const plim_block block = { .addr = 0x1000000,
                               .bytes = made->bytes,
                               .requested_bytes = made->requested,
                               .stack = stack,
                               .state = PLIM_BLOCK_ACTIVE_ALLOCATED };
    const plim_segment segment = { .addr = 0x1000000,
                                   .bytes = made->bytes,
                                   .stack = PLIM_NONE,
                                   .block_count = 1,
                                   .is_large = true,
                                   .is_expandable = made->is_expandable };
    T_TRUE(plim_history_push_block(history, &block, NULL) == PLIM_OK);
    T_TRUE(plim_history_push_segment(history, &segment, NULL) == PLIM_OK);
    const plim_device_ranges ranges = {
        .device = made->device, .events = { 0, 1 }, .segments = { 0, 1 }, .blocks = { 0, 1 }
    };
    T_TRUE(plim_history_add_device(history, &ranges, NULL) == PLIM_OK);
    plim_history_seal(history);
    return history;
}

static const setting none[] = { { .name = NULL } };
static const setting expandable[] = {
    { .name = "expandable_segments", .is_boolean = true, .integer = 1 }, { .name = NULL }
};
static const setting asked_in_vain[] = {
    { .name = "PYTORCH_CUDA_ALLOC_CONF", .text = "expandable_segments:True" },
    { .name = "expandable_segments", .is_boolean = true, .integer = 0 },
    { .name = NULL }
};
static const setting asked[] = { { .name = "PYTORCH_CUDA_ALLOC_CONF",
                                   .text = "max_split_size_mb:128" },
                                 { .name = "max_split_size", .integer = 128 << 20 },
                                 { .name = NULL } };
static const setting asked_other[] = { { .name = "PYTORCH_CUDA_ALLOC_CONF",
                                         .text = "max_split_size_mb:128" },
                                       { .name = "max_split_size", .integer = 256 << 20 },
                                       { .name = NULL } };
static const setting both[] = { { .name = "expandable_segments", .is_boolean = true, .integer = 1 },
                                { .name = "max_split_size", .integer = 128 << 20 },
                                { .name = NULL } };
static const setting threshold[] = {
    { .name = "garbage_collection_threshold", .is_real = true, .integer = 800 }, { .name = NULL }
};
static const setting threshold_and_limit[] = {
    { .name = "garbage_collection_threshold", .is_real = true, .integer = 800 },
    { .name = "per_process_memory_fraction", .is_real = true, .integer = 500 },
    { .name = NULL }
};
static const setting async[] = { { .name = "PYTORCH_CUDA_ALLOC_CONF",
                                   .text = "backend:cudaMallocAsync,max_split_size_mb:128" },
                                 { .name = NULL } };

static const struct {
    const char *name;
    state made;
    const char *id;       /* of a finding; NULL: none of these */
    const char *evidence; /* the id of its first sentence */
} rows[] = {
    { "nothing is set", { .settings = none }, NULL, NULL },
    { "a value other than the string's",
      { .settings = asked_in_vain },
      "healthy.settings_ignored",
      "other_value" },
    { "a size other than the string's",
      { .settings = asked_other },
      "healthy.settings_ignored",
      "other_value" },
    { "as the string says", { .settings = asked }, NULL, NULL },
    { "on, and nothing is expandable",
      { .settings = expandable },
      "healthy.settings_ignored",
      "none_expandable" },
    { "on, and it is", { .settings = expandable, .is_expandable = true }, NULL, NULL },
    { "both, to be safe",
      { both, .is_expandable = true },
      "healthy.settings_conflict",
      "split_and_expandable" },
    { "a threshold without a limit",
      { .settings = threshold },
      "healthy.settings_ignored",
      "threshold_alone" },
    { "a threshold with one", { .settings = threshold_and_limit }, NULL, NULL },
    { "settings of another back end",
      { .settings = async },
      "healthy.settings_conflict",
      "async_backend" },
    { "a span says that the collector is off",
      { .settings = none, .span = "setup: gc.disable()" },
      "healthy.collector_late",
      "collector_in_span" },
    { "metadata does",
      { .settings = none, .metadata = "{\"gc_enabled\": false, \"step\": 3}" },
      "healthy.collector_late",
      "collector_in_metadata" },
    { "metadata says that it is on",
      { .settings = none, .metadata = "{\"gc_enabled\": true}" },
      NULL,
      NULL },
    { "pinned memory of a gigabyte",
      { .settings = none, .device = -1, .bytes = G, .requested = G },
      NULL,
      NULL },
    { "much pinned memory",
      { .settings = none, .device = -1, .bytes = 8 * G, .requested = 8 * G },
      "host.pinned_host",
      "pinned" },
    { "pinned memory that is rounding",
      { .settings = none, .device = -1, .bytes = G, .requested = 600 * M },
      "host.pinned_host",
      "pinned" },
};

static state filled(const state *given)
{
    state made = *given;
    made.bytes = made.bytes > 0 ? made.bytes : 200 * M;
    made.requested = made.requested > 0 ? made.requested : made.bytes;
    return made;
}

static void each_setting_has_its_finding(void)
{
    static const char *const ids[] = { "healthy.settings_ignored", "healthy.settings_conflict",
                                       "healthy.collector_late", "host.pinned_host" };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].name);
        const state made = filled(&rows[i].made);
        plim_history *const history = make(&made);
        plim_diagnosis *diagnosis = NULL;
        T_TRUE(plim_diagnose(history, NULL, &diagnosis, NULL) == PLIM_OK);
        const plim_device_diagnosis *const device = plim_diagnosis_device(diagnosis, 0);
        bool is_found = false;
        for (size_t k = 0; k < device->finding_count; k++) {
            const plim_diagnosis_finding *const finding = &device->findings[k];
            for (size_t n = 0; n < T_COUNT(ids); n++) {
                const bool is_of_these = strcmp(finding->finding.id, ids[n]) == 0;
                T_TRUE(!is_of_these || (rows[i].id != NULL && strcmp(rows[i].id, ids[n]) == 0));
                is_found = is_found || is_of_these;
                T_TRUE(!is_of_these || !finding->decides);
                T_TRUE(!is_of_these || strcmp(finding->evidence[0].id, rows[i].evidence) == 0);
            }
        }
        T_TRUE(is_found == (rows[i].id != NULL));
        T_EQ_STR(plim_verdict_name(device->verdict), "healthy");
        plim_diagnosis_destroy(diagnosis);
        plim_history_destroy(history);
    }
}

static void memory_of_no_process_may_be_file_cache(void)
{
    static const struct {
        uint64_t others;
        bool is_found;
    } texts[] = { { 2 * G, true }, { 100 * G, false }, { PLIM_BYTES_UNKNOWN, false } };
    for (size_t i = 0; i < T_COUNT(texts); i++) {
        T_CASE("%zu", i);
        plim_failed_request request =
            plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
        request.figures[PLIM_FIGURE_REQUESTED].bytes = 10 * G;
        request.figures[PLIM_FIGURE_TOTAL].bytes = 184 * G;
        request.figures[PLIM_FIGURE_FREE].bytes = 4 * G;
        request.figures[PLIM_FIGURE_ALLOCATED].bytes = 60 * G;
        request.figures[PLIM_FIGURE_RESERVED].bytes = 62 * G;
        request.figures[PLIM_FIGURE_OTHER_PROCESSES].bytes = texts[i].others;
        const plim_judgement text = plim_judge(&request);
        const plim_diagnose_options options = { .judgements = &text, .judgement_count = 1 };
        const state made = filled(&rows[0].made);
        plim_history *const history = make(&made);
        plim_diagnosis *diagnosis = NULL;
        T_TRUE(plim_diagnose(history, &options, &diagnosis, NULL) == PLIM_OK);
        const plim_device_diagnosis *const device = plim_diagnosis_device(diagnosis, 0);
        bool is_found = false;
        for (size_t k = 0; k < device->finding_count; k++) {
            is_found =
                is_found || strcmp(device->findings[k].finding.id, "other_process.file_cache") == 0;
        }
        T_TRUE(is_found == texts[i].is_found);
        plim_diagnosis_destroy(diagnosis);
        plim_history_destroy(history);
    }
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem };
    plim_diagnosis *diagnosis = NULL;
    if (plim_diagnose(ctx, &options, &diagnosis, NULL) != PLIM_OK) {
        return false;
    }
    plim_diagnosis_destroy(diagnosis);
    return true;
}

static void every_failing_allocation_is_a_clean_error(void)
{
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].name);
        const state made = filled(&rows[i].made);
        plim_history *const history = make(&made);
        t_fail_each_allocation(attempt, history);
        plim_history_destroy(history);
    }
}

T_MAIN(T_TEST(each_setting_has_its_finding), T_TEST(memory_of_no_process_may_be_file_cache),
       T_TEST(every_failing_allocation_is_a_clean_error))
