/*
 * test_explain.c - the pages and the document of explained texts, against approved copies.
 */
#include "explain_sample.h"
#include "golden.h"
#include "harness.h"

#include "report/json/documents.h"

static const plim_style wide = { .utf8 = true, .width = 96 };
static const plim_style plain = { .width = 80 };
static const plim_style bright = { .utf8 = true, .color = true, .width = 100 };

#define SCREEN_LINES 30u

static const plim_process_figure processes[] = {
    { .pid = 1200, .bytes = 17 * GIB },
    { .pid = 1300, .bytes = 3 * GIB },
    { .pid = 1400, .bytes = 2 * GIB, .is_this = true },
};

static plim_oom_message full_message(void)
{
    return sample_pytorch(PLIM_VERDICT_EXHAUSTED, 4 * GIB, 20 * GIB, 600 * MIB, 2000 * MIB);
}

static plim_oom_message fragmented_message(void)
{
    plim_oom_message message =
        sample_pytorch(PLIM_VERDICT_FRAGMENTED, 2 * GIB, 14 * GIB, 8 * GIB, 1200 * MIB);
    message.judgement.alternatives[0] = PLIM_VERDICT_EXHAUSTED;
    message.judgement.alternative_count = 1;
    message.judgement.confidence = 0.7;
    message.judgement.finding.certainty = PLIM_CERTAINTY_LIKELY;
    message.count = 8;
    message.advice_count = T_COUNT(sample_advice);
    return message;
}

static plim_oom_message others_message(void)
{
    plim_oom_message message =
        sample_pytorch(PLIM_VERDICT_OTHER_PROCESS, GIB, GIB, 100 * MIB, 300 * MIB);
    message.request.processes = processes;
    message.request.process_count = T_COUNT(processes);
    return message;
}

static plim_oom_message capped_message(void)
{
    plim_oom_message message =
        sample_pytorch(PLIM_VERDICT_CAPPED, 512 * MIB, 11 * GIB, 800 * MIB, 11 * GIB);
    sample_set(&message, PLIM_FIGURE_LIMIT, 12 * GIB);
    message.request.subject.device = PLIM_DEVICE_UNKNOWN;
    return message;
}

static plim_oom_message pool_message(void)
{
    plim_oom_message message = sample_message(PLIM_VERDICT_EXHAUSTED, "tensorflow-bfc", 0);
    message.framework = "tensorflow";
    message.versions = "";
    sample_set(&message, PLIM_FIGURE_REQUESTED, 700 * MIB);
    sample_set(&message, PLIM_FIGURE_LIMIT, 10 * GIB);
    sample_set(&message, PLIM_FIGURE_ALLOCATED, 10 * GIB - 300 * MIB);
    return message;
}

static plim_oom_message oversized_message(void)
{
    return sample_pytorch(PLIM_VERDICT_OVERSIZED, 500 * GIB, GIB, 0, 22 * GIB);
}

static plim_oom_message spilled_message(void)
{
    return sample_pytorch(PLIM_VERDICT_EXHAUSTED, 2 * GIB, 30 * GIB, 400 * MIB, 0);
}

static plim_oom_message bare_message(void)
{
    plim_oom_message message =
        sample_message(PLIM_VERDICT_UNKNOWN, "cuda-bare", PLIM_DEVICE_UNKNOWN);
    message.framework = "cuda";
    message.judgement.confidence = 0.3;
    message.judgement.finding.certainty = PLIM_CERTAINTY_POSSIBLE;
    return message;
}

static plim_oom_message ggml_message(void)
{
    plim_oom_message message = sample_message(PLIM_VERDICT_EXHAUSTED, "ggml-cuda-alloc", 0);
    message.framework = "llama.cpp";
    message.versions = "";
    sample_set(&message, PLIM_FIGURE_REQUESTED, 5120 * MIB);
    return message;
}

static plim_oom_message kernel_message(void)
{
    plim_oom_message message =
        sample_message(PLIM_VERDICT_NOT_OOM, "triton-shared", PLIM_DEVICE_UNKNOWN);
    message.framework = "triton";
    sample_set(&message, PLIM_FIGURE_SHARED_REQUIRED, 113664);
    sample_set(&message, PLIM_FIGURE_SHARED_LIMIT, 101376);
    return message;
}

