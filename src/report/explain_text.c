/*
 * explain_text.c - one page: the message that answers for all, its bar, why, what to do, the rest.
 *
 * It has to fit a screen: somebody's training has just died. Everything else is behind --all,
 * --trend and --json.
 */
#include "report/explain_text.h"

#include "base/size.h"
#include "report/counted.h"
#include "report/explain_words.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <stdio.h>
#include <string.h>

static void write_name(const plim_explain_page *page)
{
    const char *path = page->file->path;
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add_path(&line, PLIM_TONE_HEADING, strcmp(path, "-") == 0 ? "standard input" : path);
    plim_line_end(&line);
}

/* ---- one message ---------------------------------------------------------------------------- */

static plim_tone tone_of(plim_verdict verdict)
{
    return verdict == PLIM_VERDICT_NOT_OOM ? PLIM_TONE_WARN : PLIM_TONE_BAD;
}

/* "PyTorch 2.2 and later · line 1,042 · said 8 times · likely (0.8)" */
static void write_head(const plim_explain_page *page, const plim_oom_message *message)
{
    const char *dot = plim_style_glyphs(page->style)->dot;
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, tone_of(message->judgement.verdict), plim_explain_headline(message).text);
    plim_line_end(&line);

    line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_FAINT, plim_explain_framework(message->framework));
    if (message->versions != NULL && message->versions[0] != '\0') {
        plim_line_format(&line, PLIM_TONE_FAINT, " %s", message->versions);
    }
    plim_line_format(&line, PLIM_TONE_FAINT, " %s line %s", dot,
                     plim_format_count(message->line).text);
    if (message->count > 1) {
        plim_line_format(&line, PLIM_TONE_FAINT, " %s said %s", dot,
                         plim_counted(message->count, "time").text);
    }
    plim_line_format(&line, PLIM_TONE_FAINT, " %s %s", dot,
                     plim_certainty_name(message->judgement.finding.certainty));
    if (message->judgement.alternative_count > 0) {
        plim_line_format(&line, PLIM_TONE_FAINT, ", or %s",
                         plim_explain_verdict(message->judgement.alternatives[0]).text);
    }
    plim_line_end(&line);
}

static void write_message(const plim_explain_page *page, const plim_oom_message *message)
{
    write_head(page, message);
    plim_text_append_char(page->out, '\n');
    const size_t before = page->out->length;
    plim_explain_bar(page, message);
    if (page->out->length > before) {
        plim_text_append_char(page->out, '\n');
    }
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_PLAIN, "", message->why);
    plim_explain_fixes(page, message->advice, message->advice_count);
}

/* ---- the page ------------------------------------------------------------------------------- */

/* The worst leak of the memory that ran out: the device's, or the host's. */
static const plim_series *leak_before(const plim_explain_page *page)
{
    const plim_explained *file = page->file;
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
static void write_leak(const plim_explain_page *page)
{
    const plim_series *series = leak_before(page);
    if (series == NULL) {
        return;
    }
    const double steps = series->trend.last_step - series->trend.onset_step;
    char words[512];
    snprintf(words, sizeof words,
             "Before this, %.100s grew by %s per %.40s over %s %.40ss: --trend shows it.",
             series->name, plim_explain_amount(series, series->trend.growth_bytes_per_step).text,
             plim_explain_step(series), plim_explain_number(steps).text, plim_explain_step(series));
    plim_text_append_char(page->out, '\n');
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_WARN,
                         plim_style_glyphs(page->style)->warning, words);
}

static void write_all_messages(const plim_explain_page *page)
{
    for (size_t i = 0; i < page->file->message_count; i++) {
        if (i > 0) {
            plim_text_append_char(page->out, '\n');
        }
        write_message(page, page->file->messages[i]);
    }
    if (page->file->unkept_count > 0) {
        plim_text_append_char(page->out, '\n');
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_FAINT,
                              "(%s more were counted, not kept)",
                              plim_counted(page->file->unkept_count, "message").text);
    }
}

/* A text without messages that has series answers with those. */
static bool is_trend_page(const plim_explain_view *view, const plim_explained *file)
{
    return view->trend || (file->message_count == 0 && file->series_count > 0);
}

bool plim_explain_text_has_page(const plim_explain_view *view, const plim_explained *file)
{
    return is_trend_page(view, file) ? file->series_count > 0 : file->message_count > 0;
}

void plim_explain_text_write(plim_text *out, const plim_style *style, const plim_explain_view *view,
                             const plim_explained *file)
{
    const plim_explain_page page = { .out = out, .style = style, .view = view, .file = file };
    if (!plim_explain_text_has_page(view, file)) {
        return;
    }
    if (view->with_name) {
        write_name(&page);
    }
    if (is_trend_page(view, file)) {
        plim_explain_trend(&page);
        return;
    }
    if (view->all || file->main_message == NULL) {
        write_all_messages(&page);
    } else {
        write_message(&page, file->main_message);
        plim_explain_others(&page);
    }
    write_leak(&page);
}
