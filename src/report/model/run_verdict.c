/*
 * run_verdict.c - why the program died, from its history where there is one, else from the text of
 * its error; what it requested last; and what helps.
 *
 * The history's verdict was made with the text's judgement (plim_diagnose_options.judgements), so
 * that the page has one verdict.
 */
#include "report/model/diagnose_parts.h"
#include "report/model/explain.h"
#include "report/model/run_parts.h"

#include <string.h>

/* True if a verdict says why a request failed. */
static bool is_answer(plim_verdict verdict)
{
    return verdict != PLIM_VERDICT_UNKNOWN && verdict != PLIM_VERDICT_HEALTHY &&
           verdict != PLIM_VERDICT_NOT_OOM;
}

size_t plim_run_device(const plim_ran *ran, const plim_run_found *found)
{
    const plim_diagnosis *const diagnosis =
        found->diagnosed != NULL ? found->diagnosed->diagnosis : NULL;
    const size_t count = diagnosis != NULL ? plim_diagnosis_device_count(diagnosis) : 0;
    if (count == 0) {
        return SIZE_MAX;
    }
    size_t device = plim_diagnose_worst(diagnosis);
    for (size_t i = 0; ran->main_dump != NULL && ran->main_dump->has_failure && i < count; i++) {
        if (plim_diagnosis_device(diagnosis, i)->device == ran->main_dump->failure.subject.device) {
            device = i;
        }
    }
    return is_answer(plim_diagnosis_device(diagnosis, device)->verdict) ? device : SIZE_MAX;
}

static plim_diagnose_part part_of(const plim_ran_page *self, size_t device)
{
    static const plim_diagnose_view view;
    return plim_diagnose_part_of(self->page, &view, self->found->diagnosed, device);
}

/* ---- the request ----------------------------------------------------------------------------- */

/* The figures of the request, as the recorder has them, else as the error's text prints them. NULL:
 * neither knows how much was requested. */
static const plim_failed_request *request_of(const plim_ran *ran)
{
    const plim_failed_request *const both[] = {
        ran->main_dump != NULL && ran->main_dump->has_failure ? &ran->main_dump->failure : NULL,
        ran->message != NULL ? &ran->message->request : NULL,
    };
    for (size_t i = 0; i < 2; i++) {
        if (both[i] != NULL &&
            both[i]->figures[PLIM_FIGURE_REQUESTED].bytes != PLIM_BYTES_UNKNOWN) {
            return both[i];
        }
    }
    return NULL;
}

static bool is_known(const plim_failed_request *request, plim_figure_id figure)
{
    return request->figures[figure].bytes != PLIM_BYTES_UNKNOWN;
}

static plim_fact figure_of(const plim_failed_request *request, plim_figure_id figure,
                           const char *name)
{
    return plim_bytes(name, request->figures[figure].bytes);
}

/* "After 36 steps the program requested 20.0 MiB at small.py:47 in forward: 8.00 MiB of 900 MiB
 * were free, and it held 214 MiB." */
static void say_request(const plim_ran_page *self)
{
    const plim_ran_dump *const dump = self->ran->main_dump;
    const plim_failed_request *const request = request_of(self->ran);
    if (dump == NULL || request == NULL) {
        return;
    }
    const plim_fact requested = figure_of(request, PLIM_FIGURE_REQUESTED, "requested_bytes");
    if (dump->step > 1) { /* 1 is the first; 0: it counts none */
        plim_page_note(self->page, "request", PLIM_TONE_PLAIN, "After {} the program requested {}",
                       PLIM_FACTS(plim_count_of("steps", dump->step - 1, "step"), requested));
    } else {
        plim_page_note(self->page, "request", PLIM_TONE_PLAIN, "The program requested {}",
                       PLIM_FACTS(requested));
    }
    if (dump->where != NULL) {
        plim_page_more(self->page, " at {}", PLIM_FACTS(plim_ran_line(self->page, dump->where)));
    }
    if (is_known(request, PLIM_FIGURE_FREE) && is_known(request, PLIM_FIGURE_TOTAL)) {
        plim_page_more(self->page, ": {} of {} were free",
                       PLIM_FACTS(figure_of(request, PLIM_FIGURE_FREE, "free_bytes"),
                                  figure_of(request, PLIM_FIGURE_TOTAL, "total_bytes")));
    }
    if (is_known(request, PLIM_FIGURE_RESERVED)) {
        plim_page_more(self->page, ", and it held {}",
                       PLIM_FACTS(figure_of(request, PLIM_FIGURE_RESERVED, "reserved_bytes")));
    }
    plim_page_more(self->page, ".", NULL);
}

static void say_limit(const plim_ran_page *self)
{
    const plim_run_choice *const choice = self->ran->choice;
    if (choice != NULL && choice->limit_bytes > 0) {
        plim_page_note(self->page, "limit", PLIM_TONE_PLAIN, "--limit gave it {} of each GPU.",
                       PLIM_FACTS(plim_bytes("limit_bytes", choice->limit_bytes)));
    }
}

