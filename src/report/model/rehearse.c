/*
 * rehearse.c - the page of a rehearsal, and that of a search.
 *
 * The order is that of a user's questions before renting a GPU: does it fit, how
 * much is left, when does it peak, what else takes memory, and what limits the answer.
 */
#include "base/numbers.h"
#include "report/model/rehearse_parts.h"

#include <string.h>

static void say_command(const plim_rehearsing_page *self)
{
    plim_page *page = self->page;
    const plim_rehearsal_outcome *outcome = self->outcome;
    plim_page_say(page, "command", PLIM_TONE_HEADING, "", NULL)->layout = PLIM_LAYOUT_CUT;
    for (const char *const *word = self->rehearsed->argv; *word != NULL; word++) {
        const bool is_plain = **word != '\0' && strpbrk(*word, " \t\n") == NULL;
        const plim_fact quote = plim_words(is_plain ? "" : "'");
        plim_page_more(page, word != self->rehearsed->argv ? " {}{}{}" : "{}{}{}",
                       PLIM_FACTS(quote, plim_words(*word), quote));
    }
    plim_page_say(page, "gpu", PLIM_TONE_FAINT, "", NULL);
    if (outcome->process_count > 0) {
        plim_page_more(page, "PyTorch {} · ", PLIM_FACTS(plim_words(outcome->processes[0].torch)));
    }
    if (outcome->device_count > 1) {
        plim_page_more(page, "{} × ",
                       PLIM_FACTS(plim_plain("device_count", outcome->device_count)));
    }
    plim_page_more(page, "{} with {}",
                   PLIM_FACTS(plim_words(outcome->gpu->name),
                              plim_bytes("capacity_bytes", outcome->capacity_bytes)));
    if (outcome->process_count == 1 && outcome->processes[0].world_size > 1) {
        plim_page_more(page, " · rank {} of {}",
                       PLIM_FACTS(plim_plain("rank", outcome->processes[0].rank),
                                  plim_plain("world_size", outcome->processes[0].world_size)));
    }
}

void plim_rehearse_page_command(plim_page *page, const plim_rehearsed *rehearsed)
{
    const plim_rehearsing_page self = { .page = page,
                                        .rehearsed = rehearsed,
                                        .outcome = rehearsed->outcome };
    say_command(&self);
}

static uint64_t figure(const plim_rehearsed_oom *oom, plim_figure_id id)
{
    return oom->request.figures[id].bytes;
}

static void say_out_of_memory(const plim_rehearsing_page *self)
{
    const plim_rehearsed_oom *oom = plim_rehearsed_fatal_oom(self->outcome);
    if (oom == NULL) {
        plim_page_say(self->page, "out_of_memory", PLIM_TONE_BAD, "It runs out of memory.", NULL);
        return;
    }
    plim_page_say(self->page, "out_of_memory", PLIM_TONE_BAD,
                  "It runs out of memory in {}: {} more on GPU {}, which had {} free.",
                  PLIM_FACTS(plim_words(plim_rehearsed_moment(self->page, oom->step, oom->phase)),
                             plim_bytes("requested_bytes", figure(oom, PLIM_FIGURE_REQUESTED)),
                             plim_plain("device", (uint32_t)oom->request.subject.device),
                             plim_bytes("device_free_bytes", figure(oom, PLIM_FIGURE_FREE))));
    plim_rehearsed_say_stack(self->page, oom);
    plim_rehearsed_say_earlier(self);
}

static void say_unanswered(const plim_rehearsing_page *self)
{
    plim_page_say(self->page, "unanswered", PLIM_TONE_BAD,
                  "The program called functions that have no stand-in. The figures are not valid.",
                  NULL);
    for (size_t i = 0; i < self->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &self->outcome->calls[i];
        if (strcmp(call->kind, "unknown") == 0 || strcmp(call->kind, "refused") == 0) {
            plim_page_note(self->page, "call", PLIM_TONE_WARN, "{}{}{}",
                           PLIM_FACTS(plim_words(call->name),
                                      plim_words(call->note[0] != '\0' ? ": " : ""),
                                      plim_words(call->note)));
        }
    }
}

static void say_fits(const plim_rehearsing_page *self)
{
    const uint64_t peak = plim_rehearsed_find_peak(self->outcome).device_bytes;
    const uint64_t most = plim_rehearsed_find_bar(self->outcome).high_bytes;
    const uint64_t spare = plim_minus(self->outcome->capacity_bytes, peak);
    plim_page_say(self->page, "fits", PLIM_TONE_IN_USE,
                  "It fits: {} at the peak, up to {} possible; {} to spare ({}).",
                  PLIM_FACTS(plim_bytes("peak_bytes", peak), plim_bytes("high_bytes", most),
                             plim_bytes("spare_bytes", spare),
                             plim_percent("spare", plim_rehearsed_share(self->outcome, spare))));
}

