/*
 * steps.c - where the steps of a program begin. See plimsoll/phases.h.
 */
#include "base/memory.h"
#include "plimsoll/phases.h"

plim_status plim_steps_init(plim_steps *ret_steps, const plim_history *history,
                            const plim_device_history *device, const plim_mem *mem, plim_error *err)
{
    (void)history;
    (void)device;
    (void)err;
    *ret_steps = (plim_steps){ .mem = mem };
    return PLIM_OK;
}

void plim_steps_deinit(plim_steps *steps)
{
    if (steps->first_events != NULL) {
        plim_mem_free(steps->mem, steps->first_events, steps->count + 1,
                      sizeof *steps->first_events);
    }
    *steps = (plim_steps){ 0 };
}
