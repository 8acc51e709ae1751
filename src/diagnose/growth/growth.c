/*
 * growth.c - optimizer states, which arrive in the first step that the optimizer takes.
 *
 *   weights | activations, gradients | states ...  | activations, gradients + states
 *             ^ the first step         ^ fails here,  ^ or here: what fitted before does not now
 */
#include "diagnose/case/case.h"

#include "base/error.h"
#include "diagnose/case/outcomes.h"

/* The second step is the first one's like where it needs so much of it, without the states. */
#define ALIKE_SHARE 1.1
/* States below this share of the peak are not worth a line. */
#define NOTE_SHARE 0.1

typedef struct first_states {
    plim_case *one;
    uint64_t first;        /* the first optimizer's step that makes states: events [first, end) */
    uint64_t end;          /* the next forward pass, or the end of the recording */
    uint64_t bytes;        /* of states that it makes and that live on */
    uint64_t other_bytes;  /* of what else it holds when the recording, or it, ends */
    uint64_t largest;      /* event of the largest state; UINT64_MAX: none */
    uint64_t before_bytes; /* of states made before, and live */
    uint64_t fitted_bytes; /* the highest moment before it */
} first_states;

static plim_category category_of(const plim_case *one, uint64_t event)
{
    return (plim_category)
        one->view.categories.of[plim_timeline_recorded_id(&one->view.timeline, event)];
}

/* The first pass of an optimizer that makes states, and the forward pass after it. */
static bool find_pass(first_states *at)
{
    const plim_passes *const passes = &at->one->passes;
    for (size_t i = 0; i < passes->list.count; i++) {
        const plim_pass *const pass = &passes->list.items[i];
        for (uint64_t event = pass->first; pass->kind == PLIM_PASS_OPTIMIZER && event < pass->end;
             event++) {
            if (passes->events->action[event] == PLIM_ALLOC &&
                category_of(at->one, event) == PLIM_CATEGORY_OPTIMIZER_STATE) {
                at->first = pass->first;
                at->end = pass->next_forward;
                return true;
            }
        }
    }
    return false;
}

static void add_up(first_states *at)
{
    const plim_case *const one = at->one;
    const plim_events *const events = one->passes.events;
    const uint32_t *const ends = one->view.timeline.start.lifetimes.partner;
    at->largest = UINT64_MAX;
    for (uint64_t i = at->first; i < at->end; i++) {
        if (events->action[i] != PLIM_ALLOC || (ends[i] != PLIM_NONE && ends[i] < at->end)) {
            continue;
        }
        if (category_of(one, i) != PLIM_CATEGORY_OPTIMIZER_STATE) {
            at->other_bytes += events->bytes[i];
            continue;
        }
        at->bytes += events->bytes[i];
        if (at->largest == UINT64_MAX || events->bytes[i] > events->bytes[at->largest]) {
            at->largest = i;
        }
    }
    plim_live live = plim_timeline_live(&one->view.timeline, (int64_t)at->first - 1, false);
    plim_allocation standing;
    while (plim_live_next(&live, &standing)) {
        at->before_bytes += one->view.categories.of[standing.id] == PLIM_CATEGORY_OPTIMIZER_STATE
                                ? standing.requested_bytes
                                : 0;
    }
    plim_cursor cursor;
    plim_cursor_init(&cursor, &one->view.timeline);
    for (uint64_t i = 0; i < at->first && plim_cursor_next(&cursor); i++) {
        const uint64_t now = plim_cursor_figures(&cursor).requested_bytes;
        at->fitted_bytes = now > at->fitted_bytes ? now : at->fitted_bytes;
    }
}

/* It fails while the optimizer makes its states. */
static bool fails_in_it(const first_states *at, const plim_oom_moment *failure)
{
    const plim_stack_kind kind = plim_stack_kind_of(&at->one->passes.stacks, failure->stack);
    const uint64_t states =
        at->bytes + (kind == PLIM_STACK_OPTIMIZER_STATE ? failure->requested_bytes : 0);
    return at->end == at->one->passes.events->count && at->first < failure->event &&
           plim_passes_at(&at->one->passes, failure->event)->kind == PLIM_PASS_OPTIMIZER &&
           states >= at->other_bytes;
}

