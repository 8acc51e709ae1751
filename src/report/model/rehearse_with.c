/*
 * rehearse_with.c - what became of the techniques that were switched on from outside, of a
 * rehearsal. See rehearse_parts.h.
 */
#include "report/model/rehearse_parts.h"

#include "plimsoll/technique.h"

#include <string.h>

typedef struct plim_rehearsed_technique technique;

const char *plim_rehearsed_technique_text(plim_page *page, const plim_rehearsed_technique *of)
{
    return plim_page_text(page, "{}{}{}",
                          PLIM_FACTS(plim_words(of->name),
                                     plim_words(of->value[0] != '\0' ? "=" : ""),
                                     plim_words(of->value)));
}

/* As the report has it for this program, else as the table has it; "" if neither knows it. */
const char *plim_rehearsed_label(plim_page *page, const plim_rehearsed_technique *of)
{
    static const struct {
        const char *word;
        plim_technique_label label;
    } labels[] = {
        { "same", PLIM_TECHNIQUE_SAME },
        { "in_expectation", PLIM_TECHNIQUE_IN_EXPECTATION },
        { "changed", PLIM_TECHNIQUE_CHANGED },
    };
    for (size_t i = 0; of->label != NULL && i < sizeof(labels) / sizeof(labels[0]); i++) {
        if (strcmp(labels[i].word, of->label) == 0) {
            return plim_technique_label_name(labels[i].label);
        }
    }
    const plim_technique *row = NULL;
    return plim_technique_find(plim_rehearsed_technique_text(page, of), &row, NULL) == PLIM_OK
               ? plim_technique_label_name(row->label)
               : "";
}

/* Processes that used a device and report another state than the one that speaks for all. */
static void say_others(const plim_rehearsing_page *self, const technique *of)
{
    size_t found = 0;
    size_t others = 0;
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        for (size_t k = 0; process->device_count > 0 && k < process->technique_count; k++) {
            const technique *one = &process->techniques[k];
            if (strcmp(one->name, of->name) == 0 && strcmp(one->value, of->value) == 0) {
                found++;
                others += strcmp(one->state, of->state) != 0;
            }
        }
    }
    if (others > 0) {
        plim_page_more(self->page, " (otherwise in {} of {} processes)",
                       PLIM_FACTS(plim_count("others", others), plim_count("processes", found)));
    }
}

static bool is_refused(const technique *of)
{
    return strcmp(of->state, "refused") == 0;
}

void plim_rehearsed_say_refused(const plim_rehearsing_page *self)
{
    for (size_t i = 0; i < self->outcome->technique_count; i++) {
        const technique *of = &self->outcome->techniques[i];
        if (is_refused(of)) {
            plim_page_warn(
                self->page, "refused", "{} was refused, and the figures are without it: {}.",
                PLIM_FACTS(plim_words(plim_rehearsed_technique_text(self->page, of)),
                           plim_words(of->text != NULL ? of->text : "no reason was given")));
        }
    }
}

static void say_applied(const plim_rehearsing_page *self, const technique *of)
{
    const char *const label = plim_rehearsed_label(self->page, of);
    plim_page_note(self->page, "applied", PLIM_TONE_FAINT, "{}{}{}",
                   PLIM_FACTS(plim_words(plim_rehearsed_technique_text(self->page, of)),
                              plim_words(label[0] != '\0' ? ": " : ""), plim_words(label)));
    if (of->label_text != NULL) {
        plim_page_more(self->page, " ({})", PLIM_FACTS(plim_words(of->label_text)));
    }
    if (of->text != NULL) {
        plim_page_more(self->page, ". {}", PLIM_FACTS(plim_words(of->text)));
    }
}

static void say_idle(const plim_rehearsing_page *self, const technique *of)
{
    const bool is_waiting = strcmp(of->state, "waiting") == 0;
    const char *const otherwise =
        is_waiting ? "no process of the program reported it" : "no reason was given";
    plim_page_warn(self->page, is_waiting ? "not_reached" : "no_effect", "{}: {}. {}",
                   PLIM_FACTS(plim_words(plim_rehearsed_technique_text(self->page, of)),
                              plim_words(is_waiting ? "never came to it" : "no effect"),
                              plim_words(of->text != NULL ? of->text : otherwise)));
}

void plim_rehearsed_say_with(const plim_rehearsing_page *self)
{
    bool is_begun = false;
    for (size_t i = 0; i < self->outcome->technique_count; i++) {
        const technique *of = &self->outcome->techniques[i];
        if (is_refused(of)) {
            continue; /* it stands below the answer */
        }
        if (!is_begun) {
            plim_page_heading(self->page, "Switched on from outside", NULL);
            is_begun = true;
        }
        if (strcmp(of->state, "applied") == 0) {
            say_applied(self, of);
        } else {
            say_idle(self, of);
        }
        say_others(self, of);
    }
}
