/*
 * diagnose_fixes.c - what helps, what it saves and how that is known, and the line to change.
 */
#include "report/model/diagnose_parts.h"

#include <string.h>

static void say_saving(const plim_diagnose_part *self, const plim_diagnosis_advice *advice)
{
    static const char *const texts[] = {
        [PLIM_BASIS_COMPUTED] = " Saves {} at the peak (computed)",
        [PLIM_BASIS_REPLAYED] = " Saves {} at the peak (replayed)",
        [PLIM_BASIS_BOUNDED] = " Saves at most {} at the peak",
        [PLIM_BASIS_UNKNOWN] = " Saves about {} at the peak",
    };
    if (advice->has_saving) {
        plim_page_more(self->page, texts[advice->basis],
                       PLIM_FACTS(plim_toned(PLIM_TONE_HEADING,
                                             plim_bytes("saves_bytes", advice->saves_bytes))));
    } else {
        plim_page_more(self->page, " The recording does not show how much it saves", NULL);
    }
    if (advice->cost != NULL) {
        plim_page_more(self->page, "; cost: {}", PLIM_FACTS(plim_words(advice->cost)));
    }
    plim_page_more(self->page, ".", NULL);
}

static void say_change(const plim_diagnose_part *self, const char *change)
{
    while (change != NULL && *change != '\0') {
        const size_t bytes = strcspn(change, "\n");
        plim_item *const line = plim_page_say(self->page, "change", PLIM_TONE_USER, "{}",
                                              PLIM_FACTS(plim_words_of(change, bytes)));
        line->layout = PLIM_LAYOUT_COPY;
        line->indent = bytes > 0 ? PLIM_PAGE_COMMAND_INDENT : 0;
        change += bytes + (change[bytes] == '\n' ? 1 : 0);
    }
}

void plim_diagnose_fix(const plim_diagnose_part *self, const plim_diagnosis_advice *advice,
                       size_t number)
{
    plim_page_note(self->page, "advice", PLIM_TONE_PLAIN, "{}",
                   PLIM_FACTS(plim_words(advice->text)))
        ->lead = plim_page_text(self->page, "{}.", PLIM_FACTS(plim_plain(NULL, number)));
    say_saving(self, advice);
    say_change(self, advice->change);
}

void plim_diagnose_fixes(const plim_diagnose_part *self)
{
    const size_t count = self->device->advice_count;
    const size_t shown =
        self->view->all || count <= PLIM_DIAGNOSE_FIXES_SHOWN ? count : PLIM_DIAGNOSE_FIXES_SHOWN;
    if (count == 0) {
        return;
    }
    plim_page_heading(self->page,
                      self->device->verdict == PLIM_VERDICT_HEALTHY ? "What would save memory"
                                                                    : "What to do",
                      NULL);
    for (size_t i = 0; i < shown; i++) {
        plim_diagnose_fix(self, &self->device->advice[i], i + 1);
    }
    if (shown < count) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({} more: --all shows them)",
                       PLIM_FACTS(plim_count("fixes_left_out", count - shown)));
    }
}
