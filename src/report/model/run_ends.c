/*
 * run_ends.c - endings that are no failed request: killed, caught, grown. A line or two each.
 */
#include "report/model/run_parts.h"

#include "base/numbers.h"

#include <string.h>

bool plim_run_was_killed(const plim_ran *ran)
{
    const bool has_dump = ran->main_dump != NULL;
    return !has_dump &&
           (ran->launched.was_oom_killed || (ran->launched.was_killed && ran->process_count > 0));
}

static uint64_t count_failures(const plim_ran *ran)
{
    uint64_t count = 0;
    for (size_t i = 0; i < ran->process_count; i++) {
        count += ran->processes[i].oom_count;
    }
    return count;
}

bool plim_run_has_caught(const plim_ran *ran)
{
    return ran->exit_status != 0 && !ran->died_of_memory && count_failures(ran) > 0;
}

bool plim_run_has_growth(const plim_ran *ran)
{
    for (size_t i = 0; i < ran->process_count; i++) {
        if (ran->processes[i].growth_count > 0) {
            return true;
        }
    }
    return false;
}

/* ---- caught ---------------------------------------------------------------------------------- */

void plim_run_caught(const plim_ran_page *self)
{
    const plim_rehearsed_oom_place *most = NULL;
    for (size_t i = 0; i < self->ran->process_count; i++) {
        const plim_ran_process *const process = &self->ran->processes[i];
        for (size_t k = 0; k < process->oom_place_count; k++) {
            most = most == NULL || process->ooms[k].count > most->count ? &process->ooms[k] : most;
        }
    }
    plim_page_say(self->page, "caught", PLIM_TONE_WARN,
                  "Before this, {} for GPU memory failed and the program went on",
                  PLIM_FACTS(plim_count_of("ooms", count_failures(self->ran), "request")));
    if (most != NULL) {
        plim_page_more(self->page, ", most at {}",
                       PLIM_FACTS(plim_ran_line(self->page, most->where)));
    }
    plim_page_more(self->page, ".", NULL);
}

/* ---- killed ---------------------------------------------------------------------------------- */

/* The fullest device of any process, as it was seen last. */
static const plim_ran_device *fullest(const plim_ran *ran, const plim_ran_process **ret_process)
{
    const plim_ran_device *most = NULL;
    for (size_t i = 0; i < ran->process_count; i++) {
        for (size_t k = 0; k < ran->processes[i].device_count; k++) {
            const plim_ran_device *const one = &ran->processes[i].devices[k];
            if (most == NULL || one->reserved_bytes > most->reserved_bytes) {
                most = one;
                *ret_process = &ran->processes[i];
            }
        }
    }
    return most;
}

static void say_last_state(const plim_ran_page *self)
{
    const plim_ran_process *process = NULL;
    const plim_ran_device *const device = fullest(self->ran, &process);
    if (device == NULL || device->reserved_bytes == 0 || process == NULL) {
        return;
    }
    plim_page_note(self->page, "last_state", PLIM_TONE_PLAIN,
                   "The last figures of process {}, after {}: GPU {} had {} allocated, {} "
                   "reserved",
                   PLIM_FACTS(plim_id("pid", process->pid),
                              plim_count_of("steps", process->steps, "step"),
                              plim_plain("device", device->device),
                              plim_bytes("allocated_bytes", device->allocated_bytes),
                              plim_bytes("reserved_bytes", device->reserved_bytes)));
    if (device->total_bytes > 0) {
        plim_page_more(self->page, ", of {}",
                       PLIM_FACTS(plim_bytes("total_bytes", device->total_bytes)));
    }
    plim_page_more(self->page, ".", NULL);
}

/* In a control group the victim may be a worker, whose parent then failed. */
static const char *text_of_oom_kill(const plim_launched *launched)
{
    if (launched->kill_scope != PLIM_LAUNCH_KILLS_CGROUP) {
        return "Host memory ran out, not the GPU's: the kernel killed the program.";
    }
    return launched->was_killed ? "Host memory ran out, not the GPU's: the kernel killed the "
                                  "program at the limit of its control group."
                                : "Host memory ran out, not the GPU's: the kernel killed a process "
                                  "at the limit of the program's control group.";
}

