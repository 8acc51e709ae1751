/*
 * explain_fixes.c - what to do next: a sentence, and the line to type.
 *
 * Commands are there to be copied, so they alone are never cut or wrapped: where one is longer
 * than the page is wide, the terminal breaks it and copies it whole.
 */
#include "report/explain_page.h"
#include "report/term/line.h"
#include "report/term/paragraph.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_INDENT  6u
#define COMMAND_COLUMNS 4096u
#define RECORDING_ID    "record-snapshot" /* of the fix that is to record */

static void write_command(const plim_explain_page *page, const char *command)
{
    plim_style endless = *page->style;
    endless.width = COMMAND_COLUMNS;
    while (*command != '\0') {
        const size_t bytes = strcspn(command, "\n");
        plim_line line = plim_line_begin(page->out, &endless, bytes > 0 ? COMMAND_INDENT : 0);
        plim_line_add_bytes(&line, PLIM_TONE_USER, command, bytes);
        plim_line_end(&line);
        command += bytes + (command[bytes] == '\n' ? 1 : 0);
    }
}

static bool is_apart(const plim_explain_page *page, const plim_advice *advice)
{
    return page->view->with_recording && strcmp(advice->id, RECORDING_ID) == 0;
}

static void write_heading(const plim_explain_page *page, const char *words)
{
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, words);
    plim_line_end(&line);
}

/* The lines of the fix in full, for somebody who has just seen a run die unrecorded. */
static void write_recording(const plim_explain_page *page)
{
    write_heading(page, "Next time, record who holds what");
    write_command(page, "torch.cuda.memory._record_memory_history()  # before training\n"
                        "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")  # where it fails");
    plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_PLAIN, "",
                         "and then plimsoll inspect snapshot.pickle.");
}

void plim_explain_fixes(const plim_explain_page *page, const plim_advice *advice, size_t count)
{
    const uint32_t wanted =
        page->view->fixes_max > 0 ? page->view->fixes_max : PLIM_EXPLAIN_FIXES_SHOWN;
    size_t apart = 0;
    for (size_t i = 0; i < count; i++) {
        apart += is_apart(page, &advice[i]);
    }
    const size_t numbered = count - apart;
    /* A rest of one is shown as what it is. */
    const bool all_fit = page->view->all || numbered <= (size_t)wanted + 1;
    const size_t most = all_fit ? numbered : wanted;
    size_t shown = 0;
    if (numbered > 0) {
        write_heading(page, "What to do");
    }
    for (size_t i = 0; i < count && shown < most; i++) {
        char lead[24];
        if (is_apart(page, &advice[i])) {
            continue;
        }
        snprintf(lead, sizeof lead, "%zu.", ++shown);
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_PLAIN, lead, advice[i].text);
        if (advice[i].command != NULL) {
            write_command(page, advice[i].command);
        }
    }
    if (shown < numbered) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT,
                              "(%zu more: --all shows them)", numbered - shown);
    }
    if (apart > 0) {
        write_recording(page);
    }
}