static plim_oom_message hostile_message(void)
{
    plim_oom_message message = full_message();
    message.framework = "\033[31mevil\n";
    message.form = "a\tb";
    message.versions = "\xff\xfe";
    message.why = "Words \033]0;title\a and \xe2\x80\xae turned round\xe2\x80\xac.";
    message.excerpt = "\xc3(";
    message.advice++; /* without a command: those are not cut */
    message.advice_count = 1;
    return message;
}

static const struct {
    const char *golden;
    plim_oom_message (*make)(void);
    const plim_style *style;
    plim_explain_view view;
} pages[] = {
    { "explain-full.txt", full_message, &wide, { 0 } },
    { "explain-fragmented.txt", fragmented_message, &wide, { 0 } },
    { "explain-fragmented-recording.txt", fragmented_message, &wide, { .with_recording = true } },
    { "explain-fragmented-all.txt", fragmented_message, &wide, { .all = true } },
    { "explain-fragmented-ascii.txt", fragmented_message, &plain, { 0 } },
    { "explain-fragmented-color.txt", fragmented_message, &bright, { 0 } },
    { "explain-other-process.txt", others_message, &wide, { 0 } },
    { "explain-capped.txt", capped_message, &wide, { 0 } },
    { "explain-pool.txt", pool_message, &wide, { 0 } },
    { "explain-oversized.txt", oversized_message, &wide, { 0 } },
    { "explain-spilled.txt", spilled_message, &wide, { 0 } },
    { "explain-bare.txt", bare_message, &wide, { 0 } },
    { "explain-ggml.txt", ggml_message, &wide, { 0 } },
    { "explain-kernel.txt", kernel_message, &wide, { 0 } },
};

static plim_explained explained(const plim_oom_message *const *messages, size_t count)
{
    return (plim_explained){ .path = "run/train.log",
                             .is_read = true,
                             .bytes = 123456,
                             .lines = 2345,
                             .messages = messages,
                             .message_count = count,
                             .main_message = count > 0 ? messages[0] : NULL };
}

/* The page of texts, drawn. */
static plim_status draw(plim_text *out, const plim_style *style, const plim_explain_view *view,
                        const plim_explained *files, size_t count)
{
    plim_page page;
    plim_page_init(&page, NULL);
    plim_explain_page(&page, view, files, count);
    plim_text_init(out, NULL, GOLDEN_BYTES_MAX);
    plim_page_draw(out, style, &page);
    plim_page_deinit(&page);
    return out->status;
}

static void check_page(const char *golden, const plim_style *style, const plim_explain_view *view,
                       const plim_explained *file)
{
    plim_text out;
    T_CASE("%s", golden);
    T_EQ_U64(draw(&out, style, view, file, 1), PLIM_OK);
    size_t lines = 0;
    for (size_t i = 0; i < out.length; i++) {
        lines += out.data[i] == '\n';
    }
    T_TRUE(view->all || lines <= SCREEN_LINES);
    golden_check(golden, &out);
    plim_text_deinit(&out);
}

static void pages_read_as_approved(void)
{
    for (size_t i = 0; i < T_COUNT(pages); i++) {
        const plim_oom_message message = pages[i].make();
        const plim_oom_message *const list[] = { &message };
        const plim_explained file = explained(list, 1);
        check_page(pages[i].golden, pages[i].style, &pages[i].view, &file);
    }
}

/* ---- several messages and series ------------------------------------------------------------ */

#define MESSAGES 30u

typedef struct sample_run {
    plim_oom_message messages[MESSAGES];
    const plim_oom_message *list[MESSAGES];
    sample_points points[SAMPLE_SERIES];
    plim_series series[SAMPLE_SERIES];
    const plim_series *series_list[SAMPLE_SERIES];
} sample_run;

