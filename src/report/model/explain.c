/*
 * explain.c - one page: the message that answers for all, its bar, why, what to do, the rest.
 *
 * It has to fit a screen. --all, --trend and --json show the rest.
 */
#include "report/model/explain_parts.h"

/* ---- one message ---------------------------------------------------------------------------- */

/* "PyTorch 2.2 and later · line 1,042 · said 8 times · likely" */
static void say_head(plim_page *page, const plim_oom_message *message)
{
    const plim_judgement *judgement = &message->judgement;
    const bool is_oom = judgement->verdict != PLIM_VERDICT_NOT_OOM;
    plim_page_say(page, "headline", is_oom ? PLIM_TONE_BAD : PLIM_TONE_WARN, "{}",
                  PLIM_FACTS(plim_words(plim_explain_headline(message).text)));
    plim_page_say(page, "source", PLIM_TONE_FAINT, "{}",
                  PLIM_FACTS(plim_words(plim_explain_framework(message->framework))));
    if (message->versions != NULL && message->versions[0] != '\0') {
        plim_page_more(page, " {}", PLIM_FACTS(plim_words(message->versions)));
    }
    plim_page_more(page, " · line {}", PLIM_FACTS(plim_count("line", message->line)));
    if (message->count > 1) {
        plim_page_more(page, " · said {}",
                       PLIM_FACTS(plim_count_of("count", message->count, "time")));
    }
    plim_page_more(page, " · {}",
                   PLIM_FACTS(plim_words(plim_certainty_name(judgement->finding.certainty))));
    if (judgement->alternative_count > 0) {
        plim_page_more(
            page, ", or {}",
            PLIM_FACTS(plim_words(plim_explain_verdict(judgement->alternatives[0]).text)));
    }
}

static void say_message(const plim_explaining *self, const plim_oom_message *message)
{
    say_head(self->page, message);
    plim_page_gap(self->page);
    if (plim_explained_bar(self->page, message)) {
        plim_page_gap(self->page);
    }
    plim_page_say(self->page, "why", PLIM_TONE_PLAIN, "{}", PLIM_FACTS(plim_words(message->why)));
    plim_explained_fixes(self, message->advice, message->advice_count);
}

/* ---- the page ------------------------------------------------------------------------------- */

/* The worst leak of the memory that ran out: the device's, or the host's. */
static const plim_series *leak_before(const plim_explaining *self)
{
    const plim_explained *file = self->file;
    const bool is_host =
        file->main_message != NULL && file->main_message->judgement.verdict == PLIM_VERDICT_HOST;
    for (size_t i = 0; i < file->series_count; i++) {
        if (file->series[i]->trend.kind == PLIM_TREND_LEAK && file->series[i]->is_host == is_host) {
            return file->series[i];
        }
    }
    return NULL;
}

/* "Before this, max_memory_allocated grew by 12.4 MiB per step over 3,400 steps." */
static void say_leak(const plim_explaining *self)
{
    const plim_series *series = leak_before(self);
    if (series == NULL) {
        return;
    }
    const double steps = series->trend.last_step - series->trend.onset_step;
    const plim_explain_axis axis = plim_explain_axis_of(series);
    plim_page_gap(self->page);
    plim_page_warn(self->page, "leak_before",
                   "Before this, {} grew by {} per {} over {} {}: --trend shows it.",
                   PLIM_FACTS(plim_words(series->name),
                              plim_explain_amount(series, "growth_per_step",
                                                  series->trend.growth_bytes_per_step * axis.unit),
                              plim_words(axis.step), plim_explain_steps(&axis, "steps", steps),
                              plim_words(axis.steps)));
}

static void say_all_messages(const plim_explaining *self)
{
    for (size_t i = 0; i < self->file->message_count; i++) {
        if (i > 0) {
            plim_page_gap(self->page);
        }
        say_message(self, self->file->messages[i]);
    }
    if (self->file->unkept_count > 0) {
        plim_page_gap(self->page);
        plim_page_say(self->page, "unkept", PLIM_TONE_FAINT, "({} more were counted, not kept)",
                      PLIM_FACTS(plim_count_of("unkept", self->file->unkept_count, "message")));
    }
}

/* A text without messages that has series answers with those. */
static bool is_trend_page(const plim_explain_view *view, const plim_explained *file)
{
    return view->trend || (file->message_count == 0 && file->series_count > 0);
}

bool plim_explain_has_page(const plim_explain_view *view, const plim_explained *file)
{
    return file->is_read &&
           (is_trend_page(view, file) ? file->series_count > 0 : file->message_count > 0);
}

static void say_file(const plim_explaining *self)
{
    if (is_trend_page(self->view, self->file)) {
        plim_explained_trend(self);
        return;
    }
    if (self->view->all || self->file->main_message == NULL) {
        say_all_messages(self);
    } else {
        say_message(self, self->file->main_message);
        plim_explained_others(self);
    }
    say_leak(self);
}

void plim_explain_page(plim_page *page, const plim_explain_view *view, const plim_explained *files,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const plim_explaining self = { .page = page, .view = view, .file = &files[i] };
        if (!plim_explain_has_page(view, &files[i])) {
            continue;
        }
        if (page->first != NULL) {
            plim_page_gap(page);
        }
        if (count > 1) {
            plim_page_file(page, files[i].path);
        }
        say_file(&self);
    }
}
