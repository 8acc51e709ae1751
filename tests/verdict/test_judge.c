/*
 * The order of tests that leads from figures to a verdict, case by case, and what must hold for
 * all figures.
 */
#include "verdict/request.h"

#include "base/units.h"
#include "harness.h"

/* Figures in MiB, -1 where the text has none. */
typedef struct row {
    const char *name;
    plim_oom_topic topic;
    plim_verdict verdict;
    plim_reason reason;
    double figures[8];
    double processes[2]; /* 0: none */
} row;

#define NO (-1)
#define CASE(topic, verdict, reason) \
    PLIM_TOPIC_##topic, PLIM_VERDICT_##verdict, PLIM_REASON_##reason
/* requested, total, free, allocated, reserved, unallocated, process, limit */
#define FIGURES(...) .figures = { __VA_ARGS__ }

static const row rows[] = {
    { "all of it is in use", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(24, 4045, 1, 3543, NO, 0.06, NO, NO) },
    { "unused memory would do, in one piece", CASE(ALLOCATION, FRAGMENTED, GAP),
      FIGURES(1720, 11018, 356, 5786, NO, 3994, NO, NO) },
    { "reserved and allocated say the same", CASE(ALLOCATION, FRAGMENTED, GAP),
      FIGURES(1720, 11018, 356, 5786, 9780, NO, NO, NO) },
    { "unused memory would do only with what is free", CASE(ALLOCATION, FRAGMENTED, GAP_AND_FREE),
      FIGURES(1000, 8000, 700, 6000, 6800, NO, NO, NO) },
    { "a crumb of unused memory is not why a card is full",
      CASE(ALLOCATION, EXHAUSTED, FULL_NEARLY), FIGURES(30, 40960, 5, 40000, 40100, NO, NO, NO) },
    { "others hold the card", CASE(ALLOCATION, OTHER_PROCESS, ELSEWHERE),
      FIGURES(20, 8120, 25, 2877, 3133, NO, NO, NO) },
    { "this process holds a few per cent", CASE(ALLOCATION, OTHER_PROCESS, HOLDS_LITTLE),
      FIGURES(52, 81100, 27, 752, 886, NO, NO, NO) },
    { "a process that is this one, seen from outside", CASE(ALLOCATION, FRAGMENTED, GAP),
      FIGURES(2376, 24258, 906, 12022, NO, 10035, NO, NO), .processes = { 23347 } },
    { "a process that cannot be another one: both would not fit", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(786, 81008, 140, 70482, NO, 331, NO, NO), .processes = { 80855 } },
    { "two processes: one is this one", CASE(ALLOCATION, OTHER_PROCESS, ELSEWHERE),
      FIGURES(500, 24000, 50, 7000, NO, 100, NO, NO), .processes = { 7600, 16000 } },
    { "a look-up that failed is no figure", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(500, 24000, 50, 22000, NO, 100, 0, NO) },
    { "the request exceeds the device", CASE(ALLOCATION, OVERSIZED, OVER_DEVICE),
      FIGURES(32000, 8192, 3748, 2928, NO, 424, NO, NO) },
    { "the request exceeds every device", CASE(BARE, OVERSIZED, OVER_ANY),
      FIGURES(134217728, NO, NO, NO, NO, NO, NO, NO) },
    { "a fraction stops it", CASE(ALLOCATION, CAPPED, OVER_LIMIT),
      FIGURES(2, 23972, 21729, 1017, NO, 55, NO, 1075) },
    { "a fraction of 1.0 is no cap", CASE(ALLOCATION, EXHAUSTED, FULL_NEARLY),
      FIGURES(2, 22732, 3.12, 21248, 21360, NO, NO, 22732) },
    { "more was free than asked for", CASE(ALLOCATION, UNKNOWN, FREE_ENOUGH),
      FIGURES(2314, 6144, 3102, 781, 1269, NO, NO, NO) },
    { "crumbs are free on a full card", CASE(ALLOCATION, EXHAUSTED, FULL_NEARLY),
      FIGURES(2, 24000, 3, 23000, 23100, NO, NO, NO) },
    { "memory spilled to the host", CASE(ALLOCATION, EXHAUSTED, SPILLED),
      FIGURES(20, 8192, 0, 17612, 19609, NO, NO, NO) },
    { "only the request", CASE(ALLOCATION, UNKNOWN, NO_FIGURES),
      FIGURES(270, NO, NO, NO, NO, NO, NO, NO) },
    { "no free figure, yet it cannot fit", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(4096, 14070, NO, 10342, NO, 3553, NO, NO) },
    { "no free figure, and it would fit", CASE(ALLOCATION, UNKNOWN, NO_FIGURES),
      FIGURES(1751, 15933, NO, 176, 176, NO, NO, NO) },
    { "a driver's pool keeps what is freed", CASE(ASYNC_POOL, FRAGMENTED, DRIVER_POOL),
      FIGURES(4946, 22732, 11, 16466, NO, NO, NO, 22732) },
    { "a driver's pool, and little of it is live", CASE(ASYNC_POOL, OTHER_PROCESS, DRIVER_POOL),
      FIGURES(500, 22732, 11, 900, NO, NO, NO, 22732) },
    { "a table: what is unused at least", CASE(SUMMARY, FRAGMENTED, TABLE),
      FIGURES(NO, NO, NO, 1062, 12420, NO, NO, NO) },
    { "a table: nearly all was in use", CASE(SUMMARY, EXHAUSTED, TABLE),
      FIGURES(NO, NO, NO, 23011, 23500, NO, NO, NO) },
    { "the head of a table", CASE(SUMMARY, UNKNOWN, NO_FIGURES),
      FIGURES(NO, NO, NO, NO, NO, NO, NO, NO) },
    { "a library without a handle, and no figure", CASE(HANDLE, EXHAUSTED, TOPIC),
      FIGURES(NO, NO, NO, NO, NO, NO, NO, NO) },
    { "a library without a handle on a full device", CASE(HANDLE, EXHAUSTED, TOPIC),
      FIGURES(NO, 24453, 47, NO, NO, NO, NO, NO) },
    { "a library without a handle though there is room", CASE(HANDLE, NOT_OOM, TOPIC),
      FIGURES(NO, 24453, 21760, NO, NO, NO, NO, NO) },
    { "nothing is left for the KV cache", CASE(KV_NONE, CAPPED, TOPIC),
      FIGURES(NO, 24207, NO, 23050, NO, NO, NO, 21790) },
    { "a pool with room, but not in one piece", CASE(POOL, FRAGMENTED, POOL_GAP),
      FIGURES(56.25, NO, 0, 4052, 4700, NO, NO, 4699.9) },
    { "a pool that a person sized", CASE(POOL, CAPPED, OVER_LIMIT),
      FIGURES(200, NO, 0, 1000, 1024, NO, NO, 1024) },
    { "a pool that takes the card", CASE(POOL, EXHAUSTED, FULL),
      FIGURES(200, NO, 0, 15000.3, 15100.3, NO, NO, 15100.3) },
    { "a request beyond the pool", CASE(POOL, OVERSIZED, OVER_DEVICE),
      FIGURES(20000, NO, 0, 1000, 15100, NO, NO, 15100.3) },
    { "Metal's watermark", CASE(WATERMARK, CAPPED, OVER_LIMIT),
      FIGURES(292.5, NO, NO, 27566, NO, NO, NO, 27852) },
    { "Metal without a watermark", CASE(WATERMARK, EXHAUSTED, FULL),
      FIGURES(292.5, NO, NO, 27566, NO, NO, NO, NO) },
    { "no real Metal device", CASE(WATERMARK, UNKNOWN, NO_FIGURES),
      FIGURES(0, NO, NO, 0, NO, NO, NO, 1740) },
    { "a share at start that others hold", CASE(STARTUP, OTHER_PROCESS, STARTUP),
      FIGURES(23030, 23992, 3328, NO, NO, NO, NO, NO) },
    { "a share at start, missed by a little", CASE(STARTUP, OTHER_PROCESS, NEAR_MISS),
      FIGURES(23030, 23992, 22800, NO, NO, NO, NO, NO) },
    { "a program against a chip", CASE(PROGRAM, OVERSIZED, OVER_DEVICE),
      FIGURES(8581, 8192, NO, NO, NO, NO, NO, NO) },
    { "free and total, but nobody's share", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(25, 1023, 18, NO, NO, NO, NO, NO) },
    /* a history, which does not have the size of the device */
    { "no total: unused memory would do", CASE(ALLOCATION, FRAGMENTED, GAP),
      FIGURES(10, NO, 5, 50, 100, 50, NO, NO) },
    { "no total: just enough is unused", CASE(ALLOCATION, FRAGMENTED, GAP),
      FIGURES(50, NO, 0, 50, 100, 50, NO, NO) },
    { "no total: enough together only", CASE(ALLOCATION, FRAGMENTED, GAP_AND_FREE),
      FIGURES(51, NO, 1, 50, 100, 50, NO, NO) },
    { "no total: a little short", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(52, NO, 1, 50, 100, 50, NO, NO) },
    { "no total: all in use", CASE(ALLOCATION, EXHAUSTED, FULL),
      FIGURES(10, NO, 3, 100, 100, 0, NO, NO) },
    { "no total: the device had enough", CASE(ALLOCATION, UNKNOWN, FREE_ENOUGH),
      FIGURES(10, NO, 10, 100, 100, 0, NO, NO) },
    { "no total: crumbs are free", CASE(ALLOCATION, EXHAUSTED, FULL_NEARLY),
      FIGURES(2, NO, 3, 23000, 23100, 100, NO, NO) },
    { "no total, and free is not recorded", CASE(ALLOCATION, UNKNOWN, NO_FIGURES),
      FIGURES(10, NO, NO, 100, 100, 0, NO, NO) },
    { "no total nor free, but unused memory would do", CASE(ALLOCATION, FRAGMENTED, GAP),
      FIGURES(10, NO, NO, 50, 100, 50, NO, NO) },
    { "a limit of the words alone", CASE(CAP, CAPPED, TOPIC),
      FIGURES(NO, NO, NO, NO, NO, NO, NO, NO) },
    { "the host, whatever the figures", CASE(HOST_PINNED, HOST, TOPIC),
      FIGURES(64, 8000, 10, 7000, 7500, NO, NO, NO) },
    { "another error, whatever the figures", CASE(ERROR, NOT_OOM, TOPIC),
      FIGURES(64, 8000, 10, 7000, 7500, NO, NO, NO) },
};