/* True if the evidence that is shown has the request. */
static bool says_request(const plim_device_diagnosis *device)
{
    const plim_diagnosis_finding *const decides = &device->findings[0];
    bool is_said = false;
    for (size_t i = 0; i < decides->evidence_count && i < PLIM_DIAGNOSE_LINES_SHOWN; i++) {
        is_said = is_said || strcmp(decides->evidence[i].id, "request") == 0;
    }
    return is_said;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static bool has_run_out(const plim_ran_process *process)
{
    for (size_t i = 0; i < process->dump_count; i++) {
        const plim_ran_dump *const dump = &process->dumps[i];
        if (strcmp(dump->reason, "oom") == 0 &&
            (dump->ends_program || strcmp(process->ended, "oom") == 0)) {
            return true;
        }
    }
    return false;
}

/* "Rank 1 of 2 (process 4712) ran out first, and 2 others after it." */
static void say_ranks(const plim_ran_page *self)
{
    const plim_ran *const ran = self->ran;
    size_t alike = 0;
    if (ran->main_process == NULL || ran->process_count < 2) {
        return;
    }
    for (size_t i = 0; i < ran->process_count; i++) {
        alike += &ran->processes[i] != ran->main_process && has_run_out(&ran->processes[i]);
    }
    if (ran->main_process->world_size > 1) {
        plim_page_note(self->page, "rank", PLIM_TONE_PLAIN, "Rank {} of {} (process {})",
                       PLIM_FACTS(plim_plain("rank", ran->main_process->rank),
                                  plim_plain("world_size", ran->main_process->world_size),
                                  plim_id("pid", ran->main_process->pid)));
    } else {
        plim_page_note(self->page, "rank", PLIM_TONE_PLAIN, "Process {} of {} that used a GPU",
                       PLIM_FACTS(plim_id("pid", ran->main_process->pid),
                                  plim_count("process_count", ran->process_count)));
    }
    if (alike > 0) {
        plim_page_more(self->page, " ran out first, and {} after it.",
                       PLIM_FACTS(plim_count_of("alike", alike, "other")));
    } else {
        plim_page_more(self->page, " ran out; no other did.", NULL);
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void say_message(const plim_ran_page *self)
{
    const plim_explained text = {
        .path = self->ran->argv[0],
        .is_read = true,
        .messages = &self->ran->message,
        .message_count = 1,
        .main_message = self->ran->message,
    };
    const plim_explain_view how = { .all = self->view->all };
    plim_explain_page(self->page, &how, &text, 1);
}

void plim_run_verdict(const plim_ran_page *self)
{
    const size_t device = plim_run_device(self->ran, self->found);
    if (device != SIZE_MAX) {
        plim_diagnose_sentences(self->page, self->found->diagnosed);
        if (self->found->diagnosed->sentences == NULL) {
            return; /* the page has failed */
        }
        const plim_diagnose_part part = part_of(self, device);
        plim_diagnose_verdict(&part);
        if (!says_request(part.device)) {
            say_request(self);
        }
    } else if (self->ran->message != NULL) {
        say_message(self);
        plim_page_gap(self->page);
    } else {
        say_request(self);
    }
    say_limit(self);
    say_ranks(self);
}

/* ---- what to do ------------------------------------------------------------------------------ */

/* The place of the settings that a search found among the fixes, from 1; 0: not among them. A leak
 * they only delay. Where memory was in pieces they are the fix; where it was full they served the
 * last request, and the next is not known. */
static size_t place_of_settings(const plim_ran_page *self, plim_verdict verdict)
{
    if (self->found->tuning == NULL || !self->found->tuning->is_saved ||
        verdict == PLIM_VERDICT_LEAK) {
        return 0;
    }
    return verdict == PLIM_VERDICT_FRAGMENTED ? 1 : 3;
}

/* Fixes fewer by the lines that the holders take. */
static size_t fixes_shown(const plim_ran_page *self)
{
    return self->view->all                ? SIZE_MAX
           : self->found->holders != NULL ? PLIM_RUN_FIXES_SHOWN - 1
                                          : PLIM_RUN_FIXES_SHOWN;
}

void plim_run_fixes(const plim_ran_page *self)
{
    const size_t index = plim_run_device(self->ran, self->found);
    if (index == SIZE_MAX) {
        return;
    }
    const plim_diagnose_part part = part_of(self, index);
    const plim_device_diagnosis *const device = part.device;
    size_t settings = place_of_settings(self, device->verdict);
    size_t number = 0;
    size_t left = 0;
    if (settings == 0 && device->advice_count == 0) {
        return;
    }
    plim_page_heading(self->page, "What to do", NULL);
    for (size_t i = 0; i < device->advice_count; i++) {
        const plim_diagnosis_advice *const advice = &device->advice[i];
        if (settings == number + 1) {
            plim_tune_saved(self->page, ++number, self->found->replayed, self->found->tuning);
            settings = 0;
        }
        if (self->found->tuning != NULL && advice->basis == PLIM_BASIS_REPLAYED) {
            continue; /* the search has a better answer */
        }
        if (number < fixes_shown(self)) {
            plim_diagnose_fix(&part, advice, ++number);
        } else {
            left++;
        }
    }
    if (settings > 0) {
        plim_tune_saved(self->page, ++number, self->found->replayed, self->found->tuning);
    }
    if (left > 0) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more: --all shows them)",
                       PLIM_FACTS(plim_count("fixes_left_out", left)));
    }
}
