/*
 * diff_answer.c - the change that matters, in a sentence or two.
 */
#include "base/numbers.h"
#include "report/model/diff_parts.h"
#include "report/model/inspect_parts.h"

static const plim_diff_figure *figure_of(const plim_diff_part *self, plim_diff_figure_id figure)
{
    return &self->rank.figures[figure];
}

static uint64_t size_of(int64_t change)
{
    return change < 0 ? (uint64_t)0 - (uint64_t)change : (uint64_t)change;
}

static int64_t change_of(const plim_diff_figure *figure)
{
    return plim_diff_change(figure->before_bytes, figure->after_bytes);
}

/* --- without a difference -----------------------------------------------------------------------
 */

/* "peak, end and what stays of each step", of those that could be compared. */
static const char *list_compared(const plim_diff_part *self)
{
    static const struct {
        plim_diff_figure_id figure;
        const char *words;
    } held[] = {
        { PLIM_DIFF_FIGURE_AT, "the memory at the moments that were chosen" },
        { PLIM_DIFF_FIGURE_PEAK, "peak" },
        { PLIM_DIFF_FIGURE_END, "end" },
        { PLIM_DIFF_FIGURE_STEP, "what stays of each step" },
    };
    const char *words[sizeof held / sizeof held[0]];
    size_t count = 0;
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        if (figure_of(self, held[i].figure)->is_known) {
            words[count++] = held[i].words;
        }
    }
    const char *list = "";
    for (size_t i = 0; i < count; i++) {
        const char *const before = i == 0 ? "" : i + 1 < count ? ", " : " and ";
        list =
            plim_page_text(self->page, "{}{}{}",
                           PLIM_FACTS(plim_words(list), plim_words(before), plim_words(words[i])));
    }
    return list;
}

static bool is_cut(const plim_diff_part *self)
{
    const plim_device_inspection *const before =
        plim_diff_facts(&self->diffed->before, self->device->device);
    const plim_device_inspection *const after =
        plim_diff_facts(&self->diffed->after, self->device->device);
    return (before != NULL && before->truncated) || (after != NULL && after->truncated);
}

static void say_same(const plim_diff_part *self)
{
    size_t known = 0;
    for (int i = 0; i <= PLIM_DIFF_FIGURE_END; i++) {
        known += self->rank.figures[i].is_known;
    }
    plim_page_say(self->page, "answer", PLIM_TONE_IN_USE, "{}: {} {} equal to the byte.",
                  PLIM_FACTS(plim_words(is_cut(self) ? "No difference in what was recorded"
                                                     : "No difference"),
                             plim_words(list_compared(self)),
                             plim_words(known > 1 ? "are" : "is")));
}

static void say_incomparable(const plim_diff_part *self)
{
    const char *const because = figure_of(self, PLIM_DIFF_FIGURE_PEAK)->unknown_because;
    plim_page_say(self->page, "answer", PLIM_TONE_WARN, "Nothing can be compared: {}.",
                  PLIM_FACTS(plim_words(because != NULL ? because : "nothing is recorded")));
}

/* A device that the other recording does not have, and what it holds. */
static void say_one_side(const plim_diff_part *self)
{
    const plim_diff_figure *const peak = figure_of(self, PLIM_DIFF_FIGURE_PEAK);
    const bool is_after = self->rank.in_after;
    plim_page_say(
        self->page, "answer", PLIM_TONE_WARN, "{} has memory {} alone: {} at its peak.",
        PLIM_FACTS(plim_words(plim_device_name(self->page, self->device->device)),
                   plim_words(is_after ? "after" : "before"),
                   plim_bytes("peak_bytes", is_after ? peak->after_bytes : peak->before_bytes)));
}

/* --- the line of code ---------------------------------------------------------------------------
 */

static bool is_named(const plim_diff_line *row)
{
    return row->group->before.stack != PLIM_NONE || row->group->after.stack != PLIM_NONE;
}

/* The line that changed most in the direction of the sum. is_named  whether it has a stack
 * returns NULL: no line did */
static const plim_diff_line *find_cause(const plim_diff_lines *rows, bool grew, bool wants_name)
{
    const size_t count = grew ? rows->grown : rows->shrunk;
    for (size_t i = 0; i < count; i++) {
        const plim_diff_line *const row = &rows->items[grew ? i : rows->count - 1 - i];
        if (is_named(row) == wants_name) {
            return row;
        }
    }
    return NULL;
}

/* Of a line that is said: others changed as well, it is the only one, or it follows others. */
typedef enum line_place { LINE_OF_SEVERAL, LINE_ALONE, LINE_AFTER } line_place;

