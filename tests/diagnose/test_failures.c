/*
 * test_failures.c - which failed request ended a program, and why; each rule by a history of a few
 * lines. Sizes are in units of 1 MiB but for what the scripts spell out.
 */
#include "history/script.h"
#include "plimsoll/diagnose.h"

#define M (UINT64_C(1) << 20)

typedef struct diagnosed {
    plim_history *history;
    plim_diagnosis *diagnosis;
    const plim_device_diagnosis *device;
} diagnosed;

static diagnosed diagnose(const char *script, const plim_diagnose_options *options)
{
    diagnosed all = { .history = script_history(script) };
    T_TRUE(plim_diagnose(all.history, options, &all.diagnosis, NULL) == PLIM_OK);
    all.device = plim_diagnosis_device_count(all.diagnosis) > 0
                     ? plim_diagnosis_device(all.diagnosis, 0)
                     : NULL;
    return all;
}

static void end(diagnosed *all)
{
    plim_diagnosis_destroy(all->diagnosis);
    plim_history_destroy(all->history);
}

static const plim_diagnosis_finding *find(const diagnosed *all, const char *id)
{
    for (size_t i = 0; i < all->device->finding_count; i++) {
        if (strncmp(all->device->findings[i].finding.id, id, strlen(id)) == 0) {
            return &all->device->findings[i];
        }
    }
    return NULL;
}

static const plim_evidence_line *said(const plim_diagnosis_finding *finding, const char *id)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].id, id) == 0) {
            return &finding->evidence[i];
        }
    }
    return NULL;
}

/* 100 MiB reserved in five segments of 20; each is full but for what a row frees. */
#define SEGMENTS                                                                                   \
    "segment_alloc 0x10000000 0x1400000; alloc 0x10000000 0x1400000 @1; "                          \
    "segment_alloc 0x20000000 0x1400000; alloc 0x20000000 0x1400000 @2; "                          \
    "segment_alloc 0x30000000 0x1400000; alloc 0x30000000 0x1400000 @2; "                          \
    "segment_alloc 0x40000000 0x1400000; alloc 0x40000000 0xa00000 @3; alloc 0x40a00000 0xa00000 " \
    "@4; "                                                                                         \
    "segment_alloc 0x50000000 0x1400000; alloc 0x50000000 0xa00000 @3; alloc 0x50a00000 0xa00000 " \
    "@4; "
#define FREE_HALVES                                               \
    "request 0x40a00000 0xa00000; complete 0x40a00000 0xa00000; " \
    "request 0x50a00000 0xa00000; complete 0x50a00000 0xa00000; "
/* What stands at the end, so that segments are known to be of the large pool. */
#define AT_END(state)                                                                            \
    "segment 0x10000000 0x1400000 large; block 0x10000000 0x1400000 0x1400000 allocated @1; "    \
    "segment 0x20000000 0x1400000 large; block 0x20000000 0x1400000 0x1400000 allocated @2; "    \
    "segment 0x30000000 0x1400000 large; block 0x30000000 0x1400000 0x1400000 allocated @2; "    \
    "segment 0x40000000 0x1400000 large; block 0x40000000 0xa00000 0xa00000 allocated @3; "      \
    "block 0x40a00000 0xa00000 0xa00000 " state "; segment 0x50000000 0x1400000 large; "         \
    "block 0x50000000 0xa00000 0xa00000 allocated @3; block 0x50a00000 0xa00000 0xa00000 " state \
    "; "
#define FULL   AT_END("allocated @4") SEGMENTS
#define HALVES AT_END("free") SEGMENTS FREE_HALVES

