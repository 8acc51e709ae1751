/*
 * diff_conditions.c - what bounds a comparison: what was not recorded on a side, and what else than
 * the code differs.
 */
#include "report/model/diff_parts.h"
#include "report/model/inspect_parts.h"
#include "report/model/settings_text.h"

#include <string.h>

/* A page about one device on one side. */
typedef struct one_side {
    const plim_diff_part *part;
    const char *name; /* "before", "after"; "" where both are one file */
    const plim_diffed_side *side;
    uint64_t steps;
} one_side;

/* "Before: events are lost (…): …" */
static void say_cut(const one_side *self)
{
    const plim_device_inspection *const facts =
        plim_diff_facts(self->side, self->part->device->device);
    plim_page *const page = self->part->page;
    if (facts == NULL) {
        return;
    }
    if (facts->events == 0 && plim_inspect_has_memory(facts)) {
        plim_page_warn(page, "no_events",
                       "{} has the state at the end alone, no events: peaks and steps cannot be "
                       "compared.",
                       PLIM_FACTS(plim_words(self->name)));
    } else if (facts->truncated) {
        const char *const because = facts->truncated_because;
        plim_page_warn(page, "events_lost",
                       "{} lacks events{}{}{}: its peak is the highest moment of what was "
                       "recorded.",
                       PLIM_FACTS(plim_words(self->name), plim_words(because != NULL ? " (" : ""),
                                  plim_words(because != NULL ? because : ""),
                                  plim_words(because != NULL ? ")" : "")));
    } else if (facts->late_start) {
        plim_page_warn(
            page, "late_start", "{} began late: {} in {} were live before its first event.",
            PLIM_FACTS(plim_words(self->name),
                       plim_bytes("start_requested_bytes", facts->start_requested_bytes),
                       plim_count_of("start_live_count", facts->start_live_count, "allocation")));
    }
}

/* --- stacks --- */

static void say_stacks(const plim_diff_part *self)
{
    const plim_diff_moment *const moment =
        &self->device->moments[plim_diff_moment_of(self->rank.subject)];
    if (moment->is_known && !plim_diff_has_stacks(moment)) {
        plim_page_warn(self->page, "no_stacks",
                       "One side has no stacks: which lines of code changed cannot be concluded, "
                       "only how much.",
                       NULL);
    }
}

/* --- releases, settings, steps --- */

static void say_release(const plim_diff_part *self)
{
    const char *const before = plim_history_source(self->diffed->before.history).generation;
    const char *const after = plim_history_source(self->diffed->after.history).generation;
    if (before != NULL && after != NULL && *before != '\0' && *after != '\0' &&
        strcmp(before, after) != 0) {
        plim_page_note(self->page, "other_release", PLIM_TONE_PLAIN,
                       "By their fields the files are of different releases: {} before, {} after.",
                       PLIM_FACTS(plim_words(before), plim_words(after)));
    }
}

static void say_settings(const plim_diff_part *self)
{
    plim_text texts[2];
    const plim_history *const histories[2] = { self->diffed->before.history,
                                               self->diffed->after.history };
    uint64_t counts[2];
    (void)plim_history_settings(histories[0], &counts[0]);
    (void)plim_history_settings(histories[1], &counts[1]);
    if ((counts[0] == 0) != (counts[1] == 0)) {
        plim_page_note(self->page, "settings_unknown", PLIM_TONE_PLAIN,
                       "The allocator's settings are not recorded {}.",
                       PLIM_FACTS(plim_words(counts[0] == 0 ? "before" : "after")));
        return;
    }
    for (int i = 0; i < 2; i++) {
        plim_text_init(&texts[i], self->page->arena.mem, PLIM_SCRATCH_BYTES_MAX);
        plim_settings_text_add_other(&texts[i], histories[i], histories[1 - i]);
        if (texts[i].status == PLIM_OUT_OF_HOST_MEMORY) {
            self->page->status = PLIM_OUT_OF_HOST_MEMORY;
        }
    }
    if (texts[0].length + texts[1].length > 0) {
        plim_page_note(
            self->page, "other_settings", PLIM_TONE_PLAIN,
            "The allocator's settings differ: {} before, {} after.",
            PLIM_FACTS(
                plim_words(texts[0].length > 0 ? plim_text_string(&texts[0]) : "the defaults"),
                plim_words(texts[1].length > 0 ? plim_text_string(&texts[1]) : "the defaults")));
    }
    plim_text_deinit(&texts[0]);
    plim_text_deinit(&texts[1]);
}

static void say_steps(const plim_diff_part *self)
{
    const plim_diff_device *const device = self->device;
    if (device->before_steps != device->after_steps && device->in_before && device->in_after) {
        plim_page_note(self->page, "other_steps", PLIM_TONE_PLAIN,
                       "The programs did not run equally long: {} before, {} after.{}",
                       PLIM_FACTS(plim_count_of("before_steps", device->before_steps, "step"),
                                  plim_count_of("after_steps", device->after_steps, "step"),
                                  plim_words(self->rank.figures[PLIM_DIFF_FIGURE_STEP].is_known
                                                 ? " What stays of each step is comparable all "
                                                   "the same."
                                                 : "")));
    }
}

void plim_diff_conditions(const plim_diff_part *self)
{
    const bool is_one_file = self->diffed->before.history == self->diffed->after.history;
    const one_side before = { .part = self,
                              .name = is_one_file ? "The recording" : "The recording before",
                              .side = &self->diffed->before };
    const one_side after = { .part = self,
                             .name = "The recording after",
                             .side = &self->diffed->after };
    say_cut(&before);
    if (!is_one_file) {
        say_cut(&after);
    }
    say_stacks(self);
    if (!is_one_file) {
        say_release(self);
        say_settings(self);
        say_steps(self);
    }
}
