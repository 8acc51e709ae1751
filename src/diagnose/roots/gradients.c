/*
 * gradients.c - gradients that are live from one step to the next.
 */
#include "base/error.h"
#include "diagnose/roots/causes.h"
#include "diagnose/roots/waste.h"

/* Of all bytes that backward passes left as gradients so much is never freed in between. Programs
 * that clear them make them again in each step, so that the share of what is left falls. */
#define KEPT_SHARE 0.5
/* They must be live through so many steps of optimizers: where several take turns, the gradients of
 * one are live while the others step. */
#define STEPS_LIVED 3

typedef struct gradient_sums {
    uint64_t all;
    uint64_t kept;
    uint64_t kept_at_peak;
    uint64_t first_event; /* of the first that is kept */
    uint64_t first_bytes;
    uint64_t count;
} gradient_sums;

/* The first event of a backward pass that lies STEPS_LIVED steps of optimizers after pass number
 * `pass`; the count of events where the recording ends before. */
static uint64_t later_backward(const plim_case *one, size_t pass)
{
    const plim_pass *const passes = one->passes.list.items;
    const uint64_t end = one->device->events.count;
    size_t next = pass;
    for (size_t i = 0; i < STEPS_LIVED; i++) {
        if (passes[next].next_step >= end) {
            return end;
        }
        next = plim_pass_of(one, passes[next].next_step);
    }
    while (next < one->passes.list.count && passes[next].kind != PLIM_PASS_BACKWARD) {
        next++;
    }
    return next < one->passes.list.count ? passes[next].first : end;
}

static gradient_sums add_up_gradients(const plim_case *one)
{
    gradient_sums sums = { 0 };
    const plim_events *const events = &one->device->events;
    size_t pass = 0;
    size_t known_pass = SIZE_MAX; /* whose next backward pass is known */
    uint64_t next = 0;
    for (uint64_t i = 0; i < events->count; i++) {
        while (pass + 1 < one->passes.list.count && one->passes.list.items[pass + 1].first <= i) {
            pass++;
        }
        const plim_pass_kind kind = one->passes.list.items[pass].kind;
        if (events->action[i] != PLIM_ALLOC ||
            (kind != PLIM_PASS_BACKWARD && kind != PLIM_PASS_RECOMPUTE)) {
            continue;
        }
        const uint64_t id = plim_timeline_recorded_id(&one->view.timeline, i);
        if (one->view.categories.of[id] != PLIM_CATEGORY_GRADIENTS) {
            continue;
        }
        const plim_allocation made = plim_timeline_allocation(&one->view.timeline, id);
        sums.all += made.requested_bytes;
        if (known_pass != pass) {
            known_pass = pass;
            next = later_backward(one, pass);
        }
        if (next == events->count || made.freed < (int64_t)next) {
            continue;
        }
        sums.kept += made.requested_bytes;
        sums.count++;
        if (made.born <= one->facts->peak.event && made.freed > one->facts->peak.event) {
            sums.kept_at_peak += made.requested_bytes;
        }
        if (made.requested_bytes > sums.first_bytes) {
            sums.first_bytes = made.requested_bytes;
            sums.first_event = i;
        }
    }
    return sums;
}

static bool is_leak_of_gradients(const plim_case *one)
{
    for (size_t i = 0; i < one->findings.count; i++) {
        const plim_diagnosis_finding *const finding = &one->findings.items[i];
        if (finding->kind == PLIM_VERDICT_LEAK && (finding->cause == PLIM_CAUSE_GRADIENTS_KEPT ||
                                                   finding->cause == PLIM_CAUSE_HOOK_KEPT)) {
            return true;
        }
    }
    return false;
}

plim_status plim_find_gradients_kept(plim_case *one, plim_error *err)
{
    if (!one->passes.has_backward || !one->passes.has_optimizer ||
        one->view.steps.count < STEPS_LIVED || is_leak_of_gradients(one)) {
        return PLIM_OK;
    }
    const gradient_sums sums = add_up_gradients(one);
    if (sums.kept == 0 || (double)sums.kept < KEPT_SHARE * (double)sums.all) {
        return PLIM_OK;
    }
    plim_diagnosis_finding *const finding =
        plim_add_waste(one, PLIM_CAUSE_GRADIENTS_KEPT, 0.85, sums.kept);
    if (finding == NULL) {
        return plim_fail_memory(err, "finding gradients that stay");
    }
    finding->root = plim_backward_place(one, sums.first_event);
    if (finding->root.frame == PLIM_NONE) {
        finding->root = plim_case_place(one, one->device->events.stack[sums.first_event]);
    }
    const plim_evidence_line stay = {
        .id = "gradients_stay",
        .text = "{} gradients with {} are still live in the backward pass three optimizer steps "
                "later: no step frees them",
        .figures = { plim_say_amount("gradients", sums.count),
                     plim_say_bytes("gradient_bytes", sums.kept) },
        .figure_count = 2,
    };
    const size_t at =
        one->facts->peak.event >= 0 ? plim_pass_of(one, (uint64_t)one->facts->peak.event) : 0;
    const bool is_forward = one->passes.list.items[at].kind == PLIM_PASS_FORWARD;
    const plim_evidence_line peak = {
        .id = "gradients_at_peak",
        .text = is_forward ? "{} of them are live at the peak, which lies in a forward pass: "
                             "cleared before it, they would not be there"
                           : "{} of them are live at the peak, which does not lie in a forward "
                             "pass: some would be there in any case",
        .figures = { plim_say_bytes("gradient_bytes_at_peak", sums.kept_at_peak) },
        .figure_count = 1,
    };
    return plim_case_say(one, finding, &stay) && plim_case_say(one, finding, &peak)
               ? PLIM_OK
               : plim_fail_memory(err, "finding gradients that stay");
}
