/*
 * spikes.c - bursts far above the rest.
 */
#include "base/error.h"
#include "diagnose/case/outcomes.h"
#include "diagnose/spikes/parts.h"

static bool find_spikes(plim_case *one, const plim_oom_moment *failure,
                        const plim_stretches *stretches)
{
    if (failure == NULL) {
        return plim_spike_of_evaluation(one, NULL, stretches) &&
               plim_spike_of_steps(one, stretches);
    }
    const plim_last_request failed = { .event = failure->event,
                                       .bytes = failure->requested_bytes,
                                       .live_bytes = failure->moment.requested_bytes,
                                       .stack = failure->stack };
    const size_t before = one->findings.count;
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
