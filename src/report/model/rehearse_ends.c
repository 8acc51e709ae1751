/*
 * rehearse_ends.c - how a program ended without an answer, and failures that it survived. See
 * rehearse_parts.h.
 */
#include "report/model/rehearse_parts.h"

#include "stacks/frames.h"

#include <string.h>

#define PLACES_SHOWN 4u
#define STACK_SHOWN  3u

static bool is_word(const plim_rehearsed_reason *reason, const char *word)
{
    return reason->word != NULL && strcmp(reason->word, word) == 0;
}

void plim_rehearsed_say_failed(const plim_rehearsing_page *self)
{
    plim_page *page = self->page;
    const plim_rehearsed_reason *reason = &self->rehearsed->reason;
    const plim_fact text = plim_words(reason->text != NULL ? reason->text : "");
    const plim_fact rest = plim_words(
        plim_rehearsed_used_gpu(self->outcome) ? " The figures end there." : " It used no GPU.");
    if (is_word(reason, "no_kernels")) {
        plim_page_say(page, "no_kernels", PLIM_TONE_BAD, "{}.", PLIM_FACTS(text));
    } else if (is_word(reason, "no_gpu_used")) {
        plim_page_say(page, "no_gpu_used", PLIM_TONE_BAD, "It used no GPU: {}.", PLIM_FACTS(text));
    } else if (is_word(reason, "signal")) {
        plim_page_say(page, "crashed", PLIM_TONE_BAD, "The program was ended by {}.{}",
                      PLIM_FACTS(text, rest));
    } else {
        plim_page_say(page, "failed", PLIM_TONE_BAD, "The program failed with exit status {}.{}",
                      PLIM_FACTS(plim_id("exit_status", self->rehearsed->exit_status), rest));
        if (reason->text != NULL && strncmp(reason->text, "exit status", 11) != 0) {
            plim_page_note(page, "exception", PLIM_TONE_BAD, "{}", PLIM_FACTS(text));
        }
    }
}

/* The last failure of a process that died of it; else the first process that failed and went on. */
const plim_rehearsed_oom *plim_rehearsed_fatal_oom(const plim_rehearsal_outcome *outcome)
{
    const plim_rehearsed_process *found = NULL;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        if (process->oom_count > 0 && strcmp(process->ended, "oom") == 0) {
            found = process;
            break;
        }
        found = found == NULL && process->oom_count > 0 ? process : found;
    }
    return found != NULL ? &found->ooms[found->oom_count - 1] : NULL;
}

/* "train.py:41 forward": all of them are Python's. */
static bool is_own(const char *frame)
{
    return plim_frame_owner_of(frame, "", 1) == PLIM_FRAME_USER;
}

static void say_frame(plim_page *page, const char *frame)
{
    plim_page_note(page, "from", PLIM_TONE_USER, "{}{}",
                   PLIM_FACTS(plim_apart(plim_words("← ")), plim_words(frame)))
        ->layout = PLIM_LAYOUT_PATH;
}

/* The innermost frame of a library that the user's own code called: a Trainer's, a model's. */
static void say_library(plim_page *page, const plim_rehearsed_oom *oom)
{
    for (size_t i = 0; i < oom->stack_count && !is_own(oom->stack[i]); i++) {
        if (plim_frame_owner_of(oom->stack[i], "", 1) == PLIM_FRAME_LIBRARY) {
            say_frame(page, oom->stack[i]);
            return;
        }
    }
}

/* Frames of the user's own code, and where it called a library, that library's; where there are no
 * own ones, the innermost of any. */
void plim_rehearsed_say_stack(plim_page *page, const plim_rehearsed_oom *oom)
{
    size_t own = 0;
    for (size_t i = 0; i < oom->stack_count; i++) {
        own += is_own(oom->stack[i]);
    }
    if (own > 0) {
        say_library(page, oom);
    }
    size_t shown = 0;
    for (size_t i = 0; i < oom->stack_count && shown < STACK_SHOWN; i++) {
        if (oom->stack[i][0] == '\0' || (own > 0 && !is_own(oom->stack[i]))) {
            continue;
        }
        say_frame(page, oom->stack[i]);
        shown++;
    }
}

/* ---- out of memory, survived ----------------------------------------------------------------- */

static uint64_t count_ooms(const plim_rehearsal_outcome *outcome)
{
    uint64_t total = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        const plim_rehearsed_process *process = &outcome->processes[i];
        total += process->oom_total > process->oom_count ? process->oom_total : process->oom_count;
    }
    return total;
}

/* At a place, in all processes; 0 where an earlier process or row has the place already. */
static uint64_t count_at(const plim_rehearsal_outcome *outcome, size_t process_at, size_t place_at)
{
    const char *where = outcome->processes[process_at].oom_places[place_at].where;
    uint64_t count = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        for (size_t j = 0; j < outcome->processes[i].oom_place_count; j++) {
            const plim_rehearsed_oom_place *place = &outcome->processes[i].oom_places[j];
            if (strcmp(place->where, where) != 0) {
                continue;
            }
            if (count == 0 && (i != process_at || j != place_at)) {
                return 0;
            }
            count += place->count;
        }
    }
    return count;
}