static const struct {
    const char *name;
    const char *script;
    uint64_t capacity_bytes;
    plim_verdict verdict;
    const char *id; /* of the finding that decides, or of the one to look for */
    uint64_t root;  /* stack @N; 0: none */
} rows[] = {
    { "nothing is reserved and free that would do: exhausted", FULL "oom 0x1400000 0x100000 @9", 0,
      PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
    { "free in two pieces: fragmented, and the pins are to blame", HALVES "oom 0x1400000 0 @9", 0,
      PLIM_VERDICT_FRAGMENTED, "fragmented.pinned_segments", 3 },
    { "the piece fits: the failure is spurious", HALVES "oom 0xa00000 0 @9", 0,
      PLIM_VERDICT_FRAGMENTED, "fragmented.spurious_failure", 9 },
    { "the driver had more than was requested: a limit", FULL "oom 0x1400000 0x4000000 @9", 0,
      PLIM_VERDICT_CAPPED, "capped.limit", 9 },
    { "crumbs of a full device are no limit", FULL "oom 0x80000 0x80000 @9", 0,
      PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
    { "more than the device has: oversized", FULL "oom 0x20000000 0x1000000 @9", 0x10000000,
      PLIM_VERDICT_OVERSIZED, "oversized.request", 9 },
    { "more than there was for this process: oversized", FULL "oom 0x20000000 0x1000000 @9", 0,
      PLIM_VERDICT_OVERSIZED, "oversized.request", 9 },
    { "most of the device is elsewhere", FULL "oom 0x1400000 0x100000 @9", 6000 * M,
      PLIM_VERDICT_OTHER_PROCESS, "other_process.others", 9 },
    { "no more is elsewhere than a context takes", FULL "oom 0x1400000 0x100000 @9", 1000 * M,
      PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
    { "a capacity below what was held is of another device", FULL "oom 0x1400000 0x100000 @9",
      50 * M, PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
    { "no stack: no root", FULL "oom 0x1400000 0x100000", 0, PLIM_VERDICT_EXHAUSTED, "exhausted.",
      0 },
    { "frees after it are the end of the program all the same",
      FULL "oom 0x1400000 0x100000 @9; request 0x10000000 0x1400000; complete 0x10000000 "
           "0x1400000",
      0, PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
    { "so is a handler that requests a little elsewhere",
      FULL "oom 0x1400000 0x100000 @9; request 0x10000000 0x1400000; complete 0x10000000 "
           "0x1400000; alloc 0x10000000 512 @8",
      0, PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
    { "the same code requests again: it was caught",
      FULL "oom 0x1400000 0x100000 @9; request 0x10000000 0x1400000; complete 0x10000000 "
           "0x1400000; alloc 0x10000000 0xa00000 @9",
      0, PLIM_VERDICT_HEALTHY, "healthy.failure_caught", 9 },
    { "less at once, and nothing is freed: a library's try",
      FULL "oom 0x1400000 0x100000 @9; segment_alloc 0x60000000 0x200000; alloc 0x60000000 1024 "
           "@9",
      0, PLIM_VERDICT_HEALTHY, "healthy.failure_caught", 9 },
    { "the same at once, and nothing is freed: spurious",
      HALVES "oom 0xa00000 0 @9; alloc 0x40a00000 0xa00000 @9", 0, PLIM_VERDICT_HEALTHY,
      "fragmented.spurious_failure", 9 },
    { "a retry that found another segment is caught, not spurious",
      FULL "oom 0x1400000 0 @9; segment_alloc 0x60000000 0x1400000; alloc 0x60000000 0x1400000 @9",
      0, PLIM_VERDICT_HEALTHY, "healthy.failure_caught", 9 },
    { "of several the last counts",
      FULL "oom 0x2800000 0x100000 @7; request 0x10000000 0x1400000; complete 0x10000000 "
           "0x1400000; alloc 0x10000000 0x1400000 @7; oom 0x1400000 0x100000 @9",
      0, PLIM_VERDICT_EXHAUSTED, "exhausted.", 9 },
};

static void each_failure_has_its_verdict(void)
{
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].name);
        const plim_diagnose_options options = { .capacity_bytes = rows[i].capacity_bytes };
        diagnosed all = diagnose(rows[i].script, &options);
        const plim_diagnosis_finding *const finding = find(&all, rows[i].id);
        T_EQ_STR(plim_verdict_name(all.device->verdict), plim_verdict_name(rows[i].verdict));
        if (finding == NULL) {
            fail_msg("%s, not %s", all.device->findings[0].finding.id, rows[i].id);
        }
        T_TRUE(finding->decides == (rows[i].verdict != PLIM_VERDICT_HEALTHY));
        T_TRUE(finding->evidence_count >= 1);
        T_TRUE(rows[i].root == 0 ? finding->root.frame == PLIM_NONE
                                 : script_is_stack(all.history, finding->root.stack, rows[i].root));
        end(&all);
    }
}

static void caught_failures_are_one_finding_beside_the_end(void)
{
    diagnosed all = diagnose(rows[T_COUNT(rows) - 1].script, NULL);
    const plim_diagnosis_finding *const caught = find(&all, "healthy.failure_caught");
    T_NOT_NULL(caught);
    T_FALSE(caught->decides);
    T_EQ_U64(caught->bytes, 40 * M);
    T_TRUE(caught->finding.severity == PLIM_SEVERITY_WARNING);
    T_TRUE(said(caught, "survived")->figures[0].value == (double)(40 * M));
    end(&all);
}

static void evidence_has_the_figures_of_the_moment(void)
{
    diagnosed all = diagnose(rows[1].script, NULL);
    const plim_diagnosis_finding *const finding = &all.device->findings[0];
    T_EQ_U64(finding->bytes, 20 * M);
    const plim_evidence_line *const held = said(finding, "held");
    T_TRUE(held->figures[0].value == (double)(80 * M));
    T_TRUE(held->figures[1].value == (double)(100 * M));
    const plim_evidence_line *const holes = said(finding, "holes");
    T_TRUE(holes->figures[0].value == (double)(10 * M));
    T_TRUE(holes->figures[1].value == (double)(20 * M));
    const plim_evidence_line *const pin = said(finding, "pin");
    T_TRUE(pin->figures[0].value == 2);
    T_TRUE(pin->figures[3].value == (double)(20 * M));
    end(&all);
}

/* --- error texts --- */

static plim_judgement text_of(uint64_t requested, uint64_t total, uint64_t limit, uint64_t held)
{
    plim_failed_request request =
        plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    request.figures[PLIM_FIGURE_REQUESTED].bytes = requested;
    request.figures[PLIM_FIGURE_TOTAL].bytes = total;
    request.figures[PLIM_FIGURE_LIMIT].bytes = limit;
    request.figures[PLIM_FIGURE_RESERVED].bytes = held;
    request.figures[PLIM_FIGURE_ALLOCATED].bytes = held;
    request.figures[PLIM_FIGURE_FREE].bytes = M;
    return plim_judge(&request);
}

static void a_text_says_what_the_recording_lacks(void)
{
    static const struct {
        const char *name;
        uint64_t requested, total, limit;
        plim_verdict verdict;
    } texts[] = {
        { "a total: most of the device is elsewhere", 20 * M, 400 * M, PLIM_BYTES_UNKNOWN,
          PLIM_VERDICT_OTHER_PROCESS },
        { "a limit", 20 * M, 400 * M, 110 * M, PLIM_VERDICT_CAPPED },
        { "another request's", 50 * M, 400 * M, 110 * M, PLIM_VERDICT_EXHAUSTED },
    };
    for (size_t i = 0; i < T_COUNT(texts); i++) {
        T_CASE("%s", texts[i].name);
        const plim_judgement text =
            text_of(texts[i].requested, texts[i].total, texts[i].limit, 100 * M);
        const plim_diagnose_options options = { .judgements = &text, .judgement_count = 1 };
        diagnosed all = diagnose(rows[0].script, &options);
        T_EQ_STR(plim_verdict_name(all.device->verdict), plim_verdict_name(texts[i].verdict));
        end(&all);
    }
}

static void a_text_stands_alone_where_the_recording_has_no_failure(void)
{
    const plim_judgement text = text_of(20 * M, 110 * M, PLIM_BYTES_UNKNOWN, 100 * M);
    const plim_diagnose_options options = { .judgements = &text, .judgement_count = 1 };
    diagnosed all = diagnose(FULL, &options);
    T_EQ_STR(plim_verdict_name(all.device->verdict), "exhausted");
    T_NOT_NULL(said(&all.device->findings[0], "text"));
    T_EQ_U64(all.device->findings[0].bytes, 20 * M);
    end(&all);
}

/* --- hostile --- */

static const char *const hostile[] = {
    "",
    "oom 0 0",
    "oom 0xffffffffffffffff 0xffffffffffffffff @1",
    "oom 512 0 @1; oom 512 0 @1; oom 512 0",
    "oom 512 0; alloc 0 512; request 0 512; complete 0 512",
    "segment 0 0xffffffffffffffff; block 0 1 1 allocated; oom 0x7fffffffffffffff 1",
    "alloc 0xfffffffffffffff0 0xffffffffffffffff @1; oom 0xffffffffffffff00 5 @1",
    "segment_alloc 0 4096; segment_alloc 1024 4096; alloc 512 0xfffffffffffffff @1; oom 1024 0",
    "segment_free 0 4096; request 4 4; complete 8 8; oom 1 1; snapshot 5",
    "device 1; oom 512 512; device -1; oom 512 512 @2",
};

static void hostile_histories_break_nothing(void)
{
    for (size_t i = 0; i < T_COUNT(hostile); i++) {
        T_CASE("%zu", i);
        const plim_diagnose_options options = { .capacity_bytes = i % 2 == 0 ? 0 : 1024 };
        diagnosed all = diagnose(hostile[i], &options);
        end(&all);
    }
}

static bool attempt(const plim_mem *mem, void *ctx)
{
    const plim_diagnose_options options = { .mem = mem, .capacity_bytes = 400 * M };
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
        plim_history *const history = script_history(rows[i].script);
        t_fail_each_allocation(attempt, history);
        plim_history_destroy(history);
    }
}

T_MAIN(T_TEST(each_failure_has_its_verdict), T_TEST(caught_failures_are_one_finding_beside_the_end),
       T_TEST(evidence_has_the_figures_of_the_moment), T_TEST(a_text_says_what_the_recording_lacks),
       T_TEST(a_text_stands_alone_where_the_recording_has_no_failure),
       T_TEST(hostile_histories_break_nothing), T_TEST(every_failing_allocation_is_a_clean_error))
