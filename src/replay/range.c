/*
 * range.c - the events of a range that is given by steps.
 */
#include "base/error.h"
#include "replay/replay.h"

#include "plimsoll/phases.h"

#include <inttypes.h>

/* The device whose steps are meant: the one that is requested, or the only one with events. */
static const plim_device_history *device_of_steps(const plim_history *history, int32_t device,
                                                  plim_error *err)
{
    const plim_device_history *found = NULL;
    for (size_t i = 0; i < plim_history_device_count(history); i++) {
        const plim_device_history *one = plim_history_device(history, i);
        const bool is_asked = device == PLIM_ALL_DEVICES
                                  ? one->device != PLIM_HOST_DEVICE && one->events.count > 0
                                  : one->device == device;
        if (is_asked && found != NULL) {
            (void)plim_fail(err, PLIM_INVALID_ARGUMENT,
                            "each device has steps of its own: choose one with --device");
            return NULL;
        }
        found = is_asked ? one : found;
    }
    if (found == NULL) {
        (void)plim_fail(err, PLIM_UNSUPPORTED, "there are no events, and so no steps");
    }
    return found;
}

/* number_max  the last step that will do: a range also ends at the end of the last one */
static plim_status find_step(const plim_steps *steps, uint64_t number, uint64_t number_max,
                             uint64_t *ret_event, plim_error *err)
{
    if (steps->count == 0) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "step %" PRIu64 ": no steps were found; give the number of an event",
                         number);
    }
    if (number > number_max && steps->count == 1) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "step %" PRIu64 ": the recording has one step, step:1", number);
    }
    if (number > number_max) {
        return plim_fail(err, PLIM_INVALID_ARGUMENT,
                         "step %" PRIu64 ": there are %zu steps, step:1 to step:%zu", number,
                         steps->count, steps->count);
    }
    *ret_event = steps->first_events[number - 1];
    return PLIM_OK;
}

plim_status plim_replay_find_range(const plim_history *history, plim_replay_options *options,
                                   plim_error *err)
{
    if (options->from_step == 0 && options->to_step == 0) {
        return PLIM_OK;
    }
    plim_error why = { 0 };
    plim_steps steps = { 0 };
    const plim_device_history *device = device_of_steps(history, options->device, &why);
    plim_status status =
        device != NULL ? plim_steps_init(&steps, history, device, options->mem, &why) : why.status;
    if (status == PLIM_OK && options->from_step > 0) {
        status = find_step(&steps, options->from_step, steps.count, &options->from_event, &why);
    }
    if (status == PLIM_OK && options->to_step > 0) {
        status = find_step(&steps, options->to_step, steps.count + 1, &options->to_event, &why);
    }
    plim_steps_deinit(&steps);
    if (status != PLIM_OK && err != NULL) {
        *err = why;
    }
    return status;
}