/* It fails in the next step, which without the states would need what the first one did. */
static bool fails_after_it(const first_states *at, const plim_oom_moment *failure)
{
    const plim_passes *const passes = &at->one->passes;
    if (failure->event < at->end || at->end == passes->events->count) {
        return false;
    }
    const plim_pass *const next = plim_passes_at(passes, at->end);
    const uint64_t needed = failure->moment.requested_bytes + failure->requested_bytes;
    return (next->next_step >= failure->event || next->next_step == passes->events->count) &&
           needed > at->bytes &&
           (double)(needed - at->bytes) <= ALIKE_SHARE * (double)at->fitted_bytes;
}

static bool say(const first_states *at, plim_diagnosis_finding *finding, bool in_it, bool after_it)
{
    const plim_evidence_line made = {
        .id = "states_made",
        .text = "the optimizer's first step leaves {} of states; {} of states were there before",
        .figures = { plim_say_bytes("states_bytes", at->bytes),
                     plim_say_bytes("states_before_bytes", at->before_bytes) },
        .figure_count = 2,
    };
    const plim_evidence_line unfinished = {
        .id = "states_unfinished",
        .text = "the request that failed is one of that step, which has not ended; before it, {} "
                "was the most that was live",
        .figures = { plim_say_bytes("fitted_bytes", at->fitted_bytes) },
        .figure_count = 1,
    };
    const plim_evidence_line second = {
        .id = "states_stand",
        .text = "the step before it fitted in {}; this one fails with those states on top",
        .figures = { plim_say_bytes("fitted_bytes", at->fitted_bytes) },
        .figure_count = 1,
    };
    return plim_case_say(at->one, finding, &made) &&
           (!in_it || plim_case_say(at->one, finding, &unfinished)) &&
           (!after_it || plim_case_say(at->one, finding, &second));
}

static bool add(const first_states *at, const plim_oom_moment *failure)
{
    plim_case *const one = at->one;
    const bool in_it = failure != NULL && fails_in_it(at, failure);
    const bool after_it = failure != NULL && !in_it && fails_after_it(at, failure);
    const bool decides = in_it || after_it;
    if (!decides && (double)at->bytes < NOTE_SHARE * (double)one->facts->peak.requested_bytes) {
        return true;
    }
    plim_diagnosis_finding *const finding =
        plim_case_add(one, PLIM_VERDICT_FIRST_STEP_GROWTH, PLIM_CAUSE_OPTIMIZER_STATES);
    if (finding == NULL) {
        return false;
    }
    const uint32_t largest = one->passes.events->stack[at->largest];
    const uint32_t stack = in_it && failure->stack != PLIM_NONE ? failure->stack : largest;
    finding->decides = decides;
    finding->confidence = in_it ? 0.9 : 0.8;
    finding->bytes = at->bytes + (in_it ? failure->requested_bytes : 0);
    finding->root = plim_case_place(one, stack);
    finding->first_step = plim_steps_at(&one->view.steps, at->first);
    finding->last_step = finding->first_step;
    finding->finding.severity = decides ? PLIM_SEVERITY_FAILURE : PLIM_SEVERITY_NOTE;
    finding->finding.certainty = plim_certainty_of(finding->confidence, true);
    finding->finding.subject.kind = PLIM_SUBJECT_EVENT;
    finding->finding.subject.stack = stack;
    finding->finding.subject.first = decides ? failure->event : at->first;
    finding->finding.subject.last = finding->finding.subject.first;
    return say(at, finding, in_it, after_it);
}

plim_status plim_find_growth(plim_case *one, plim_error *err)
{
    first_states at = { .one = one };
    if (!one->out->has_events || !find_pass(&at)) {
        return PLIM_OK;
    }
    add_up(&at);
    if (at.largest == UINT64_MAX || at.before_bytes >= at.bytes) {
        return PLIM_OK; /* the recording began after the states */
    }
    plim_oom_outcomes outcomes = { 0 };
    PLIM_TRY(plim_oom_outcomes_of(one, &outcomes, err));
    const plim_oom_moment *const failure =
        outcomes.last_ended != SIZE_MAX ? &one->facts->ooms[outcomes.last_ended] : NULL;
    return add(&at, failure) ? PLIM_OK : plim_fail_memory(err, "adding up states");
}