/* "0.94 GiB of it at train.py:41 in step (activations), which is new" */
static void add_line(const plim_diff_part *self, const plim_diff_line *row, int64_t change,
                     line_place place)
{
    const bool grew = change > 0;
    const bool is_within = size_of(row->change_bytes) <= size_of(change);
    const bool is_all = place == LINE_ALONE && row->change_bytes == change;
    const plim_fact size =
        plim_toned(PLIM_TONE_HEADING, plim_bytes(grew ? "line_grown_bytes" : "line_shrunk_bytes",
                                                 size_of(row->change_bytes)));
    plim_page_more(
        self->page, "{}{}{} at {}",
        PLIM_FACTS(is_all ? plim_words("all") : size,
                   plim_words(!is_within            ? (grew ? " more" : " less")
                              : place == LINE_AFTER ? ""
                                                    : " of it"),
                   plim_words(row->likely_bytes > 0 ? ", probably," : ""),
                   plim_toned(PLIM_TONE_USER, plim_words_of(row->where, row->where_length))));
    if (row->group->category != PLIM_CATEGORY_OTHER) {
        plim_page_more(self->page, " ({})",
                       PLIM_FACTS(plim_words(plim_category_name(row->group->category))));
    }
    plim_page_more(self->page, "{}{}",
                   PLIM_FACTS(plim_words(row->is_new    ? ", which is new"
                                         : row->is_gone ? ", which is gone"
                                                        : ""),
                              plim_words(is_within ? ""
                                         : grew    ? "; other code holds less"
                                                   : "; other code holds more")));
}

/* The lines of code, after a colon: what has no stack is said beside the largest that has one. */
static void add_cause(const plim_diff_part *self, const plim_diff_lines *rows, int64_t change)
{
    const bool grew = change > 0;
    const plim_diff_line *const named = find_cause(rows, grew, true);
    const plim_diff_line *const other = find_cause(rows, grew, false);
    const bool says_other = other != NULL && (named == NULL || size_of(other->change_bytes) >
                                                                   size_of(named->change_bytes));
    if (named != NULL || says_other) {
        plim_page_more(self->page, ": ", NULL);
    }
    if (says_other) {
        plim_page_more(self->page, "{} without a recorded stack",
                       PLIM_FACTS(plim_bytes("no_stack_bytes", size_of(other->change_bytes))));
    }
    if (named != NULL) {
        plim_page_more(self->page, says_other ? ", " : "", NULL);
        add_line(self, named, change,
                 says_other                        ? LINE_AFTER
                 : rows->grown + rows->shrunk == 1 ? LINE_ALONE
                                                   : LINE_OF_SEVERAL);
    }
    plim_page_more(self->page, ".", NULL);
}

/* --- the change ---------------------------------------------------------------------------------
 */

static const char *percent_of(const plim_diff_part *self, const plim_diff_figure *figure)
{
    if (figure->before_bytes == 0) {
        return "";
    }
    const int64_t change = change_of(figure);
    return plim_page_text(
        self->page, change < 0 ? " (-{})" : " (+{})",
        PLIM_FACTS(plim_percent("share", (double)size_of(change) / (double)figure->before_bytes)));
}

/* "Peak grew by 1.21 GiB (+23%)" */
static void say_change(const plim_diff_part *self, plim_diff_figure_id id)
{
    const plim_diff_figure *const figure = figure_of(self, id);
    const int64_t change = change_of(figure);
    const bool grew = change > 0;
    const plim_fact size = plim_toned(
        PLIM_TONE_HEADING, plim_bytes(grew ? "grown_bytes" : "shrunk_bytes", size_of(change)));
    const plim_fact percent = plim_words(percent_of(self, figure));
    const plim_tone tone = grew ? PLIM_TONE_PLAIN : PLIM_TONE_IN_USE;
    if (id == PLIM_DIFF_FIGURE_AT && self->diffed->before.history == self->diffed->after.history) {
        plim_page_say(self->page, "answer", tone, "Memory {} by {}{} from {} to {}",
                      PLIM_FACTS(plim_words(grew ? "grew" : "shrank"), size, percent,
                                 plim_words(self->diffed->before_at),
                                 plim_words(self->diffed->after_at)));
    } else if (id == PLIM_DIFF_FIGURE_AT) {
        plim_page_say(self->page, "answer", tone, "{} {} is held at {}{}",
                      PLIM_FACTS(size, plim_words(grew ? "more" : "less"),
                                 plim_words(self->diffed->after_at), percent));
    } else if (id == PLIM_DIFF_FIGURE_STEP) {
        plim_page_say(self->page, "answer", tone,
                      "On average {} {} stays of each step ({} instead of {})",
                      PLIM_FACTS(size, plim_words(grew ? "more" : "less"),
                                 plim_bytes("after_bytes", figure->after_bytes),
                                 plim_bytes("before_bytes", figure->before_bytes)));
    } else if (id == PLIM_DIFF_FIGURE_END) {
        plim_page_say(self->page, "answer", tone, "{} {} is held at the end{}",
                      PLIM_FACTS(size, plim_words(grew ? "more" : "less"), percent));
    } else {
        plim_page_say(self->page, "answer", tone, "Peak {} by {}{}",
                      PLIM_FACTS(plim_words(grew ? "grew" : "shrank"), size, percent));
    }
}

