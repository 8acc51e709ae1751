/*
 * failure.c - a failed request that belongs to a burst: a few allocations, far larger than all else
 * that its step holds, and made after much else was.
 *
 *   a a a a a a a a a a a a  L  L  (L)      logits after checkpointed blocks: a burst
 *   A A A A A A (A)                         activations of layers: the model is too large
 */
#include "diagnose/spikes/parts.h"

/* Members of a burst have this share of the largest of them, or more: a copy in half precision or
 * of half of a batch is one. */
#define MEMBER_SHARE 4
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

typedef struct failure_burst {
    plim_case *one;
    const plim_last_request *failed;
    uint64_t first;        /* event that the failed step, or what there is of it, begins with */
    uint64_t largest;      /* bytes */
    uint64_t members;      /* with the failed request */
    uint64_t member_bytes; /* likewise */
    uint64_t step_bytes;   /* of all that the step holds, likewise */
    uint64_t first_member; /* event */
    uint64_t before;       /* requests of the step before it */
    uint32_t stack;        /* of the largest that has one */
    uint64_t stack_bytes;
    uint32_t repeated; /* members that share their stack with another */
    plim_map stacks;   /* of members → 1 */
} failure_burst;

static bool is_kind_of_step(plim_stack_kind kind)
{
    return kind != PLIM_STACK_BUILD && kind != PLIM_STACK_USER_INIT && kind != PLIM_STACK_BUCKETS &&
           kind != PLIM_STACK_OPTIMIZER_SETUP && kind != PLIM_STACK_OPTIMIZER_STATE;
}

/* Live at the failure, and neither state nor what the program was set up with. */
static bool is_held(const failure_burst *at, uint64_t event)
{
    const plim_case *const one = at->one;
    const uint32_t end = one->timeline.start.lifetimes.partner[event];
    if (one->passes.events->action[event] != PLIM_ALLOC ||
        (end != PLIM_NONE && end < at->failed->event)) {
        return false;
    }
    const uint8_t category = one->categories.of[plim_timeline_recorded_id(&one->timeline, event)];
    return category != PLIM_CATEGORY_PARAMETERS && category != PLIM_CATEGORY_OPTIMIZER_STATE &&
           category != PLIM_CATEGORY_GRADIENTS && category != PLIM_CATEGORY_INPUTS &&
           is_kind_of_step(
               plim_stack_kind_of(&one->passes.stacks, one->passes.events->stack[event]));
}

static bool is_member(const failure_burst *at, uint64_t bytes)
{
    return bytes >= at->largest / MEMBER_SHARE;
}

static bool take_member(failure_burst *at, uint64_t bytes, uint32_t stack)
{
    at->members++;
    at->member_bytes += bytes;
    if (stack == PLIM_NONE ||
        plim_stack_kind_of(&at->one->passes.stacks, stack) == PLIM_STACK_NONE) {
        return true;
    }
    if (bytes > at->stack_bytes) {
        at->stack = stack;
        at->stack_bytes = bytes;
    }
    at->repeated += plim_map_get(&at->stacks, stack) != PLIM_MAP_ABSENT ? 1u : 0u;
    return plim_map_put(&at->stacks, stack, 1);
}

static bool look(failure_burst *at)
{
    const plim_events *const events = at->one->passes.events;
    at->largest = at->failed->bytes;
    for (uint64_t i = at->first; i < at->failed->event; i++) {
        if (is_held(at, i) && events->bytes[i] > at->largest) {
            at->largest = events->bytes[i];
        }
    }
    at->first_member = at->failed->event;
    uint64_t requests = 0;
    for (uint64_t i = at->first; i < at->failed->event; i++) {
        requests += events->action[i] == PLIM_ALLOC ? 1u : 0u;
        if (!is_held(at, i)) {
            continue;
        }
        at->step_bytes += events->bytes[i];
        if (!is_member(at, events->bytes[i])) {
            continue;
        }
        if (at->first_member == at->failed->event) {
            at->first_member = i;
            at->before = requests - 1;
        }
        if (!take_member(at, events->bytes[i], events->stack[i])) {
            return false;
        }
    }
    if (at->first_member == at->failed->event) {
        at->before = requests;
    }
    at->step_bytes += at->failed->bytes;
    return !is_member(at, at->failed->bytes) ||
           take_member(at, at->failed->bytes, at->failed->stack);
}

/* The highest moment of training before the failed step. */
static uint64_t highest_before(const failure_burst *at, const plim_stretches *stretches)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < at->one->steps.count; i++) {
        if (at->one->step_facts[i].end_event <= at->first && stretches->step_peaks[i] > highest) {
            highest = stretches->step_peaks[i];
        }
    }
    return highest;
}

static bool is_burst(const failure_burst *at, const plim_stretches *stretches)
{
    const double all = (double)at->failed->live_bytes + (double)at->failed->bytes;
    return at->members > 0 && at->members <= MEMBERS_MAX && at->stack != PLIM_NONE &&
           at->repeated == 0 &&
           (double)at->member_bytes >= OF_STEP_SHARE * (double)at->step_bytes &&
           (double)at->member_bytes >= OF_ALL_SHARE * all && at->before >= BEFORE_MIN &&
           at->before >= BEFORE_FACTOR * at->members &&
           (double)highest_before(at, stretches) < LIVED_SHARE * all;
}

/* The event that the failed step begins with: after the last whole step, or after setup. */
static uint64_t begin_of_step(const plim_case *one, uint64_t event)
{
    const uint64_t step = plim_case_step(one, event);
    if (step != PLIM_NO_STEP) {
        return one->step_facts[step].first_event;
    }
    if (one->steps.count > 0 && event >= one->steps.first_events[one->steps.count]) {
        return one->steps.first_events[one->steps.count];
    }
    uint64_t first = 0;
    for (uint64_t i = 0; i < event; i++) {
        const plim_stack_kind kind =
            plim_stack_kind_of(&one->passes.stacks, one->passes.events->stack[i]);
        if (one->passes.events->action[i] == PLIM_ALLOC &&
            (kind == PLIM_STACK_BUILD || kind == PLIM_STACK_USER_INIT)) {
            first = i + 1;
        }
    }
    return first;
}

static bool add(const failure_burst *at)
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
        !is_kind_of_step(kind)) {
        return true;
    }
    failure_burst at = {
        .one = one, .failed = failed, .first = begin_of_step(one, failed->event), .stack = PLIM_NONE
    };
    plim_map_init(&at.stacks, one->mem);
    bool is_done = look(&at);
    if (is_done && is_burst(&at, stretches)) {
        is_done = add(&at);
    }
    plim_map_deinit(&at.stacks);
    return is_done;
}
