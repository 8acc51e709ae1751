/*
 * rehearse_limitations.c - the limitations of a rehearsal: values read, models, calls.
 */
#include "report/model/rehearse_parts.h"

#include <string.h>

#define READS_SHOWN   6u
#define CAVEATS_SHOWN 4u

static void say_reads(const plim_rehearsing_page *self)
{
    plim_page *page = self->page;
    const plim_rehearsed_process *process =
        self->outcome->process_count > 0 ? &self->outcome->processes[0] : NULL;
    if (process == NULL || process->read_count == 0) {
        return;
    }
    plim_page_heading(page, "Values read from the device, which computes nothing here", NULL);
    for (size_t i = 0; i < process->read_count && i < READS_SHOWN; i++) {
        const plim_rehearsed_read *read = &process->reads[i];
        plim_page_note(page, "value_read", PLIM_TONE_FAINT, "{} {} × {}",
                       PLIM_FACTS(plim_toned(PLIM_TONE_USER, plim_words(read->where)),
                                  plim_words(read->what), plim_plain("count", read->count)))
            ->layout = PLIM_LAYOUT_CUT;
    }
    if (process->read_count > READS_SHOWN) {
        plim_page_note(page, "more", PLIM_TONE_FAINT, "and {} more",
                       PLIM_FACTS(plim_count_of("places_left_out",
                                                process->read_count - READS_SHOWN, "place")));
    }
    plim_page_note(page, "values_read", PLIM_TONE_FAINT,
                   "Printing them is harmless. A program that branches on them used made-up values "
                   "here, and may branch otherwise on a real GPU.",
                   NULL);
}

static void say_modelled(const plim_rehearsing_page *self)
{
    size_t count = 0;
    plim_page_say(self->page, "modelled", PLIM_TONE_FAINT, "", NULL);
    for (size_t i = 0; i < self->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &self->outcome->calls[i];
        if (strcmp(call->kind, "modelled") == 0) {
            plim_page_more(
                self->page,
                count == 0 ? "Modelled: the memory of context and libraries, and the answers of {}"
                           : ", {}",
                PLIM_FACTS(plim_words(call->name)));
            count++;
        }
    }
    plim_page_more(self->page,
                   count > 0
                       ? "."
                       : "Modelled: the memory of context and libraries. All else is PyTorch's "
                         "own allocation.",
                   NULL);
}

static void say_warnings(plim_page *page, const char *const *warnings, size_t count)
{
    for (size_t i = 0; i < count && i < CAVEATS_SHOWN; i++) {
        plim_page_warn(page, "warning", "{}", PLIM_FACTS(plim_words(warnings[i])));
    }
}

void plim_rehearsed_say_warnings(const plim_rehearsing_page *self)
{
    say_warnings(self->page, self->outcome->warnings, self->outcome->warning_count);
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        say_warnings(self->page, process->warnings, process->warning_count);
    }
}

static void say_processes(const plim_rehearsing_page *self)
{
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        say_warnings(self->page, process->warnings, process->warning_count);
        if (strcmp(process->ended, "running") == 0) {
            plim_page_say(self->page, "killed", PLIM_TONE_WARN,
                          "Process {} was killed; its figures lack its last seconds.",
                          PLIM_FACTS(plim_id("pid", process->pid)));
        }
    }
    if (self->outcome->process_count == 0) {
        plim_page_say(self->page, "no_process", PLIM_TONE_WARN,
                      "No process reported PyTorch: it did not import it, started Python with -I, "
                      "-E or -S, or was killed early. Only the device's own figures are known.",
                      NULL);
    }
}

static void say_calls(const plim_rehearsing_page *self)
{
    static const plim_column columns[] = { { "calls", PLIM_ALIGN_RIGHT, 0, 0 },
                                           { "function", PLIM_ALIGN_LEFT, 0, 0 },
                                           { "is", PLIM_ALIGN_LEFT, 0, 0 },
                                           { "", PLIM_ALIGN_LEFT, 0, 0 } };
    plim_page *page = self->page;
    plim_page_heading(page, "Functions called", NULL);
    plim_page_table(page, "calls", columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < self->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &self->outcome->calls[i];
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_count(NULL, call->count));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(call->name));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(call->kind));
        plim_page_cell(page, PLIM_TONE_FAINT, plim_words(call->note));
    }
}

void plim_rehearsed_say_limitations(const plim_rehearsing_page *self)
{
    say_reads(self);
    plim_page_gap(self->page);
    say_modelled(self);
    say_warnings(self->page, self->outcome->warnings, self->outcome->warning_count);
    say_processes(self);
    for (size_t i = 0; i < self->rehearsed->recording_count; i++) {
        plim_page_say(self->page, "recorded", PLIM_TONE_FAINT, "Recorded: plimsoll inspect {}",
                      PLIM_FACTS(plim_words(self->rehearsed->recordings[i])));
    }
    if (self->lists_calls) {
        say_calls(self);
    }
}