/* A figure as printed with two decimals of a MiB. */
static plim_figure figure(double mib)
{
    if (mib < 0) {
        return (plim_figure){ .bytes = PLIM_BYTES_UNKNOWN };
    }
    return (plim_figure){ .bytes = (uint64_t)(mib * (double)MIB + 0.5),
                          .slack_bytes = mib > 0 ? MIB / 200 : 0 };
}

static plim_failed_request case_of(const row *r, plim_process_figure *processes)
{
    plim_failed_request oom = plim_failed_request_of(r->topic, PLIM_FAMILY_ANY);
    oom.processes = processes;
    static const plim_figure_id ids[] = {
        PLIM_FIGURE_REQUESTED, PLIM_FIGURE_TOTAL,    PLIM_FIGURE_FREE,
        PLIM_FIGURE_ALLOCATED, PLIM_FIGURE_RESERVED, PLIM_FIGURE_RESERVED_UNALLOCATED,
        PLIM_FIGURE_PROCESS,   PLIM_FIGURE_LIMIT,
    };
    for (size_t i = 0; i < T_COUNT(ids); i++) {
        oom.figures[ids[i]] = figure(r->figures[i]);
    }
    for (size_t i = 0; i < T_COUNT(r->processes) && r->processes[i] > 0; i++) {
        processes[oom.process_count++] =
            (plim_process_figure){ .pid = 1000 + i, .bytes = figure(r->processes[i]).bytes };
    }
    return oom;
}

