/*
 * late.c - whether a program still fits where work on streams ends as late as on a GPU: once more.
 * See plimsoll/rehearse.h.
 *
 * What waits for other streams is in the bars already, by a bound that is generous. Only where that
 * bound alone makes a program tight is it worth a second run, which says more exactly.
 */
#include "base/error.h"
#include "base/numbers.h"
#include "rehearse/again.h"
#include "rehearse/rehearsal.h"

#include <string.h>

static bool fits(const plim_rehearsal_outcome *outcome, uint64_t high_bytes)
{
    return plim_plus(high_bytes, outcome->margin_bytes) <= outcome->capacity_bytes;
}

/* True if nothing else makes it tight. */
static bool hangs_on_waiting(const plim_rehearsed *rehearsed)
{
    const plim_rehearsal_outcome *outcome = rehearsed->outcome;
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        const plim_rehearsed_gpu *gpu = &outcome->gpus[i];
        if (!fits(outcome, plim_minus(gpu->peak.high_bytes, gpu->waiting_bytes))) {
            return false;
        }
    }
    return plim_rehearsed_judge(rehearsed) == PLIM_REHEARSED_TIGHT;
}

/* The bars of the first run, with what the second says of waiting. */
static plim_status narrow(plim_rehearsal *first, const plim_rehearsal_outcome *late,
                          plim_error *err)
{
    const uint32_t count = first->outcome.device_count;
    plim_rehearsed_gpu *gpus = plim_arena_alloc(&first->arena, count * sizeof(*gpus));
    if (gpus == NULL) {
        return plim_fail_memory(err, "judging what waits for streams");
    }
    memcpy(gpus, first->outcome.gpus, count * sizeof(*gpus));
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t rest = plim_minus(gpus[i].peak.high_bytes, gpus[i].waiting_bytes);
        gpus[i].peak.high_bytes = plim_max(rest, late->gpus[i].peak.high_bytes);
        gpus[i].waiting_bytes = gpus[i].peak.high_bytes - rest;
    }
    first->outcome.gpus = gpus;
    return PLIM_OK;
}

typedef struct late_run {
    plim_rehearsal *first;
    plim_rehearsed_late *late;
} late_run;

static plim_status judge(void *ctx, const plim_rehearsed *second, plim_error *err)
{
    const late_run *const self = ctx;
    if (second->launched.timed_out) {
        self->late->why_unknown = "the second run took too long";
        return PLIM_OK;
    }
    self->late->peak = plim_rehearsed_find_peak(second->outcome);
    switch (plim_rehearsed_judge(second)) {
    case PLIM_REHEARSED_FITS:
    case PLIM_REHEARSED_TIGHT:
    case PLIM_REHEARSED_AT_LEAST:
        return narrow(self->first, second->outcome, err);
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        self->late->ran_out = true;
        break;
    case PLIM_REHEARSED_FAILED:
    case PLIM_REHEARSED_UNANSWERED:
        self->late->why_unknown = "the second run failed";
        break;
    }
    return PLIM_OK;
}

plim_status plim_rehearse_late(plim_rehearsed *rehearsed, const plim_rehearse_options *options,
                               plim_error *err)
{
    if (!hangs_on_waiting(rehearsed)) {
        return PLIM_OK;
    }
    plim_rehearsed_late *late = plim_arena_alloc(&rehearsed->rehearsal->arena, sizeof(*late));
    if (late == NULL) {
        return plim_fail_memory(err, "asking what waits for streams");
    }
    *late = (plim_rehearsed_late){ 0 };
    plim_rehearse_options how = options != NULL ? *options : (plim_rehearse_options){ 0 };
    how.ends_late = true;
    how.keeps_snapshots = false;
    late_run self = { rehearsed->rehearsal, late };
    bool is_interrupted = false;
    const plim_status status = plim_again(rehearsed, &how, judge, &self, &is_interrupted, err);
    if (status == PLIM_OUT_OF_HOST_MEMORY) {
        return status;
    }
    if (is_interrupted) {
        *late = (plim_rehearsed_late){ .why_unknown = "the second run was interrupted" };
    } else if (status != PLIM_OK) {
        late->why_unknown = "the second run could not be started";
    }
    rehearsed->late = late;
    return PLIM_OK;
}
