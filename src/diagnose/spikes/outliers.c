/*
 * outliers.c - a few steps that take far more than the others: one batch far larger, a tensor that
 * only some steps make.
 */
#include "diagnose/spikes/parts.h"

#include <stdlib.h>

/* The smallest number of steps that say what is ordinary. */
#define STEPS_MIN 6
/* Outliers are up to this share of the steps, */
#define RARE_SHARE 0.2
/* stand above the highest of the others by this share of it, */
#define ABOVE_SHARE 0.4
/* and by the range of the others, times this: sizes that vary have no outlier. */
#define RANGES 1.0
/* So many ordinary steps come before the first outlier, each with this share of the highest of
 * them: a program that looks for the batch size that fits has none. */
#define BEFORE_MIN   4
#define BEFORE_SHARE 0.5
/* The first steps, in which workspaces and states are made, say nothing. */
#define WARM_UP_STEPS 2

typedef struct outliers {
    plim_case *one;
    const uint64_t *peaks; /* by step */
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

/* True if outliers come again at one distance: then they are what the program does. */
static bool is_periodic(const outliers *at)
{
    size_t last = SIZE_MAX;
    size_t distance = 0;
    size_t seen = 0;
    for (size_t i = WARM_UP_STEPS; i < at->one->steps.count; i++) {
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
    for (size_t i = 0; i < at->one->steps.count && at->peaks[i] < at->limit; i++) {
        before += (double)at->peaks[i] >= BEFORE_SHARE * (double)at->usual ? 1u : 0u;
    }
    return before >= BEFORE_MIN;
}

/* True if ordinary steps follow the outliers: else the program has moved to a higher level. */
static bool comes_back(const outliers *at)
{
    size_t after = 0;
    size_t limit = SIZE_MAX;
    for (size_t i = at->one->steps.count; i-- > WARM_UP_STEPS;) {
        if (at->peaks[i] >= at->limit) {
            limit = i;
            break;
        }
        after++;
    }
    return limit != SIZE_MAX && after > 0;
}

/* The largest of what stands at the worst peak and was made in its step. */
static uint64_t find_largest(const outliers *at, const plim_stretches *stretches)
{
    const plim_case *const one = at->one;
    const uint32_t *const ends = one->timeline.start.lifetimes.partner;
    const uint64_t peak = stretches->step_peak_events[at->worst];
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

/* Weights that are copied for a checkpoint, or models that are made, are no burst of a step. */
static bool is_of_passes(const plim_case *one, uint64_t event)
{
    const plim_stack_kind kind =
        plim_stack_kind_of(&one->passes.stacks, one->passes.events->stack[event]);
    return kind == PLIM_STACK_FORWARD || kind == PLIM_STACK_RECOMPUTE ||
           kind == PLIM_STACK_BACKWARD || kind == PLIM_STACK_DATA ||
           kind == PLIM_STACK_OPTIMIZER_STEP ||
           (kind == PLIM_STACK_USER &&
            plim_passes_at(&one->passes, event)->kind == PLIM_PASS_FORWARD);
}

static bool add(const outliers *at, const plim_stretches *stretches)
{
    plim_case *const one = at->one;
    const uint64_t largest = find_largest(at, stretches);
    if (largest == UINT64_MAX || !is_of_passes(one, largest)) {
        return true;
    }
    const uint32_t stack = one->passes.events->stack[largest];
    const plim_cause named = plim_burst_cause(one, stack);
    plim_diagnosis_finding *const finding = plim_case_add(
        one, PLIM_VERDICT_SPIKE, named == PLIM_CAUSE_BURST ? PLIM_CAUSE_LARGE_BATCH : named);
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

static bool look(outliers *at, const plim_stretches *stretches)
{
    for (size_t i = 0; i < at->count; i++) {
        at->sorted[i] = at->peaks[WARM_UP_STEPS + i];
        at->worst = at->peaks[WARM_UP_STEPS + i] > at->peaks[at->worst] || i == 0
                        ? WARM_UP_STEPS + i
                        : at->worst;
    }
    qsort(at->sorted, at->count, sizeof *at->sorted, compare_bytes);
    return !find_gap(at) || is_periodic(at) || !had_run(at) || !comes_back(at) ||
           add(at, stretches);
}

bool plim_spike_of_steps(plim_case *one, const plim_stretches *stretches)
{
    if (one->steps.count < STEPS_MIN + WARM_UP_STEPS || !one->has_stacks) {
        return true;
    }
    outliers at = { .one = one,
                    .peaks = stretches->step_peaks,
                    .count = one->steps.count - WARM_UP_STEPS };
    at.sorted = plim_mem_alloc(one->mem, at.count, sizeof *at.sorted);
    if (at.sorted == NULL) {
        return false;
    }
    const bool is_done = look(&at, stretches);
    plim_mem_free(one->mem, at.sorted, at.count, sizeof *at.sorted);
    return is_done;
}