/* Eight ranks fail, in three ways; then what follows from that, and thirteen other forms. */
static void make_messages(sample_run *run)
{
    static char forms[MESSAGES][16];
    for (size_t i = 0; i < MESSAGES; i++) {
        plim_oom_message *message = &run->messages[i];
        *message = i < 8 ? full_message() : bare_message();
        if (i < 8) {
            message->request.subject.device = (int32_t)i;
            message->count = i == 3 ? 5 : 1;
        } else if (i == 8) {
            message->framework = "nccl";
            message->is_follower = true;
        } else {
            snprintf(forms[i], sizeof forms[i], "form-%zu", i);
            message->form = forms[i];
        }
        message->line = 900 + 50 * i;
        run->list[i] = message;
    }
}

static plim_explained make_run(sample_run *run, double capacity_bytes)
{
    static const struct {
        plim_trend_class kind;
        const char *name;
    } kinds[SAMPLE_SERIES] = {
        { PLIM_TREND_LEAK, "max_memory_allocated" },
        { PLIM_TREND_STAIRCASE, "reserved" },
        { PLIM_TREND_RAMP, "gpu mem" },
        { PLIM_TREND_FLAT, "rss" },
        { PLIM_TREND_TOO_SHORT, "a\033[1mb" },
    };
    make_messages(run);
    for (size_t i = 0; i < SAMPLE_SERIES; i++) {
        run->series[i] = sample_series(&run->points[i], kinds[i].kind, kinds[i].name);
        run->series[i].capacity_bytes = capacity_bytes;
        run->series_list[i] = &run->series[i];
    }
    plim_explained file = explained(run->list, MESSAGES);
    file.main_message = run->list[2];
    file.unkept_count = 12;
    file.series = run->series_list;
    file.series_count = SAMPLE_SERIES;
    file.leak_advice = sample_advice + 1;
    file.leak_advice_count = 2;
    return file;
}

static void a_long_log_is_told_briefly(void)
{
    sample_run *run = malloc(sizeof *run);
    T_NOT_NULL(run);
    plim_explained file = make_run(run, 24.0 * (double)GIB);
    const plim_explain_view brief = { .fixes_max = 1 };
    const plim_explain_view trend = { .trend = true };
    const plim_explain_view all_trends = { .trend = true, .all = true };
    check_page("explain-log.txt", &wide, &brief, &file);
    check_page("explain-trend.txt", &wide, &trend, &file);
    check_page("explain-trend-ascii.txt", &plain, &trend, &file);
    check_page("explain-trend-all.txt", &wide, &all_trends, &file);

    /* Without messages the series answer; without a size nobody knows where it ends. */
    file.message_count = 0;
    file.main_message = NULL;
    file.unkept_count = 0;
    run->series[0].capacity_bytes = 0;
    run->series[0].trend.has_exhaustion = false;
    const plim_explain_view usual = { 0 };
    check_page("explain-trend-only.txt", &wide, &usual, &file);
    free(run);
}

static void nothing_found_is_no_page(void)
{
    const plim_explain_view usual = { 0 };
    const plim_explain_view trend = { .trend = true };
    const plim_explained file = explained(NULL, 0);
    const plim_oom_message message = full_message();
    const plim_oom_message *const list[] = { &message };
    const plim_explained without_series = explained(list, 1);
    T_FALSE(plim_explain_has_page(&usual, &file));
    T_FALSE(plim_explain_has_page(&trend, &without_series));
    T_TRUE(plim_explain_has_page(&usual, &without_series));
    plim_text out;
    T_EQ_U64(draw(&out, &wide, &usual, &file, 1), PLIM_OK);
    T_EQ_U64(out.length, 0);
    plim_text_deinit(&out);
}

