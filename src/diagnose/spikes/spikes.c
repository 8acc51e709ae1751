/*
 * spikes.c - bursts far above the rest.
 */
#include "base/error.h"
#include "diagnose/case/outcomes.h"
#include "diagnose/spikes/parts.h"

/* The peaks of steps with all that is in them. */
static void take_step_peaks(const plim_case *one, plim_stretches *stretches)
{
    for (size_t i = 0; i < one->view.steps.count; i++) {
        stretches->step_peaks[i] = one->step_facts[i].peak_requested_bytes;
        stretches->step_peak_events[i] = one->step_facts[i].peak_event;
    }
}

/* True if the request alone exceeds the device: no burst is to blame. */
static bool is_oversized(const plim_case *one)
{
    for (size_t i = 0; i < one->findings.count; i++) {
        if (one->findings.items[i].kind == PLIM_VERDICT_OVERSIZED) {
            return true;
        }
    }
    return false;
}

static bool find_spikes(plim_case *one, const plim_oom_moment *failure, plim_stretches *stretches)
{
    const size_t before = one->findings.count;
    if (failure == NULL) {
        if (!plim_spike_of_evaluation(one, NULL, stretches)) {
            return false;
        }
        if (one->findings.count == before) { /* no evaluation: stretches are of ordinary steps */
            take_step_peaks(one, stretches);
        }
        return plim_spike_of_steps(one, stretches) &&
               (one->findings.count > before || plim_spike_at_peak(one));
    }
    const plim_last_request failed = { .event = failure->event,
                                       .bytes = failure->requested_bytes,
                                       .live_bytes = failure->moment.requested_bytes,
                                       .stack = failure->stack };
    if (is_oversized(one)) {
        return true;
    }
    return plim_spike_of_evaluation(one, &failed, stretches) &&
           (one->findings.count > before || plim_spike_at_failure(one, &failed, stretches));
}

plim_status plim_find_spikes(plim_case *one, plim_error *err)
{
    if (!one->out->has_events) {
        return PLIM_OK;
    }
    plim_oom_outcomes outcomes = { 0 };
    PLIM_TRY(plim_oom_outcomes_of(one, &outcomes, err));
    const plim_oom_moment *const failure =
        outcomes.last_ended != SIZE_MAX ? &one->facts->ooms[outcomes.last_ended] : NULL;
    plim_stretches stretches = { 0 };
    const bool is_done =
        plim_stretches_find(one, &stretches) && find_spikes(one, failure, &stretches);
    plim_stretches_deinit(one, &stretches);
    return is_done ? PLIM_OK : plim_fail_memory(err, "looking for bursts");
}