/* The first process that was stopped in a loop without an end, or NULL. */
static const plim_rehearsed_process *find_endless(const plim_rehearsal_outcome *outcome)
{
    for (size_t i = 0; i < outcome->process_count; i++) {
        const char *reason = outcome->processes[i].stop_reason;
        if (reason != NULL && strcmp(reason, "endless_loop") == 0) {
            return &outcome->processes[i];
        }
    }
    return NULL;
}

static void say_at_least(const plim_rehearsing_page *self)
{
    const plim_rehearsed_process *endless = find_endless(self->outcome);
    const uint64_t peak = plim_rehearsed_find_peak(self->outcome).device_bytes;
    plim_page_say(
        self->page, "at_least", PLIM_TONE_WARN, "It needs at least {} of {}: {}.",
        PLIM_FACTS(plim_bytes("peak_bytes", peak),
                   plim_bytes("capacity_bytes", self->outcome->capacity_bytes),
                   plim_words(endless != NULL ? "it was stopped in a loop that does not end here"
                                              : "sizes, or the way it goes, hang on values that "
                                                "were not computed")));
    if (endless != NULL && endless->stop_text != NULL) {
        plim_page_note(self->page, "endless_loop", PLIM_TONE_WARN, "{}",
                       PLIM_FACTS(plim_words(endless->stop_text)));
    }
}

void plim_rehearse_page(plim_page *page, const plim_rehearsed *rehearsed, bool lists_calls)
{
    const plim_rehearsing_page self = { .page = page,
                                        .rehearsed = rehearsed,
                                        .outcome = rehearsed->outcome,
                                        .lists_calls = lists_calls };
    static void (*const answers[])(const plim_rehearsing_page *) = {
        [PLIM_REHEARSED_FITS] = say_fits,
        [PLIM_REHEARSED_TIGHT] = plim_rehearsed_say_tight,
        [PLIM_REHEARSED_AT_LEAST] = say_at_least,
        [PLIM_REHEARSED_OUT_OF_MEMORY] = say_out_of_memory,
        [PLIM_REHEARSED_FAILED] = plim_rehearsed_say_failed,
        [PLIM_REHEARSED_UNANSWERED] = say_unanswered,
    };
    say_command(&self);
    plim_page_gap(page);
    const plim_rehearsed_verdict verdict = plim_rehearsed_judge(rehearsed);
    answers[verdict](&self);
    plim_rehearsed_say_refused(&self);
    if (verdict == PLIM_REHEARSED_FAILED && !plim_rehearsed_used_gpu(rehearsed->outcome)) {
        plim_rehearsed_say_warnings(&self); /* it measured nothing */
        return;
    }
    if (verdict <= PLIM_REHEARSED_AT_LEAST) {
        plim_rehearsed_say_survived(&self);
    }
    plim_rehearsed_say_need(&self);
    plim_rehearsed_say_figures(&self);
    plim_rehearsed_say_phases(&self);
    plim_rehearsed_say_with(&self);
    plim_rehearsed_say_facts(&self);
    plim_rehearsed_say_limitations(&self);
}

/* ---- a search -------------------------------------------------------------------------------- */

const char *plim_rehearsed_verdict_text(plim_rehearsed_verdict verdict)
{
    switch (verdict) {
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        return "out of memory";
    case PLIM_REHEARSED_AT_LEAST:
        return "at least";
    case PLIM_REHEARSED_FITS:
    case PLIM_REHEARSED_TIGHT:
    case PLIM_REHEARSED_FAILED:
    case PLIM_REHEARSED_UNANSWERED:
        break;
    }
    return plim_rehearsed_verdict_name(verdict);
}

void plim_rehearse_tries_page(plim_page *page, const plim_rehearse_tries *tries)
{
    static const plim_column columns[] = {
        { "value", PLIM_ALIGN_RIGHT, 0, 0 },      { "", PLIM_ALIGN_LEFT, 0, 0 },
        { "allocated", PLIM_ALIGN_RIGHT, 0, 0 },  { "reserved", PLIM_ALIGN_RIGHT, 0, 0 },
        { "device use", PLIM_ALIGN_RIGHT, 0, 0 },
    };
    plim_page_table(page, "tries", columns, sizeof(columns) / sizeof(columns[0]))->indent = 0;
    for (size_t i = 0; i < tries->count; i++) {
        const plim_rehearse_try *one = &tries->items[i];
        const bool fits = one->verdict == PLIM_REHEARSED_FITS;
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_plain("value", one->value));
        plim_page_cell(page, fits ? PLIM_TONE_IN_USE : PLIM_TONE_BAD,
                       plim_words(plim_rehearsed_verdict_text(one->verdict)));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, one->peak.allocated_bytes));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, one->peak.reserved_bytes));
        plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes(NULL, one->peak.device_bytes));
    }
    plim_page_gap(page);
    plim_rehearsed_say_best(page, tries);
}
