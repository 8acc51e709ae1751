/*
 * replayed.c - see replayed.h.
 */
#include "diagnose/fragmentation/replayed.h"

#include "base/error.h"
#include "plimsoll/replay.h"

plim_status plim_replay_at_capacity(const plim_case *one, bool *ret_fails,
                                    plim_replayed_failure *ret_failure, plim_error *err)
{
    const plim_replay_options options = { .mem = one->mem, .device = one->device->device };
    plim_replay *replay = NULL;
    *ret_fails = false;
    plim_status status = plim_replay_create(one->history, &options, &replay, err);
    if (status != PLIM_OK) {
        return status == PLIM_OUT_OF_HOST_MEMORY ? status : PLIM_OK;
    }
    if (plim_replay_device_count(replay) == 1) {
        const plim_run_options run = { .capacity_bytes = one->options->capacity_bytes };
        const plim_conf *const conf = &plim_replay_device(replay, 0)->conf;
        plim_run_result result;
        status = plim_replay_run(replay, conf, &run, &result, err);
        if (status == PLIM_OK && result.failed_event != PLIM_NO_EVENT && !result.was_oom &&
            plim_judge(&result.failure).verdict == PLIM_VERDICT_FRAGMENTED) {
            *ret_fails = true;
            *ret_failure =
                (plim_replayed_failure){ .event = result.failed_event,
                                         .requested_bytes = result.failed_bytes,
                                         .reserved_bytes = result.failed_reserved_bytes,
                                         .allocated_bytes = result.failed_allocated_bytes };
        }
    }
    plim_replay_destroy(replay);
    return status == PLIM_OUT_OF_HOST_MEMORY ? status : PLIM_OK;
}
