/*
 * sim_call.c - what all calls of a sim device share: the lock, failures, counts, costs. See sim.h.
 */
#include "base/error.h"
#include "device/sim.h"

bool plim_sim_begin(plim_sim *sim, plim_device_record *record, plim_error *err)
{
    (void)pthread_mutex_lock(&sim->lock);
    plim_sim_failure *const failure = &sim->failures[record->call];
    if (failure->in == 0 || --failure->in > 0) {
        return true;
    }
    record->status = plim_fail(err, failure->status, "%s: %s was told to fail", sim->name,
                               plim_device_call_name(record->call));
    return false;
}

plim_status plim_sim_end(plim_sim *sim, plim_device_record *record)
{
    const plim_status status = record->status;
    sim->calls[record->call]++;
    sim->clock_ns += sim->costs.call_ns[record->call];
    if (sim->on_call != NULL) {
        record->ordinal = sim->ordinal;
        sim->on_call(sim->on_call_ctx, record);
    }
    (void)pthread_mutex_unlock(&sim->lock);
    return status;
}