static void say_places(const plim_rehearsing_page *self)
{
    const plim_rehearsal_outcome *outcome = self->outcome;
    uint64_t more = 0;
    size_t shown = 0;
    for (size_t i = 0; i < outcome->process_count; i++) {
        for (size_t j = 0; j < outcome->processes[i].oom_place_count; j++) {
            const uint64_t count = count_at(outcome, i, j);
            if (count > 0 && shown == PLACES_SHOWN) {
                more++;
            } else if (count > 0) {
                shown++;
                plim_page_note(self->page, "ran_out_at", PLIM_TONE_USER, "{} × {}",
                               PLIM_FACTS(plim_plain("count", count),
                                          plim_words(outcome->processes[i].oom_places[j].where)))
                    ->layout = PLIM_LAYOUT_PATH;
            }
        }
    }
    if (more > 0) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "and at {}",
                       PLIM_FACTS(plim_count_of("places_left_out", more, "more place")));
    }
}

void plim_rehearsed_say_survived(const plim_rehearsing_page *self)
{
    const plim_rehearsed_oom *oom = plim_rehearsed_fatal_oom(self->outcome);
    const uint64_t total = count_ooms(self->outcome);
    if (total > 1) {
        plim_page_say(self->page, "went_on", PLIM_TONE_WARN,
                      "It ran out of memory {} on the way, and went on.",
                      PLIM_FACTS(plim_count_of("ooms", total, "time")));
        say_places(self);
    } else if (oom != NULL) {
        plim_page_say(
            self->page, "went_on", PLIM_TONE_WARN,
            "It ran out of memory on the way, in {} ({} more on GPU {}), and went on.",
            PLIM_FACTS(
                plim_words(plim_rehearsed_moment(self->page, oom->step, oom->phase)),
                plim_bytes("requested_bytes", oom->request.figures[PLIM_FIGURE_REQUESTED].bytes),
                plim_plain("device", (uint32_t)oom->request.subject.device)));
        plim_rehearsed_say_stack(self->page, oom);
    }
}

void plim_rehearsed_say_earlier(const plim_rehearsing_page *self)
{
    uint64_t fatal = 0;
    for (size_t i = 0; i < self->outcome->process_count; i++) {
        const plim_rehearsed_process *process = &self->outcome->processes[i];
        fatal += process->oom_count > 0 && strcmp(process->ended, "oom") == 0;
    }
    const uint64_t total = count_ooms(self->outcome);
    if (fatal > 0 && total > fatal) {
        plim_page_say(self->page, "earlier", PLIM_TONE_WARN, "It ran out of memory {} in all:",
                      PLIM_FACTS(plim_count_of("ooms", total, "time")));
        say_places(self);
    }
}

/* ---- a search -------------------------------------------------------------------------------- */

void plim_rehearsed_say_best(plim_page *page, const plim_rehearse_tries *tries)
{
    size_t at_least = 0;
    size_t tight = 0;
    for (size_t i = 0; i < tries->count; i++) {
        at_least += tries->items[i].verdict == PLIM_REHEARSED_AT_LEAST;
        tight += tries->items[i].verdict == PLIM_REHEARSED_TIGHT;
    }
    if (!tries->is_complete) {
        plim_page_say(page, "incomplete", PLIM_TONE_BAD,
                      "The search did not end, so the largest that fits is not known.", NULL);
    } else if (tries->best > 0) {
        plim_page_say(page, "best", PLIM_TONE_HEADING, "The largest that fits: {}",
                      PLIM_FACTS(plim_plain("value", tries->best)));
    } else {
        plim_page_say(page, "none_fits", PLIM_TONE_BAD,
                      at_least + tight > 0 ? "None of them is known to fit." : "None of them fits.",
                      NULL);
    }
    if (tries->is_complete && at_least > 0) {
        plim_page_say(page, "at_least", PLIM_TONE_WARN,
                      "{} of them may need more than is shown: sizes hang on values that were not "
                      "computed. --accept=at_least takes the figures as they are.",
                      PLIM_FACTS(at_least == tries->count ? plim_words("All")
                                                          : plim_count("at_least", at_least)));
    }
    if (tries->is_complete && tight > 0 && tries->best == 0) {
        plim_page_say(
            page, "tight", PLIM_TONE_WARN,
            "{} tight: within the error bar of device use. --accept=tight takes the "
            "expected figure.",
            PLIM_FACTS(plim_words(plim_page_text(
                page, "{} {}",
                PLIM_FACTS(plim_count("tight", tight), plim_words(tight == 1 ? "is" : "are"))))));
    }
}
