/*
 * rehearse_text.c - the page of a rehearsal. See rehearse_text.h.
 *
 * The order is that of the questions of somebody who is about to rent a GPU: does it fit, how
 * much is left, when does it peak, what else takes memory, and how far is this to be believed.
 */
#include "report/rehearse_text.h"

#include "report/rehearse_parts.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"
#include "stacks/frames.h"

#include <inttypes.h>
#include <string.h>

#define STACK_SHOWN 3u

static void write_command(const plim_rehearse_page *page)
{
    plim_line line = plim_line_begin(page->out, page->style, 0);
    for (const char *const *word = page->rehearsed->argv; *word != NULL; word++) {
        const char *quote = **word == '\0' || strpbrk(*word, " \t\n") != NULL ? "'" : "";
        plim_line_format(&line, PLIM_TONE_HEADING, "%s%s%s%s",
                         word != page->rehearsed->argv ? " " : "", quote, *word, quote);
    }
    plim_line_end(&line);

    const char *dot = plim_style_glyphs(page->style)->dot;
    line = plim_line_begin(page->out, page->style, 0);
    if (page->outcome->process_count > 0) {
        plim_line_format(&line, PLIM_TONE_FAINT, "PyTorch %s %s ",
                         page->outcome->processes[0].torch, dot);
    }
    if (page->outcome->device_count > 1) {
        plim_line_format(&line, PLIM_TONE_FAINT, "%" PRIu32 " %s ", page->outcome->device_count,
                         plim_style_glyphs(page->style)->times);
    }
    plim_line_format(&line, PLIM_TONE_FAINT, "%s with %s", page->outcome->gpu->name,
                     plim_format_bytes(page->outcome->capacity_bytes).text);
    if (page->outcome->process_count == 1 && page->outcome->processes[0].world_size > 1) {
        plim_line_format(&line, PLIM_TONE_FAINT, " %s rank %" PRIu64 " of %" PRIu64, dot,
                         page->outcome->processes[0].rank, page->outcome->processes[0].world_size);
    }
    plim_line_end(&line);
}

/* What a process died of is its last failure; of those who lived on, the first one's. */
static const plim_rehearsed_oom *fatal_oom(const plim_rehearsal_outcome *outcome)
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

/* Frames of the user's own code; where there are none, the innermost of any. */
static void write_stack(const plim_rehearse_page *page, const plim_rehearsed_oom *oom)
{
    size_t own = 0;
    for (size_t i = 0; i < oom->stack_count; i++) {
        own += is_own(oom->stack[i]);
    }
    size_t shown = 0;
    for (size_t i = 0; i < oom->stack_count && shown < STACK_SHOWN; i++) {
        if (oom->stack[i][0] == '\0' || (own > 0 && !is_own(oom->stack[i]))) {
            continue;
        }
        plim_line line = plim_line_begin(page->out, page->style, 2);
        plim_line_format(&line, PLIM_TONE_USER, "%s ", plim_style_glyphs(page->style)->from);
        plim_line_add_path(&line, PLIM_TONE_USER, oom->stack[i]);
        plim_line_end(&line);
        shown++;
    }
}

static void write_out_of_memory(const plim_rehearse_page *page)
{
    const plim_rehearsed_oom *oom = fatal_oom(page->outcome);
    if (oom == NULL) {
        plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_BAD, "",
                             "It runs out of memory.");
        return;
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_BAD,
                          "It runs out of memory in %s: %s more on GPU %" PRIu32
                          ", which had %s free.",
                          plim_rehearse_moment(oom->step, oom->phase).text,
                          plim_format_bytes(oom->requested_bytes).text, oom->device,
                          plim_format_bytes(oom->device_free_bytes).text);
    write_stack(page, oom);
}

static void write_failed(const plim_rehearse_page *page)
{
    const char *exception = NULL;
    for (size_t i = 0; i < page->outcome->process_count && exception == NULL; i++) {
        exception = page->outcome->processes[i].exception;
    }
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_BAD,
                          "The program failed with exit status %d. The figures end there.",
                          page->rehearsed->exit_status);
    if (exception != NULL) {
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_BAD, "", exception);
    }
}

static void write_unanswered(const plim_rehearse_page *page)
{
    plim_paragraph_write(page->out, page->style, 0, PLIM_TONE_BAD, "",
                         "The program called functions that are not stood in for. The figures are "
                         "not to be believed.");
    for (size_t i = 0; i < page->outcome->call_count; i++) {
        const plim_rehearsed_call *call = &page->outcome->calls[i];
        if (strcmp(call->kind, "unknown") == 0 || strcmp(call->kind, "refused") == 0) {
            plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_WARN, "%s%s%s", call->name,
                                  call->note[0] != '\0' ? ": " : "", call->note);
        }
    }
}

static void write_fits(const plim_rehearse_page *page)
{
    const uint64_t peak = plim_rehearsed_find_peak(page->outcome).device_bytes;
    const uint64_t capacity = page->outcome->capacity_bytes;
    const uint64_t spare = capacity > peak ? capacity - peak : 0;
    plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_IN_USE,
                          "It fits: %s at the peak, %s to spare (%s).",
                          plim_format_bytes(peak).text, plim_format_bytes(spare).text,
                          plim_rehearse_share(page, spare).text);
    const plim_rehearsed_oom *oom = fatal_oom(page->outcome);
    if (oom != NULL) {
        plim_paragraph_format(page->out, page->style, 0, PLIM_TONE_WARN,
                              "It ran out of memory on the way, in %s (%s more on GPU %" PRIu32
                              "), and went on.",
                              plim_rehearse_moment(oom->step, oom->phase).text,
                              plim_format_bytes(oom->requested_bytes).text, oom->device);
        write_stack(page, oom);
    }
}

static void write_answer(const plim_rehearse_page *page)
{
    plim_rehearse_blank(page);
    switch (plim_rehearsed_judge(page->rehearsed)) {
    case PLIM_REHEARSED_FITS:
        write_fits(page);
        break;
    case PLIM_REHEARSED_OUT_OF_MEMORY:
        write_out_of_memory(page);
        break;
    case PLIM_REHEARSED_FAILED:
        write_failed(page);
        break;
    case PLIM_REHEARSED_UNANSWERED:
        write_unanswered(page);
        break;
    }
}

void plim_rehearse_text_write(plim_text *out, const plim_style *style,
                              const plim_rehearsed *rehearsed)
{
    const plim_rehearse_page page = {
        .out = out, .style = style, .rehearsed = rehearsed, .outcome = rehearsed->outcome
    };
    write_command(&page);
    write_answer(&page);
    plim_rehearse_figures_write(&page);
    plim_rehearse_course_write(&page);
    plim_rehearse_belief_write(&page);
}
