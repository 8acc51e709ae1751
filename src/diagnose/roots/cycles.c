/*
 * cycles.c - tensors of many steps that are freed at once, as Python's collector frees them.
 *
 * Objects that refer to themselves wait for the collector. It runs when enough Python objects were
 * made, and clears what it finds in the order in which it was made; a list that is dropped frees
 * its last item first, and a tensor that takes the place of another frees one at a time.
 */
#include "base/error.h"
#include "diagnose/roots/causes.h"
#include "diagnose/roots/waste.h"

#include <stdlib.h>

/* Steps whose tensors must be freed in order; where it is seen once, so many. */
#define STEPS_MIN      3
#define STEPS_MIN_ONCE 4
/* Of the tensors from earlier steps that a run of frees takes, so many must be in that order. */
#define IN_ORDER_SHARE 0.75
/* The collector takes all that waits: the newest was made at most so many steps ago. A cache that
 * has a limit drops its oldest and keeps its newest. */
#define NEWEST_AGE_MAX 2

typedef PLIM_VEC(uint64_t) plim_ids;

/* A run of frees without a request in between, and the stretch of it in which steps ascend. */
typedef struct free_run {
    plim_ids ids;   /* of the stretch */
    size_t earlier; /* tensors of the run from earlier steps */
    size_t steps;   /* different ones in the stretch */
    uint64_t first_step;
    uint64_t last_step;
    uint64_t bytes;
    uint64_t at_step;
} free_run;

typedef struct cycle_search {
    plim_case *one;
    free_run run;
    plim_ids best; /* ids of the run with most bytes */
    uint64_t best_bytes;
    size_t runs; /* that look like the collector's */
    size_t best_steps;
    uint64_t peak_bytes; /* of what such runs free, live at the peak */
    uint64_t first_step;
    uint64_t last_step;
} cycle_search;

static void start_stretch(free_run *run)
{
    run->ids.count = 0;
    run->steps = 0;
    run->bytes = 0;
}

static bool looks_collected(const free_run *run)
{
    return run->steps >= STEPS_MIN && run->last_step + NEWEST_AGE_MAX >= run->at_step &&
           (double)run->ids.count >= IN_ORDER_SHARE * (double)run->earlier;
}

/* A model and its optimizer that are dropped as a whole are no cycle's. */
static bool is_of_model(const plim_case *one, const plim_allocation *made)
{
    const uint8_t category = one->view.categories.of[made->id];
    return category == PLIM_CATEGORY_PARAMETERS || category == PLIM_CATEGORY_GRADIENTS ||
           category == PLIM_CATEGORY_OPTIMIZER_STATE ||
           (one->passes.has_stacks && made->stack == PLIM_NONE);
}

static bool note_free(cycle_search *at, uint64_t event, uint64_t step)
{
    plim_case *const one = at->one;
    const uint64_t id = plim_timeline_about(&one->view.timeline, event);
    if (id == PLIM_NO_ALLOCATION) {
        return true;
    }
    const plim_allocation made = plim_timeline_allocation(&one->view.timeline, id);
    if (made.freed != (int64_t)event || made.born < 0 || is_of_model(one, &made)) {
        return true;
    }
    const uint64_t born = plim_steps_at(&one->view.steps, (uint64_t)made.born);
    if (born == PLIM_NO_STEP) {
        return true;
    }
    free_run *const run = &at->run;
    run->at_step = step;
    run->earlier += born < step;
    if (run->ids.count > 0 && born < run->last_step) {
        if (looks_collected(run)) {
            return true; /* what follows it in the run is not of it */
        }
        start_stretch(run);
    }
    if (run->ids.count == 0 || born != run->last_step) {
        run->first_step = run->ids.count == 0 ? born : run->first_step;
        run->steps++;
        run->last_step = born;
    }
    run->bytes += made.requested_bytes;
    return PLIM_VEC_PUSH(one->mem, &run->ids, id);
}

static void end_run(cycle_search *at)
{
    free_run *const run = &at->run;
    if (looks_collected(run)) {
        const int64_t peak = at->one->facts->peak.event;
        for (size_t i = 0; i < run->ids.count; i++) {
            const plim_allocation made =
                plim_timeline_allocation(&at->one->view.timeline, run->ids.items[i]);
            at->peak_bytes += made.born <= peak && made.freed > peak ? made.requested_bytes : 0;
        }
        at->first_step = at->runs == 0 ? run->at_step : at->first_step;
        at->last_step = run->at_step;
        at->runs++;
        if (run->bytes > at->best_bytes) {
            at->best_bytes = run->bytes;
            at->best_steps = run->steps;
            const plim_ids swapped = at->best;
            at->best = run->ids;
            run->ids = swapped;
        }
    }
    start_stretch(run);
    run->earlier = 0;
}

