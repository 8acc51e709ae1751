/*
 * verdict.c - which finding is the verdict, and in which order the others follow.
 */
#include "diagnose/case/case.h"

#include <stdlib.h>

/* The place of a verdict in the order in which they are chosen: the lowest wins. */
static const uint8_t places[PLIM_VERDICT_COUNT] = {
    [PLIM_VERDICT_CAPPED] = 0,
    [PLIM_VERDICT_OTHER_PROCESS] = 1,
    [PLIM_VERDICT_OVERSIZED] = 2,
    [PLIM_VERDICT_LEAK] = 3,
    [PLIM_VERDICT_FRAGMENTED] = 4,
    [PLIM_VERDICT_SPIKE] = 5,
    [PLIM_VERDICT_FIRST_STEP_GROWTH] = 6,
    [PLIM_VERDICT_HOST] = 7,
    [PLIM_VERDICT_EXHAUSTED] = 8,
    [PLIM_VERDICT_UNKNOWN] = 9,
    [PLIM_VERDICT_HEALTHY] = 10,
    [PLIM_VERDICT_NOT_OOM] = 11,
};

bool plim_verdict_precedes(plim_verdict left, plim_verdict right)
{
    return places[left] < places[right];
}

/* Those that decide, in the order of verdicts; then by severity, and by what is at stake. */
static int compare_findings(const void *left, const void *right)
{
    const plim_diagnosis_finding *const a = left;
    const plim_diagnosis_finding *const b = right;
    if (a->decides != b->decides) {
        return a->decides ? -1 : 1;
    }
    if (a->decides && places[a->kind] != places[b->kind]) {
        return places[a->kind] < places[b->kind] ? -1 : 1;
    }
    if (a->finding.severity != b->finding.severity) {
        return a->finding.severity > b->finding.severity ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    if (a->cause != b->cause) {
        return a->cause < b->cause ? -1 : 1;
    }
    return a->root.stack < b->root.stack ? -1 : a->root.stack > b->root.stack;
}

/* Nothing was found: that says less where events are lost or no step can be compared with another,
 * and little where only the end is recorded. */
#define HEALTHY_CONFIDENCE     0.9
#define HALF_SEEN_CONFIDENCE   0.6
#define STATE_ALONE_CONFIDENCE 0.3

static double confidence_in_health(const plim_case *one)
{
    const bool is_seen = !one->facts->truncated && one->view.steps.count > 1;
    return !one->out->has_events ? STATE_ALONE_CONFIDENCE
           : is_seen             ? HEALTHY_CONFIDENCE
                                 : HALF_SEEN_CONFIDENCE;
}

void plim_choose_verdict(plim_case *one)
{
    plim_device_diagnosis *const out = one->out;
    if (one->findings.count > 0) {
        qsort(one->findings.items, one->findings.count, sizeof *one->findings.items,
              compare_findings);
    }
    const plim_diagnosis_finding *const first =
        one->findings.count > 0 ? &one->findings.items[0] : NULL;
    const bool decides = first != NULL && first->decides;
    out->verdict = decides ? first->kind : PLIM_VERDICT_HEALTHY;
    out->confidence = decides ? first->confidence : confidence_in_health(one);
}
