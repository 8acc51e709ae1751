/*
 * explain_fixes.c - what to do next: a sentence, and the line to type.
 *
 * Commands are there to be copied, so they alone are never cut or wrapped: where one is longer
 * than the page is wide, the terminal breaks it and copies it whole.
 */
#include "report/model/explain_parts.h"

#include <string.h>

#define RECORDING_ID "record-snapshot" /* of the fix that is to record */

static void say_command(plim_page *page, const char *command)
{
    while (*command != '\0') {
        const size_t bytes = strcspn(command, "\n");
        plim_item *line = plim_page_say(page, "command", PLIM_TONE_USER, "{}",
                                        PLIM_FACTS(plim_words_of(command, bytes)));
        line->layout = PLIM_LAYOUT_COPY;
        line->indent = bytes > 0 ? PLIM_PAGE_COMMAND_INDENT : 0;
        command += bytes + (command[bytes] == '\n' ? 1 : 0);
    }
}

static bool is_apart(const plim_explaining *self, const plim_advice *advice)
{
    return self->view->with_recording && strcmp(advice->id, RECORDING_ID) == 0;
}

/* The lines of the fix in full, for a reader whose run has just died unrecorded. */
static void say_recording(plim_page *page)
{
    plim_page_heading(page, "Next time, record who holds what", NULL);
    say_command(page, "torch.cuda.memory._record_memory_history()  # before training\n"
                      "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")  # where it fails");
    plim_page_note(page, RECORDING_ID, PLIM_TONE_PLAIN,
                   "and then plimsoll diagnose snapshot.pickle.", NULL);
}

static void say_fix(plim_page *page, const plim_advice *advice, size_t number)
{
    plim_page_note(page, advice->id, PLIM_TONE_PLAIN, "{}", PLIM_FACTS(plim_words(advice->text)))
        ->lead = plim_page_text(page, "{}.", PLIM_FACTS(plim_plain(NULL, number)));
    if (advice->command != NULL) {
        say_command(page, advice->command);
    }
}

void plim_explained_fixes(const plim_explaining *self, const plim_advice *advice, size_t count)
{
    const uint32_t wanted =
        self->view->fixes_max > 0 ? self->view->fixes_max : PLIM_EXPLAIN_FIXES_SHOWN;
    size_t apart = 0;
    for (size_t i = 0; i < count; i++) {
        apart += is_apart(self, &advice[i]);
    }
    const size_t numbered = count - apart;
    /* A rest of one is shown as what it is. */
    const bool all_fit = self->view->all || numbered <= (size_t)wanted + 1;
    const size_t most = all_fit ? numbered : wanted;
    size_t shown = 0;
    if (numbered > 0) {
        plim_page_heading(self->page, "What to do", NULL);
    }
    for (size_t i = 0; i < count && shown < most; i++) {
        if (!is_apart(self, &advice[i])) {
            say_fix(self->page, &advice[i], ++shown);
        }
    }
    if (shown < numbered) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more: --all shows them)",
                       PLIM_FACTS(plim_count("fixes_left_out", numbered - shown)));
    }
    if (apart > 0) {
        say_recording(self->page);
    }
}