static void judges_each_case_by_the_first_rule_that_holds(void)
{
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%s", rows[i].name);
        plim_process_figure processes[2];
        const plim_failed_request oom = case_of(&rows[i], processes);
        const plim_judgement judgement = plim_judge(&oom);
        T_EQ_STR(plim_verdict_name(judgement.verdict), plim_verdict_name(rows[i].verdict));
        T_EQ_U64(judgement.reason, rows[i].reason);
    }
}

static void keeps_the_sums_it_rests_on(void)
{
    plim_process_figure processes[2];
    const row two = { "", CASE(ALLOCATION, OTHER_PROCESS, ELSEWHERE),
                      FIGURES(500, 24000, 50, 7000, NO, 100, NO, NO),
                      .processes = { 7600, 16000 } };
    const plim_failed_request oom = case_of(&two, processes);
    const plim_judgement judgement = plim_judge(&oom);
    T_EQ_U64(judgement.held_bytes, 7100 * MIB);
    T_EQ_U64(judgement.gap_bytes, 100 * MIB);
    T_EQ_U64(judgement.this_process, 0);
    T_EQ_U64(judgement.outside_bytes, 500 * MIB);
    T_EQ_U64(judgement.elsewhere_bytes, (24000 - 50 - 7600) * MIB);
    T_EQ_U64(judgement.short_bytes, (500 - 100 - 50) * MIB);
}