/* What is freed after the last request is the program's end. */
static bool walk_frees(cycle_search *at)
{
    const plim_case *const one = at->one;
    const plim_events *const events = &one->device->events;
    size_t step = 0;
    for (uint64_t i = one->view.steps.first_events[0]; i < one->passes.last_request; i++) {
        while (step + 1 < one->view.steps.count && i >= one->view.steps.first_events[step + 1]) {
            step++;
        }
        if (events->action[i] == PLIM_ALLOC) {
            end_run(at);
        } else if (!note_free(at, i, step)) {
            return false;
        }
    }
    end_run(at);
    return true;
}

static int compare_ids(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* True if it grows only since the collector ran last, by what it freed before. */
static bool is_next_tooth(const cycle_search *at, const plim_diagnosis_finding *cycle,
                          const plim_diagnosis_finding *leak)
{
    if (leak->kind != PLIM_VERDICT_LEAK || leak->first_step == PLIM_NO_STEP ||
        leak->first_step < at->last_step || leak->member_count == 0) {
        return false;
    }
    for (size_t i = 0; i < cycle->member_count; i++) {
        if (cycle->members[i].place.stack == leak->members[0].place.stack) {
            return true;
        }
    }
    return false;
}

/* The sawtooth's last, unfinished tooth looks like a leak: that finding goes. */
static void drop_teeth(cycle_search *at)
{
    const size_t count = at->one->findings.count;
    plim_diagnosis_finding *const findings = at->one->findings.items;
    size_t left = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        if (!is_next_tooth(at, &findings[count - 1], &findings[i])) {
            findings[left++] = findings[i];
        }
    }
    findings[left++] = findings[count - 1];
    at->one->findings.count = left;
}

static plim_status report_cycle(cycle_search *at, plim_error *err)
{
    plim_case *const one = at->one;
    plim_diagnosis_finding *const finding =
        plim_add_waste(one, PLIM_CAUSE_REFERENCE_CYCLE, at->runs > 1 ? 0.8 : 0.7, at->best_bytes);
    if (finding == NULL) {
        return plim_fail_memory(err, "finding reference cycles");
    }
    qsort(at->best.items, at->best.count, sizeof *at->best.items, compare_ids);
    PLIM_TRY(plim_waste_root(one, at->best.items, at->best.count, finding, err));
    finding->first_step = at->first_step;
    finding->last_step = at->last_step;
    const plim_evidence_line mass = {
        .id = "freed_at_once",
        .text = "{} in {} allocations of {} steps are freed at once, in the order of their steps "
                "and up to the newest: so Python's collector frees, and no list that is dropped",
        .figures = { plim_say_bytes("freed_bytes", at->best_bytes),
                     plim_say_amount("freed_allocations", at->best.count),
                     plim_say_amount("freed_steps", at->best_steps) },
        .figure_count = 3,
    };
    const plim_evidence_line often = {
        .id = "freed_often",
        .text = "this happens {} times; {} of it wait at the peak",
        .figures = { plim_say_amount("times", at->runs),
                     plim_say_bytes("waiting_at_peak_bytes", at->peak_bytes) },
        .figure_count = 2,
    };
    if (!plim_case_say(one, finding, &mass) || !plim_case_say(one, finding, &often)) {
        return plim_fail_memory(err, "finding reference cycles");
    }
    drop_teeth(at);
    return PLIM_OK;
}

plim_status plim_find_cycles(plim_case *one, plim_error *err)
{
    if (one->view.steps.count <= STEPS_MIN) {
        return PLIM_OK;
    }
    cycle_search at = { .one = one };
    plim_status status =
        walk_frees(&at) ? PLIM_OK : plim_fail_memory(err, "finding reference cycles");
    if (status == PLIM_OK && (at.runs > 1 || (at.runs == 1 && at.best_steps >= STEPS_MIN_ONCE))) {
        status = report_cycle(&at, err);
    }
    PLIM_VEC_FREE(one->mem, &at.run.ids);
    PLIM_VEC_FREE(one->mem, &at.best);
    return status;
}
