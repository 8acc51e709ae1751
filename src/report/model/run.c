/*
 * run.c - the page of a run. See run.h.
 */
#include "report/model/run.h"

#include "report/model/explain.h"

#include <string.h>

static bool was_stopped(const plim_ran *ran)
{
    return ran->main_dump != NULL && strcmp(ran->main_dump->reason, "stop") == 0;
}

bool plim_run_has_page(const plim_ran *ran)
{
    return ran->died_of_memory || was_stopped(ran);
}

static void say_stopped(plim_page *page, const plim_ran *ran)
{
    const char *const condition = ran->main_process->stopped_on;
    plim_page_say(page, "stopped", PLIM_TONE_BAD, "Stopped by --stop-on={} in step {}.",
                  PLIM_FACTS(plim_words(condition != NULL ? condition : "?"),
                             plim_plain("step", ran->main_dump->step)));
}

static void say_message(plim_page *page, const plim_run_view *view, const plim_ran *ran)
{
    const plim_explained text = {
        .path = ran->argv[0],
        .is_read = true,
        .messages = &ran->message,
        .message_count = 1,
        .main_message = ran->message,
    };
    const plim_explain_view how = { .all = view->all };
    plim_explain_page(page, &how, &text, 1);
}

void plim_run_page(plim_page *page, const plim_run_view *view, const plim_ran *ran)
{
    if (was_stopped(ran)) {
        say_stopped(page, ran);
    } else if (ran->message != NULL) {
        say_message(page, view, ran);
    }
    if (ran->why_unseen != NULL) {
        plim_page_gap(page);
        plim_page_say(page, "unseen", PLIM_TONE_WARN, "The recorder did not see it: {}.",
                      PLIM_FACTS(plim_words(ran->why_unseen)));
    }
    if (ran->folder != NULL) {
        plim_page_gap(page);
        plim_page_say(page, "folder", PLIM_TONE_FAINT, "Recorded in {}",
                      PLIM_FACTS(plim_words(ran->folder)))
            ->layout = PLIM_LAYOUT_COPY;
    }
}
