/*
 * diagnose_lacks.c - what a recording lacks, and what cannot be concluded without it.
 */
#include "report/model/diagnose_parts.h"

static void say_beginning(const plim_diagnose_part *self)
{
    const plim_device_inspection *const facts = self->device->facts;
    if (facts->truncated) {
        const char *const because = facts->truncated_because;
        plim_page_warn(
            self->page, "events_lost",
            "Events are lost{}{}{}: what was requested before has no history here, and a "
            "burst among them is not seen.",
            PLIM_FACTS(plim_words(because != NULL ? " (" : ""),
                       plim_words(because != NULL ? because : ""),
                       plim_words(because != NULL ? ")" : "")));
    } else if (facts->late_start) {
        plim_page_warn(
            self->page, "late_start",
            "Recording began late: {} in {} were live before. When and where they were requested "
            "is not known.",
            PLIM_FACTS(plim_bytes("start_requested_bytes", facts->start_requested_bytes),
                       plim_count_of("start_live_count", facts->start_live_count, "allocation")));
    }
}

void plim_diagnose_lacks(const plim_diagnose_part *self)
{
    const plim_device_diagnosis *const device = self->device;
    plim_page *const page = self->page;
    if (!device->has_events) {
        plim_page_warn(page, "no_events",
                       "The recording has the state at the end alone, no events: growth, bursts "
                       "and the peak cannot be concluded from it, only what stood at the end. "
                       "torch.cuda.memory._record_memory_history() records events.",
                       NULL);
    } else {
        say_beginning(self);
    }
    if (!device->has_stacks) {
        plim_page_warn(page, "no_stacks",
                       "No stacks were recorded: which lines of code requested memory cannot be "
                       "concluded.",
                       NULL);
    }
    if (device->has_events && device->step_count < 2) {
        plim_page_warn(page, "no_steps",
                       device->step_count == 0
                           ? "No steps were found: what grows from step to step is not known."
                           : "One step was found: what grows from step to step is not known.",
                       NULL);
    }
    if (device->has_events && device->capacity_bytes == 0 && device->device >= 0) {
        plim_page_note(page, "no_capacity", PLIM_TONE_FAINT,
                       "The size of the GPU is not recorded: --capacity or --gpu gives it.", NULL);
    }
}
