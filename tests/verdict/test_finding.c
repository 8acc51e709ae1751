/*
 * Findings: figures by name, how sure they are, and the finding that a judgement is.
 */
#include "plimsoll/verdict.h"

#include "base/units.h"
#include "harness.h"

static void figures_are_kept_by_name(void)
{
    plim_finding finding = { .id = "test" };
    plim_finding_add(&finding, "held_bytes", 3 * GIB);
    plim_finding_add(&finding, "unknown_bytes", UINT64_MAX); /* left out */
    plim_finding_add(&finding, "steps", 0);
    T_EQ_U64(finding.figure_count, 2);
    T_EQ_U64(plim_finding_figure(&finding, "held_bytes"), 3 * GIB);
    T_EQ_U64(plim_finding_figure(&finding, "steps"), 0);
    T_EQ_U64(plim_finding_figure(&finding, "unknown_bytes"), UINT64_MAX);
    while (finding.figure_count < PLIM_MEASURES_MAX) {
        plim_finding_add(&finding, "more", 1);
    }
    plim_finding_add(&finding, "too_many", 1);
    T_EQ_U64(plim_finding_figure(&finding, "too_many"), UINT64_MAX);
}

static void nothing_is_certain_that_has_an_alternative(void)
{
    static const struct {
        double confidence;
        bool has_alternative;
        const char *name;
    } rows[] = {
        { 0.95, false, "certain" }, { 0.95, true, "likely" },   { 0.75, false, "likely" },
        { 0.75, true, "likely" },   { 0.4, false, "possible" }, { 0.4, true, "possible" },
    };
    for (size_t i = 0; i < T_COUNT(rows); i++) {
        T_CASE("%.2f", rows[i].confidence);
        T_EQ_STR(
            plim_certainty_name(plim_certainty_of(rows[i].confidence, rows[i].has_alternative)),
            rows[i].name);
    }
    T_EQ_STR(plim_severity_name(PLIM_SEVERITY_FAILURE), "failure");
    T_EQ_STR(plim_severity_name((plim_severity)77), "");
    T_EQ_STR(plim_certainty_name((plim_certainty)77), "");
}

static void a_judgement_is_a_finding(void)
{
    plim_failed_request request =
        plim_failed_request_of(PLIM_TOPIC_ALLOCATION, PLIM_FAMILY_PYTORCH);
    request.subject = (plim_subject){ .kind = PLIM_SUBJECT_EVENT, .device = 3, .first = 917 };
    request.figures[PLIM_FIGURE_REQUESTED].bytes = 2 * GIB;
    request.figures[PLIM_FIGURE_TOTAL].bytes = 24 * GIB;
    request.figures[PLIM_FIGURE_FREE].bytes = GIB;
    request.figures[PLIM_FIGURE_ALLOCATED].bytes = 14 * GIB;
    request.figures[PLIM_FIGURE_RESERVED].bytes = 22 * GIB;
    const plim_finding finding = plim_judge(&request).finding;
    T_EQ_STR(finding.id, "oom.fragmented");
    T_EQ_U64(finding.severity, PLIM_SEVERITY_FAILURE);
    T_EQ_U64(finding.certainty, PLIM_CERTAINTY_CERTAIN);
    T_EQ_I64(finding.subject.device, 3);
    T_EQ_U64(finding.subject.first, 917);
    T_EQ_U64(plim_finding_figure(&finding, "requested_bytes"), 2 * GIB);
    T_EQ_U64(plim_finding_figure(&finding, "unused_bytes"), 8 * GIB);
    T_EQ_U64(plim_finding_figure(&finding, "limit_bytes"), UINT64_MAX);
    T_EQ_U64(finding.evidence_count, 0);
}

T_MAIN(T_TEST(figures_are_kept_by_name), T_TEST(nothing_is_certain_that_has_an_alternative),
       T_TEST(a_judgement_is_a_finding))
