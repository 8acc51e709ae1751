/*
 * rehearse_facts.c - what a rehearsal amounts to: its verdict, its peak. See rehearse.h.
 */
#include "report/model/rehearse.h"

#include "base/numbers.h"

plim_rehearsed_verdict plim_rehearsed_judge(const plim_rehearsed *rehearsed)
{
    if (rehearsed->outcome->unanswered_count > 0) {
        return PLIM_REHEARSED_UNANSWERED;
    }
    if (rehearsed->ran_out) {
        return PLIM_REHEARSED_OUT_OF_MEMORY;
    }
    return rehearsed->exit_status == 0 ? PLIM_REHEARSED_FITS : PLIM_REHEARSED_FAILED;
}

const char *plim_rehearsed_verdict_name(plim_rehearsed_verdict verdict)
{
    switch (verdict) {
    case PLIM_REHEARSED_FITS:
        return "fits";
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        return "out_of_memory";
    case PLIM_REHEARSED_FAILED:
        return "failed";
    case PLIM_REHEARSED_UNANSWERED:
        return "unanswered";
    }
    return "";
}

plim_rehearsed_peak plim_rehearsed_find_peak(const plim_rehearsal_outcome *outcome)
{
    plim_rehearsed_peak peak = { 0 };
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        for (size_t j = 0; j < process->device_count; j++) {
            const plim_rehearsed_device *device = &process->devices[j];
            peak.allocated_bytes = plim_max(peak.allocated_bytes, device->peak_allocated_bytes);
            peak.reserved_bytes = plim_max(peak.reserved_bytes, device->peak_reserved_bytes);
        }
    }
    for (uint32_t i = 0; i < outcome->device_count; i++) {
        peak.device_bytes = plim_max(peak.device_bytes, outcome->gpus[i].peak_bytes);
    }
    return peak;
}
