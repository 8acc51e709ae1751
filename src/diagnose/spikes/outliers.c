/*
 * outliers.c - a few steps that take far more than the others: one batch far larger, a tensor that
 * only some steps make.
 */
#include "base/total.h"
#include "diagnose/spikes/parts.h"

#include <stdlib.h>

/* The smallest number of steps that say what is ordinary. */
#define STEPS_MIN 6
/* Outliers are up to this share of the steps, */
#define RARE_SHARE 0.25
/* stand above the highest of the others by this share of it, */
#define ABOVE_SHARE 0.4
/* and by the range of the others, times this: sizes that vary have no outlier. */
#define RANGES 1.0
/* So many ordinary steps come before the first outlier, each with this share of the highest of
 * them: a program that looks for the batch size that fits has none. */
#define BEFORE_MIN   4
#define BEFORE_SHARE 0.5
/* Outliers at one distance, three or more, are what the program does (a generator's steps after
 * its critic's), unless they are so much higher. */
#define PERIODIC_SHARE 1.0
/* The first steps, in which workspaces and states are made, say nothing. */
#define WARM_UP_STEPS 2

typedef struct outliers {
    plim_case *one;
    const uint64_t *peaks; /* by step, */
    const uint64_t *peak_events;
    uint64_t *sorted;
    size_t count;    /* of steps that count */
    size_t rare;     /* outliers */
    uint64_t usual;  /* the highest of the others */
    uint64_t lowest; /* of all */
    uint64_t limit;  /* peaks from here on are outliers */
    size_t worst;    /* step */
} outliers;