void plim_run_killed(const plim_ran_page *self)
{
    const plim_launched *const launched = &self->ran->launched;
    const bool has_failures = count_failures(self->ran) > 0;
    if (launched->was_oom_killed) {
        plim_page_say(self->page, "oom_killed", PLIM_TONE_BAD, text_of_oom_kill(launched), NULL);
    } else if (launched->may_be_oom_killed) {
        plim_page_say(self->page, "killed", PLIM_TONE_WARN,
                      "It was killed (SIGKILL), possibly for host memory: this system does not "
                      "count such kills.",
                      NULL);
    } else {
        plim_page_say(self->page, "killed", PLIM_TONE_WARN,
                      has_failures ? "It was killed (SIGKILL)."
                                   : "It was killed (SIGKILL). No request for GPU memory had "
                                     "failed by then.",
                      NULL);
    }
    say_last_state(self);
    if (has_failures) {
        plim_run_caught(self);
    }
}

/* ---- in a thread ---------------------------------------------------------------------------- */

/* Of a failure that is caught no snapshot is taken. */
const plim_ran_dump *plim_run_find_uncaught(const plim_ran *ran)
{
    for (size_t i = 0; i < ran->process_count && !ran->died_of_memory; i++) {
        for (size_t k = 0; k < ran->processes[i].dump_count; k++) {
            const plim_ran_dump *const dump = &ran->processes[i].dumps[k];
            if (strcmp(dump->reason, "oom") == 0 && !dump->ends_program &&
                dump->snapshot_path != NULL) {
                return dump;
            }
        }
    }
    return NULL;
}

void plim_run_uncaught(const plim_ran_page *self)
{
    const plim_ran_dump *const dump = plim_run_find_uncaught(self->ran);
    const plim_fact quote = plim_words(plim_page_quote(dump->snapshot_path));
    plim_page_say(self->page, "uncaught", PLIM_TONE_WARN, "A request for GPU memory failed", NULL);
    if (dump->where != NULL) {
        plim_page_more(self->page, " at {}", PLIM_FACTS(plim_ran_line(self->page, dump->where)));
    }
    plim_page_more(self->page,
                   ", and its exception left a thread or a watched block. The program went on.",
                   NULL);
    plim_page_say(self->page, "next", PLIM_TONE_FAINT, "Next: plimsoll diagnose {}{}{}",
                  PLIM_FACTS(quote, plim_words(dump->snapshot_path), quote))
        ->layout = PLIM_LAYOUT_COPY;
}

/* ---- grown ----------------------------------------------------------------------------------- */

void plim_run_growth(const plim_ran_page *self)
{
    const plim_ran_growth *most = NULL;
    for (size_t i = 0; i < self->ran->process_count; i++) {
        const plim_ran_process *const process = &self->ran->processes[i];
        for (size_t k = 0; k < process->growth_count; k++) {
            most = most == NULL || process->growth[k].bytes_per_step > most->bytes_per_step
                       ? &process->growth[k]
                       : most;
        }
    }
    if (most == NULL) {
        return;
    }
    plim_page_say(self->page, "growth", PLIM_TONE_WARN,
                  "Memory of GPU {} grew by {} a step since step {}",
                  PLIM_FACTS(plim_plain("device", most->device),
                             plim_bytes("growth_bytes_per_step", plim_whole(most->bytes_per_step)),
                             plim_plain("since_step", most->since_step)));
    if (most->where != NULL) {
        plim_page_more(self->page, ", at {}", PLIM_FACTS(plim_ran_line(self->page, most->where)));
    }
    if (most->full_at_step > 0) {
        plim_page_more(self->page, "; it would be full at about step {}",
                       PLIM_FACTS(plim_count("full_at_step", most->full_at_step)));
    }
    plim_page_more(self->page, ".", NULL);
}