/* Any figures at all draw something of the right width: contradictions, zeros, the largest. */
static void no_figures_break_the_bar(void)
{
    static const uint64_t values[] = {
        0, 1, 511, GIB, UINT64_MAX / 2, UINT64_MAX - 1, PLIM_BYTES_UNKNOWN
    };
    for (int round = 0; round < 3000; round++) {
        plim_oom_message message = hostile_message();
        message.request.subject.device = (int32_t)t_random_between(0, 3) - 1;
        message.judgement.verdict =
            (plim_verdict)t_random_between(0, PLIM_VERDICT_JUDGED_COUNT - 1);
        for (int i = 0; i < PLIM_FIGURE_COUNT; i++) {
            const bool is_listed = t_random() % 2 == 0;
            message.request.figures[i].bytes = is_listed ? values[t_random() % T_COUNT(values)]
                                                         : t_random_bytes(0, UINT64_MAX - 1);
        }
        const plim_oom_message *const list[] = { &message };
        const plim_explained file = explained(list, 1);
        const plim_explain_view view = { 0 };
        const plim_style style = { .width = (uint32_t)t_random_between(60, 160) };
        plim_text out;
        T_EQ_U64(draw(&out, &style, &view, (const plim_explained[]){ file, file }, 2), PLIM_OK);
        size_t column = 0;
        for (size_t i = 0; i < out.length; i++) {
            const unsigned char c = (unsigned char)out.data[i];
            T_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
            T_TRUE(c != '\n' || i == 0 || out.data[i - 1] != ' ');
            column = c == '\n' ? 0 : column + 1;
            T_TRUE(column <= style.width);
        }
        plim_text_deinit(&out);
    }
}

/* ---- the document --------------------------------------------------------------------------- */

static plim_status write_document(plim_sink sink, const plim_explained *files, size_t count)
{
    plim_page page;
    plim_page_init(&page, NULL);
    plim_explain_page(&page, &(plim_explain_view){ 0 }, files, count);
    const plim_status status = plim_explain_json_write(sink, files, count, &page, NULL);
    plim_page_deinit(&page);
    return status;
}

static void the_document_is_as_approved(void)
{
    sample_run *run = malloc(sizeof *run);
    T_NOT_NULL(run);
    const plim_oom_message message = others_message();
    const plim_oom_message hostile = hostile_message();
    const plim_oom_message *const first[] = { &message };
    const plim_oom_message *const second[] = { &hostile, &message };
    plim_explained files[] = {
        explained(first, 1),
        { .path = "missing.log",
          .error = { .status = PLIM_IO, .offset = PLIM_NO_OFFSET, .message = "cannot open it" } },
        explained(NULL, 0),
        explained(second, 2),
    };
    plim_explained series = make_run(run, 24.0 * (double)GIB);
    files[2].series = series.series;
    files[2].series_count = 3;
    files[2].leak_advice = series.leak_advice;
    files[2].leak_advice_count = series.leak_advice_count;
    files[2].path = "other.log";
    files[3].main_message = second[1];
    static const struct {
        const char *golden;
        size_t first;
        size_t count;
    } documents[] = {
        { "explain-one.json", 0, 1 },
        { "explain-series.json", 2, 1 },
        { "explain-several.json", 1, 3 },
        { "explain-none.json", 0, 0 },
    };
    for (size_t i = 0; i < T_COUNT(documents); i++) {
        plim_text out;
        T_CASE("%s", documents[i].golden);
        plim_text_init(&out, NULL, GOLDEN_BYTES_MAX);
        T_EQ_U64(
            write_document(plim_sink_to_text(&out), files + documents[i].first, documents[i].count),
            PLIM_OK);
        golden_check(documents[i].golden, &out);
        plim_text_deinit(&out);
    }
    free(run);
}

static void a_sink_that_refuses_is_an_error(void)
{
    const plim_oom_message message = full_message();
    const plim_oom_message *const list[] = { &message };
    const plim_explained file = explained(list, 1);
    plim_text out;
    plim_text_init(&out, NULL, 10);
    T_EQ_U64(write_document(plim_sink_to_text(&out), &file, 1), PLIM_IO);
    plim_text_deinit(&out);
}

T_MAIN(T_TEST(pages_read_as_approved), T_TEST(a_long_log_is_told_briefly),
       T_TEST(nothing_found_is_no_page), T_TEST(no_figures_break_the_bar),
       T_TEST(the_document_is_as_approved), T_TEST(a_sink_that_refuses_is_an_error))
