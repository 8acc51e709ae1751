/*
 * explain_fixes.c - what to do next: a sentence, and the line to type.
 *
 * Commands are there to be copied, so they alone are never cut or wrapped: where one is longer
 * than the page is wide, the terminal breaks it and copies it whole.
 */
#include "report/explain_page.h"
#include "report/line.h"
#include "report/paragraph.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_INDENT  6u
#define COMMAND_COLUMNS 4096u

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

void plim_explain_fixes(const plim_explain_page *page, const plim_advice *advice, size_t count)
{
    const uint32_t wanted =
        page->view->fixes_max > 0 ? page->view->fixes_max : PLIM_EXPLAIN_FIXES_SHOWN;
    /* A rest of one is shown as what it is. */
    const size_t shown = page->view->all || count <= (size_t)wanted + 1 ? count : wanted;
    if (count == 0) {
        return;
    }
    plim_text_append_char(page->out, '\n');
    plim_line line = plim_line_begin(page->out, page->style, 0);
    plim_line_add(&line, PLIM_TONE_HEADING, "What to do");
    plim_line_end(&line);
    for (size_t i = 0; i < shown; i++) {
        char lead[24];
        snprintf(lead, sizeof lead, "%zu.", i + 1);
        plim_paragraph_write(page->out, page->style, 2, PLIM_TONE_PLAIN, lead, advice[i].text);
        if (advice[i].command != NULL) {
            write_command(page, advice[i].command);
        }
    }
    if (shown < count) {
        plim_paragraph_format(page->out, page->style, 2, PLIM_TONE_FAINT,
                              "(%zu more: --all shows them)", count - shown);
    }
}
