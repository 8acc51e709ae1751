/*
 * run.c - the page of a run. See run.h.
 */
#include "report/model/run_parts.h"

#include <string.h>

static bool was_stopped(const plim_ran *ran)
{
    return ran->main_dump != NULL && strcmp(ran->main_dump->reason, "stop") == 0;
}

bool plim_run_has_account(const plim_ran *ran)
{
    return was_stopped(ran) || (ran->died_of_memory && !plim_run_was_killed(ran));
}

bool plim_run_has_page(const plim_ran *ran)
{
    return plim_run_has_account(ran) || plim_run_was_killed(ran) || plim_run_has_caught(ran) ||
           plim_run_find_uncaught(ran) != NULL || plim_run_has_growth(ran);
}

static void say_stopped(const plim_ran_page *self)
{
    const char *const condition = self->ran->main_process->stopped_on;
    plim_page_say(self->page, "stopped", PLIM_TONE_BAD, "Stopped by --stop-on={}",
                  PLIM_FACTS(plim_words(condition != NULL ? condition : "?")));
    if (self->ran->main_dump->step > 1) {
        plim_page_more(self->page, " after {}",
                       PLIM_FACTS(plim_count_of("steps", self->ran->main_dump->step - 1, "step")));
    }
    plim_page_more(self->page, ".", NULL);
}

/* The folder of it all, and the command that says more. */
static void say_folder(const plim_ran_page *self)
{
    const plim_ran *const ran = self->ran;
    if (ran->folder == NULL) {
        return;
    }
    plim_page_gap(self->page);
    plim_page_say(self->page, "folder", PLIM_TONE_FAINT, "Recorded in {}",
                  PLIM_FACTS(plim_words(ran->folder)))
        ->layout = PLIM_LAYOUT_COPY;
    if (ran->main_snapshot != NULL) {
        const char *const path = ran->main_snapshot->snapshot_path;
        const plim_fact quote = plim_words(plim_page_quote(path));
        plim_page_say(self->page, "next", PLIM_TONE_FAINT, "Next: plimsoll diagnose {}{}{}",
                      PLIM_FACTS(quote, plim_words(path), quote))
            ->layout = PLIM_LAYOUT_COPY;
    } else if (ran->main_dump != NULL && ran->main_dump->why_no_snapshot != NULL) {
        plim_page_say(self->page, "no_snapshot", PLIM_TONE_FAINT, "No history was written: {}.",
                      PLIM_FACTS(plim_words(ran->main_dump->why_no_snapshot)));
    }
}

static void say_account(const plim_ran_page *self)
{
    if (was_stopped(self->ran)) {
        say_stopped(self);
    }
    plim_run_verdict(self);
    plim_run_holders(self);
    plim_run_fixes(self);
    if (self->ran->why_unseen != NULL) {
        plim_page_gap(self->page);
        plim_page_say(self->page, "unseen", PLIM_TONE_WARN, "The recorder did not see it: {}.",
                      PLIM_FACTS(plim_words(self->ran->why_unseen)));
    }
}

void plim_run_page(plim_page *page, const plim_run_view *view, const plim_ran *ran,
                   const plim_run_found *found)
{
    static const plim_run_found nothing;
    const plim_ran_page self = {
        .page = page, .view = view, .ran = ran, .found = found != NULL ? found : &nothing
    };
    if (plim_run_was_killed(ran)) {
        plim_run_killed(&self);
    } else if (plim_run_has_account(ran)) {
        say_account(&self);
    } else if (plim_run_find_uncaught(ran) != NULL) {
        plim_run_uncaught(&self);
    } else if (plim_run_has_caught(ran)) {
        plim_run_caught(&self);
    }
    if (!plim_run_has_account(ran)) {
        plim_run_growth(&self);
    }
    say_folder(&self);
}
