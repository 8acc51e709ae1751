/*
 * rehearse_course.c - peaks by phase and by step, of the device that peaks highest.
 */
#include "report/rehearse_parts.h"

#include <inttypes.h>
#include <stdio.h>

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
static plim_rehearse_name name_course(const plim_rehearse_page *page,
                                      const plim_rehearsed_process *process,
                                      const plim_rehearsed_device *device)
{
    plim_rehearse_name name = { "" };
    if (page->outcome->process_count > 1) {
        (void)snprintf(name.text, sizeof(name.text), " in rank %" PRIu64, process->rank);
    } else if (process->device_count > 1) {
        (void)snprintf(name.text, sizeof(name.text), " on GPU %" PRIu32, device->device);
    }
    return name;
}

static void write_phases(const plim_rehearse_page *page, const plim_rehearsed_process *process,
                         const plim_rehearsed_device *device)
{
    char title[160];
    (void)snprintf(title, sizeof(title), "Peak allocated by phase%s",
                   name_course(page, process, device).text);
    plim_rehearse_heading(page, title);
    for (size_t i = 0; i < device->phase_count; i++) {
        plim_rehearse_figure(page, device->phases[i].name, device->phases[i].peak_allocated_bytes,
                             "");
    }
}

static void write_steps(const plim_rehearse_page *page, const plim_rehearsed_process *process,
                        const plim_rehearsed_device *device)
{
    char title[160];
    (void)snprintf(title, sizeof(title), "Peak allocated by step%s, of %" PRIu64,
                   name_course(page, process, device).text, process->steps);
    plim_rehearse_heading(page, title);
    const size_t shown = device->step_count < STEPS_SHOWN ? device->step_count : STEPS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const bool is_last = i + 1 == shown; /* the last one of all closes a list that is cut */
        const plim_rehearsed_step *step = &device->steps[is_last ? device->step_count - 1 : i];
        char label[32];
        char after[64];
        (void)snprintf(label, sizeof(label), "step %" PRIu64, step->step);
        (void)snprintf(after, sizeof(after), "%s after it",
                       plim_format_bytes(step->end_allocated_bytes).text);
        plim_rehearse_figure(page, label, step->peak_allocated_bytes, after);
    }
}

void plim_rehearse_course_write(const plim_rehearse_page *page)
{
    const plim_rehearsed_process *process = NULL;
    const plim_rehearsed_device *device = busiest(page->outcome, &process);
    if (device == NULL) {
        return;
    }
    if (device->phase_count > 1) {
        write_phases(page, process, device);
    }
    if (device->step_count > 1) {
        write_steps(page, process, device);
    }
}