/* The sums are equal, and yet other code or other categories hold them; or reserved alone differs.
 */
static void say_other_makeup(const plim_diff_part *self, const plim_diff_lines *rows)
{
    const plim_diff_figure *const reserved = figure_of(self, PLIM_DIFF_FIGURE_RESERVED);
    const int64_t change = reserved->is_known ? change_of(reserved) : 0;
    if (rows->grown > 0) {
        plim_page_say(
            self->page, "answer", PLIM_TONE_PLAIN,
            "The sum is as before, but not what it is made of: {} more at {}.",
            PLIM_FACTS(
                plim_toned(PLIM_TONE_HEADING,
                           plim_bytes("line_grown_bytes", size_of(rows->items[0].change_bytes))),
                plim_toned(PLIM_TONE_USER,
                           plim_words_of(rows->items[0].where, rows->items[0].where_length))));
    } else if (change != 0) {
        plim_page_say(self->page, "answer", PLIM_TONE_PLAIN,
                      "The program holds as much as before, but {} {} is reserved for it.",
                      PLIM_FACTS(plim_toned(PLIM_TONE_HEADING,
                                            plim_bytes(change > 0 ? "grown_bytes" : "shrunk_bytes",
                                                       size_of(change))),
                                 plim_words(change > 0 ? "more" : "less")));
    } else {
        plim_page_say(
            self->page, "answer", PLIM_TONE_PLAIN,
            "As much as before is held by every line, but not by the same calls or for the "
            "same purposes.",
            NULL);
    }
}

/* A second sentence: growth per step, and a peak that went the other way. */
static void add_others(const plim_diff_part *self)
{
    const plim_diff_figure *const step = figure_of(self, PLIM_DIFF_FIGURE_STEP);
    const plim_diff_figure *const peak = figure_of(self, PLIM_DIFF_FIGURE_PEAK);
    if (self->rank.subject == PLIM_DIFF_FIGURE_PEAK && step->is_known && change_of(step) > 0) {
        plim_page_more(self->page, " On average {} more stays of each step.",
                       PLIM_FACTS(plim_bytes("step_grown_bytes", size_of(change_of(step)))));
    }
    if ((self->rank.subject == PLIM_DIFF_FIGURE_STEP ||
         self->rank.subject == PLIM_DIFF_FIGURE_END) &&
        peak->is_known && change_of(peak) != 0) {
        plim_page_more(self->page, " The peak {} by {}.",
                       PLIM_FACTS(plim_words(change_of(peak) > 0 ? "grew" : "shrank"),
                                  plim_bytes("peak_change_bytes", size_of(change_of(peak)))));
    }
}

static void say_difference(plim_diff_part *self, const plim_diff_lines *rows)
{
    const int64_t change = change_of(figure_of(self, self->rank.subject));
    if (change == 0) {
        say_other_makeup(self, rows);
        return;
    }
    say_change(self, self->rank.subject);
    add_cause(self, rows, change);
    add_others(self);
}

void plim_diff_answer(plim_diff_part *self)
{
    const plim_diff_view whole = { .full_paths = self->view->full_paths };
    const plim_diff_moment *const moment =
        &self->device->moments[plim_diff_moment_of(self->rank.subject)];
    plim_diff_lines rows = { 0 };
    if (self->rank.in_before != self->rank.in_after) {
        say_one_side(self);
        return;
    }
    if (self->rank.is_same) {
        say_same(self);
        return;
    }
    if (!figure_of(self, self->rank.subject)->is_known) {
        say_incomparable(self);
        return;
    }
    self->has_stacks = plim_diff_has_stacks(moment);
    if (self->has_stacks && plim_diff_lines_init(&rows, self->page->arena.mem, &whole, self->diffed,
                                                 moment, NULL) != PLIM_OK) {
        self->page->status = PLIM_OUT_OF_HOST_MEMORY;
    } else {
        say_difference(self, &rows);
    }
    plim_diff_lines_deinit(&rows);
}