static int compare_bytes(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The lowest of the few whose distance to the rest is wide enough. */
static bool find_gap(outliers *at)
{
    const size_t most = (size_t)(RARE_SHARE * (double)at->count);
    at->lowest = at->sorted[0];
    for (size_t rare = most; rare > 0; rare--) {
        const uint64_t usual = at->sorted[at->count - rare - 1];
        const uint64_t above = at->sorted[at->count - rare];
        const double excess = (double)above - (double)usual;
        if (excess >= ABOVE_SHARE * (double)usual &&
            excess >= RANGES * ((double)usual - (double)at->lowest)) {
            at->rare = rare;
            at->usual = usual;
            at->limit = above;
            return true;
        }
    }
    return false;
}

static bool is_ordinary(const outliers *at)
{
    if ((double)at->limit >= (1 + PERIODIC_SHARE) * (double)at->usual) {
        return false;
    }
    size_t last = SIZE_MAX;
    size_t distance = 0;
    size_t seen = 0;
    for (size_t i = WARM_UP_STEPS; i < at->one->view.steps.count; i++) {
        if (at->peaks[i] < at->limit) {
            continue;
        }
        if (last != SIZE_MAX && distance != 0 && i - last != distance) {
            return false;
        }
        distance = last != SIZE_MAX ? i - last : 0;
        last = i;
        seen++;
    }
    return seen >= 3;
}

/* True if the program had run as usual for a while before the first outlier. */
static bool had_run(const outliers *at)
{
    size_t before = 0;
    for (size_t i = 0; i < at->one->view.steps.count && at->peaks[i] < at->limit; i++) {
        before += (double)at->peaks[i] >= BEFORE_SHARE * (double)at->usual ? 1u : 0u;
    }
    return before >= BEFORE_MIN;
}

/* True if an ordinary step follows an outlier: else the program has moved to a higher level. */
static bool comes_back(const outliers *at)
{
    bool is_above = false;
    for (size_t i = WARM_UP_STEPS; i < at->one->view.steps.count; i++) {
        if (is_above && at->peaks[i] < at->limit) {
            return true;
        }
        is_above = is_above || at->peaks[i] >= at->limit;
    }
    return false;
}

/* The largest of what stands at the worst peak and was made in its step. */
static uint64_t find_largest(const outliers *at)
{
    const plim_case *const one = at->one;
    const uint32_t *const ends = one->view.timeline.start.lifetimes.partner;
    const uint64_t peak = at->peak_events[at->worst];
    uint64_t largest = UINT64_MAX;
    for (uint64_t i = one->step_facts[at->worst].first_event; i <= peak; i++) {
        const uint32_t stack = one->passes.events->stack[i];
        const bool is_candidate =
            one->passes.events->action[i] == PLIM_ALLOC && (ends[i] == PLIM_NONE || ends[i] > peak);
        if (is_candidate && plim_stack_kind_of(&one->passes.stacks, stack) != PLIM_STACK_NONE &&
            (largest == UINT64_MAX ||
             one->passes.events->bytes[i] > one->passes.events->bytes[largest])) {
            largest = i;
        }
    }
    return largest;
}

/* True if it is a copy of weights or of states, for a checkpoint, or a model that is made: as many
 * bytes as anything that stood before the step. */
static bool is_copy(const outliers *at, uint64_t event)
{
    const plim_case *const one = at->one;
    const plim_stack_kind kind =
        plim_stack_kind_of(&one->passes.stacks, one->passes.events->stack[event]);
    if (kind == PLIM_STACK_BUILD || kind == PLIM_STACK_USER_INIT) {
        return true;
    }
    if (kind != PLIM_STACK_USER) {
        return false;
    }
    plim_live live = plim_timeline_live(&one->view.timeline,
                                        (int64_t)one->step_facts[at->worst].first_event - 1, false);
    plim_allocation standing;
    while (plim_live_next(&live, &standing)) {
        if (standing.requested_bytes == one->passes.events->bytes[event]) {
            return true;
        }
    }
    return false;
}

/* Requested by the code of a stack in a step. */
static plim_total requested_in(const plim_case *one, size_t step, uint32_t stack)
{
    const plim_events *const events = one->passes.events;
    plim_total bytes = 0;
    for (uint64_t i = one->step_facts[step].first_event; i < one->step_facts[step].end_event; i++) {
        bytes +=
            events->action[i] == PLIM_ALLOC && events->stack[i] == stack ? events->bytes[i] : 0;
    }
    return bytes;
}

/* True if the same code requests less, but something, in an ordinary step. */
static bool is_larger_than_usual(const outliers *at, uint32_t stack)
{
    const plim_total worst = requested_in(at->one, at->worst, stack);
    for (size_t step = 0; step < at->one->view.steps.count; step++) {
        const plim_total bytes =
            at->peaks[step] < at->limit ? requested_in(at->one, step, stack) : 0;
        if (bytes > 0 && bytes <= worst / 2) {
            return true;
        }
    }
    return false;
}

static bool add(const outliers *at)
{
    plim_case *const one = at->one;
    const uint64_t largest = find_largest(at);
    if (largest == UINT64_MAX || is_copy(at, largest)) {
        return true;
    }
    const uint32_t stack = one->passes.events->stack[largest];
    const plim_cause cause =
        is_larger_than_usual(at, stack) ? PLIM_CAUSE_LARGE_BATCH : plim_burst_cause(one, stack);
    plim_diagnosis_finding *const finding = plim_case_add(one, PLIM_VERDICT_SPIKE, cause);
    if (finding == NULL) {
        return false;
    }
    finding->decides = true;
    finding->confidence = 0.75;
    finding->bytes = at->peaks[at->worst] - at->usual;
    finding->root = plim_case_place(one, stack);
    finding->first_step = at->worst;
    finding->last_step = at->worst;
    finding->finding.severity = PLIM_SEVERITY_WARNING;
    finding->finding.certainty = plim_certainty_of(finding->confidence, true);
    finding->finding.subject.kind = PLIM_SUBJECT_STEPS;
    finding->finding.subject.first = at->worst;
    finding->finding.subject.last = at->worst;
    finding->finding.subject.stack = stack;
    const plim_evidence_line line = {
        .id = "outlying_steps",
        .text = "{} of {} steps reach {} or more, step {} most, {}; no other exceeds {}",
        .figures = { plim_say_amount("outliers", at->rare), plim_say_amount("steps", at->count),
                     plim_say_bytes("least_outlier_bytes", at->limit),
                     plim_say_step("worst_step", at->worst),
                     plim_say_bytes("worst_bytes", at->peaks[at->worst]),
                     plim_say_bytes("usual_bytes", at->usual) },
        .figure_count = 6,
    };
    return plim_case_say(one, finding, &line);
}

static bool look(outliers *at)
{
    for (size_t i = 0; i < at->count; i++) {
        at->sorted[i] = at->peaks[WARM_UP_STEPS + i];
        at->worst = at->peaks[WARM_UP_STEPS + i] > at->peaks[at->worst] || i == 0
                        ? WARM_UP_STEPS + i
                        : at->worst;
    }
    qsort(at->sorted, at->count, sizeof *at->sorted, compare_bytes);
    return !find_gap(at) || is_ordinary(at) || !had_run(at) || !comes_back(at) || add(at);
}

bool plim_spike_of_steps(plim_case *one, const plim_stretches *stretches)
{
    if (one->view.steps.count < STEPS_MIN + WARM_UP_STEPS || !one->has_stacks) {
        return true;
    }
    outliers at = { .one = one,
                    .peaks = stretches->step_peaks,
                    .peak_events = stretches->step_peak_events,
                    .count = one->view.steps.count - WARM_UP_STEPS };
    at.sorted = plim_mem_alloc(one->mem, at.count, sizeof *at.sorted);
    if (at.sorted == NULL) {
        return false;
    }
    const bool is_done = look(&at);
    plim_mem_free(one->mem, at.sorted, at.count, sizeof *at.sorted);
    return is_done;
}
