/*
 * program.c - see program.h.
 */
#include "replay/program.h"
#include "base/error.h"

plim_status plim_program_init(plim_program *program, const plim_history *history,
                              const plim_device_history *device, plim_free_halves halves,
                              const plim_program_options *options, const plim_mem *mem,
                              plim_error *err)
{
    (void)history;
    (void)device;
    (void)halves;
    (void)options;
    *program = (plim_program){ .mem = mem };
    return plim_fail(err, PLIM_UNSUPPORTED, "not written yet");
}

void plim_program_deinit(plim_program *program)
{
    (void)program;
}
