/*
 * rehearse_phases.c - peaks by phase and by step, of the device that peaks highest.
 */
#include "report/model/rehearse_parts.h"

#define STEPS_SHOWN 6u

static const plim_rehearsed_device *busiest(const plim_rehearsal_outcome *outcome,
                                            const plim_rehearsed_process **ret_process)
{
    const plim_rehearsed_device *found = NULL;
    for (size_t i = 0; i < outcome->process_count; i++) {
        for (size_t j = 0; j < outcome->processes[i].device_count; j++) {
            const plim_rehearsed_device *device = &outcome->processes[i].devices[j];
            if (found == NULL || device->peak_allocated_bytes > found->peak_allocated_bytes) {
                found = device;
                *ret_process = &outcome->processes[i];
            }
        }
    }
    return found;
}

/* Whose course it is, where there are several. */
static const char *name_course(const plim_rehearsing_page *self,
                               const plim_rehearsed_process *process,
                               const plim_rehearsed_device *device)
{
    if (self->outcome->process_count > 1) {
        return plim_page_text(self->page, " in rank {}",
                              PLIM_FACTS(plim_plain("rank", process->rank)));
    }
    return process->device_count > 1
               ? plim_page_text(self->page, " on GPU {}",
                                PLIM_FACTS(plim_plain("device", device->device)))
               : "";
}

static void say_phases(const plim_rehearsing_page *self, const char *whose,
                       const plim_rehearsed_device *device)
{
    plim_page_heading(self->page, "Peak allocated by phase{}", PLIM_FACTS(plim_words(whose)));
    plim_rehearsed_figures(self->page, "phases");
    for (size_t i = 0; i < device->phase_count; i++) {
        plim_rehearsed_figure(self, device->phases[i].name, device->phases[i].peak_allocated_bytes,
                              "");
    }
}

static void say_steps(const plim_rehearsing_page *self, const char *whose,
                      const plim_rehearsed_device *device, uint64_t steps)
{
    plim_page *page = self->page;
    plim_page_heading(page, "Peak allocated by step{}, of {}",
                      PLIM_FACTS(plim_words(whose), plim_plain("steps", steps)));
    plim_rehearsed_figures(page, "steps");
    const size_t shown = device->step_count < STEPS_SHOWN ? device->step_count : STEPS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const bool is_last = i + 1 == shown; /* the last one of all closes a list that is cut */
        const plim_rehearsed_step *step = &device->steps[is_last ? device->step_count - 1 : i];
        plim_rehearsed_figure(
            self, plim_rehearsed_moment(page, step->step, ""), step->peak_allocated_bytes,
            plim_page_text(page, "{} after it",
                           PLIM_FACTS(plim_bytes(NULL, step->end_allocated_bytes))));
    }
}

void plim_rehearsed_say_phases(const plim_rehearsing_page *self)
{
    const plim_rehearsed_process *process = NULL;
    const plim_rehearsed_device *device = busiest(self->outcome, &process);
    if (device == NULL) {
        return;
    }
    const char *whose = name_course(self, process, device);
    if (device->phase_count > 1) {
        say_phases(self, whose, device);
    }
    if (device->step_count > 1) {
        say_steps(self, whose, device, process->steps);
    }
}