static void compares_within_what_was_rounded_away(void)
{
    /* 1072 MiB held and 2 requested, under "1.05 GiB": it was met, though the figure is above. */
    plim_failed_request oom = plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_ANY);
    oom.figures[PLIM_FIGURE_REQUESTED] = (plim_figure){ .bytes = 2 * MIB };
    oom.figures[PLIM_FIGURE_TOTAL] = (plim_figure){ .bytes = 24 * GIB };
    oom.figures[PLIM_FIGURE_FREE] = (plim_figure){ .bytes = 21 * GIB };
    oom.figures[PLIM_FIGURE_ALLOCATED] = (plim_figure){ .bytes = 1017 * MIB };
    oom.figures[PLIM_FIGURE_RESERVED_UNALLOCATED] = (plim_figure){ .bytes = 55 * MIB };
    oom.figures[PLIM_FIGURE_LIMIT] =
        (plim_figure){ .bytes = GIB / 100 * 105, .slack_bytes = GIB / 200 };
    T_EQ_U64(plim_judge(&oom).verdict, PLIM_VERDICT_CAPPED);
}

static void survives_any_figures(void)
{
    static const uint64_t values[] = {
        0, 1, 512, MIB, GIB, 80 * GIB, UINT64_MAX - 1, PLIM_BYTES_UNKNOWN
    };
    for (int n = 0; n < 200000; n++) {
        plim_process_figure processes[3];
        plim_failed_request oom = { .topic =
                                        (plim_oom_topic)t_random_between(0, PLIM_TOPIC_COUNT - 1),
                                    .processes = processes,
                                    .process_count = t_random_between(0, 3) };
        for (size_t i = 0; i < PLIM_FIGURE_COUNT; i++) {
            oom.figures[i].bytes = values[t_random_between(0, T_COUNT(values) - 1)];
            oom.figures[i].slack_bytes = values[t_random_between(0, 4 - 1)];
        }
        for (size_t i = 0; i < oom.process_count; i++) {
            processes[i] =
                (plim_process_figure){ .pid = i, .bytes = values[t_random_between(0, 7 - 1)] };
        }
        const plim_judgement judgement = plim_judge(&oom);
        T_TRUE(judgement.verdict < PLIM_VERDICT_JUDGED_COUNT);
        T_TRUE(judgement.confidence > 0 && judgement.confidence < 1);
        T_TRUE(judgement.this_process == SIZE_MAX || judgement.this_process < oom.process_count);
        for (size_t i = 0; i < judgement.alternative_count; i++) {
            T_TRUE(judgement.alternatives[i] != judgement.verdict);
            for (size_t k = 0; k < i; k++) {
                T_TRUE(judgement.alternatives[i] != judgement.alternatives[k]);
            }
        }
    }
}

T_MAIN(T_TEST(judges_each_case_by_the_first_rule_that_holds), T_TEST(keeps_the_sums_it_rests_on),
       T_TEST(compares_within_what_was_rounded_away), T_TEST(survives_any_figures))
