/*
 * failure.c - a failed request that belongs to a burst: a few allocations, far larger than all else
 * that its step holds, and made after much else was.
 *
 *   a a a a a a a a a a a a  L  L  (L)      logits after checkpointed blocks: a burst
 *   A A A A A A (A)                         activations of layers: the model is too large
 */
#include "diagnose/spikes/parts.h"

/* More of them than that are layers. */
#define MEMBERS_MAX 6
/* They take so much of what the step holds, */
#define OF_STEP_SHARE 0.5
/* and so much of all that is live and requested. */
#define OF_ALL_SHARE 0.25
/* Smaller requests come before the first of them: so many, and so many for each. */
#define BEFORE_MIN    8
#define BEFORE_FACTOR 2
/* An earlier step that came this near had the same burst, and lived: then it is not the burst. */
#define LIVED_SHARE 0.9

/* The highest moment of training before the failed step. */
static uint64_t highest_before(const plim_burst *at, const plim_stretches *stretches)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < at->one->view.steps.count; i++) {
        if (at->one->step_facts[i].end_event <= at->first && stretches->step_peaks[i] > highest) {
            highest = stretches->step_peaks[i];
        }
    }
    return highest;
}

static bool is_burst(const plim_burst *at, const plim_stretches *stretches)
{
    const double all = (double)at->failed->live_bytes + (double)at->failed->bytes;
    return at->members > 0 && at->members <= MEMBERS_MAX && at->stack != PLIM_NONE &&
           at->repeated == 0 &&
           (double)at->member_bytes >= OF_STEP_SHARE * (double)at->step_bytes &&
           (double)at->member_bytes >= OF_ALL_SHARE * all && at->before >= BEFORE_MIN &&
           at->before >= BEFORE_FACTOR * at->members &&
           (double)highest_before(at, stretches) < LIVED_SHARE * all;
}

static bool add(const plim_burst *at)
{
    plim_case *const one = at->one;
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_SPIKE, plim_burst_cause(one, at->stack));
    if (finding == NULL) {
        return false;
    }
    finding->decides = true;
    finding->confidence = 0.85;
    finding->bytes = at->member_bytes;
    finding->root = plim_case_place(one, at->stack);
    finding->finding.severity = PLIM_SEVERITY_FAILURE;
    finding->finding.certainty = plim_certainty_of(finding->confidence, true);
    finding->finding.subject.kind = PLIM_SUBJECT_EVENT;
    finding->finding.subject.first = at->failed->event;
    finding->finding.subject.last = at->failed->event;
    finding->finding.subject.stack = at->stack;
    const plim_evidence_line members = {
        .id = "burst_at_failure",
        .text = "{} allocations, with the request that failed, take {} of the {} that the step "
                "holds or requests",
        .figures = { plim_say_amount("burst_allocations", at->members),
                     plim_say_bytes("burst_bytes", at->member_bytes),
                     plim_say_bytes("step_bytes", at->step_bytes) },
        .figure_count = 3,
    };
    const plim_evidence_line others = {
        .id = "burst_after",
        .text = "the {} requests of the step before them are each smaller than a quarter of the "
                "largest, {}",
        .figures = { plim_say_amount("requests_before", at->before),
                     plim_say_bytes("largest_bytes", at->largest) },
        .figure_count = 2,
    };
    return plim_case_say(one, finding, &members) && plim_case_say(one, finding, &others);
}

bool plim_spike_at_failure(plim_case *one, const plim_last_request *failed,
                           const plim_stretches *stretches)
{
    const plim_pass_kind pass = plim_passes_at(&one->passes, failed->event)->kind;
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, failed->stack);
    if (!one->has_stacks || pass == PLIM_PASS_SETUP || pass == PLIM_PASS_OPTIMIZER ||
        !plim_is_of_step(kind)) {
        return true;
    }
    plim_burst at;
    bool is_done = plim_burst_look(one, failed, &at);
    if (is_done && is_burst(&at, stretches)) {
        is_done = add(&at);
    }
    plim_burst_deinit(&at);
    return is_done;
}
