/*
 * diff_moments.c - the tables of a comparison: figures, lines of code, categories.
 */
#include "base/numbers.h"
#include "report/model/diff_parts.h"
#include "report/model/frame_text.h"
#include "report/model/inspect_parts.h"

#include <stdlib.h>
#include <string.h>

#define BELOW_INDENT 13u /* below the word that says what became of a line */

static uint64_t size_of(int64_t change)
{
    return change < 0 ? (uint64_t)0 - (uint64_t)change : (uint64_t)change;
}

void plim_diff_change_cell(plim_page *page, int64_t change)
{
    const plim_tone tone = change > 0   ? PLIM_TONE_BAD
                           : change < 0 ? PLIM_TONE_IN_USE
                                        : PLIM_TONE_FAINT;
    plim_page_cell_text(
        page, tone,
        change > 0   ? "+{}"
        : change < 0 ? "-{}"
                     : "{}",
        PLIM_FACTS(plim_bytes(change < 0 ? "shrunk_bytes" : "grown_bytes", size_of(change))));
}

/* --- figures --- */

static void add_share(const plim_diff_part *self, const plim_diff_figure *figure)
{
    const int64_t change = plim_diff_change(figure->before_bytes, figure->after_bytes);
    if (change == 0 || figure->before_bytes == 0) {
        plim_page_cell_text(self->page, PLIM_TONE_FAINT, "", NULL);
        return;
    }
    plim_page_cell_text(
        self->page, PLIM_TONE_FAINT, change > 0 ? "+{}" : "-{}",
        PLIM_FACTS(plim_percent("share", (double)size_of(change) / (double)figure->before_bytes)));
}

static void add_figure(const plim_diff_part *self, plim_diff_figure_id id)
{
    plim_page *const page = self->page;
    const plim_diff_figure *const figure = &self->rank.figures[id];
    const bool is_chosen = self->diffed->after_at != NULL;
    const char *const title = id == PLIM_DIFF_FIGURE_RESERVED && is_chosen ? "reserved then"
                              : id == PLIM_DIFF_FIGURE_AT                  ? "requested"
                                                          : plim_diff_figure_title(id);
    plim_page_cell(page, PLIM_TONE_HEADING, plim_words(title));
    if (!figure->is_known) {
        plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
        plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
        plim_page_cell_text(page, PLIM_TONE_FAINT, "-", NULL);
        plim_page_cell_text(page, PLIM_TONE_FAINT, "", NULL);
        plim_page_cell(page, PLIM_TONE_WARN,
                       plim_words(figure->unknown_because != NULL ? figure->unknown_because : ""));
        return;
    }
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("before_bytes", figure->before_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("after_bytes", figure->after_bytes));
    plim_diff_change_cell(page, plim_diff_change(figure->before_bytes, figure->after_bytes));
    add_share(self, figure);
    plim_page_cell_text(page, PLIM_TONE_FAINT, "", NULL);
}

void plim_diff_figures(const plim_diff_part *self)
{
    static const plim_column columns[] = {
        { "", PLIM_ALIGN_LEFT, 0, 0 },       { "before", PLIM_ALIGN_RIGHT, 0, 9 },
        { "after", PLIM_ALIGN_RIGHT, 0, 9 }, { "change", PLIM_ALIGN_RIGHT, 0, 10 },
        { "", PLIM_ALIGN_RIGHT, 1, 0 },      { "", PLIM_ALIGN_LEFT, 0, 0 },
    };
    const bool is_chosen = self->diffed->after_at != NULL;
    const bool is_one_file = self->diffed->before.history == self->diffed->after.history;
    const plim_diff_figure *const reserved = &self->rank.figures[PLIM_DIFF_FIGURE_RESERVED];
    plim_page_gap(self->page);
    plim_page_table(self->page, "figures", columns, sizeof columns / sizeof columns[0]);
    if (is_chosen) {
        add_figure(self, PLIM_DIFF_FIGURE_AT);
    }
    if (!is_chosen || !is_one_file) {
        add_figure(self, PLIM_DIFF_FIGURE_PEAK);
        add_figure(self, PLIM_DIFF_FIGURE_END);
        add_figure(self, PLIM_DIFF_FIGURE_STEP);
    }
    if (reserved->is_known || reserved->before_bytes != reserved->after_bytes) {
        add_figure(self, PLIM_DIFF_FIGURE_RESERVED); /* a file may have no segments */
    }
}

/* --- lines of code --- */

/* The package that requested it; "" for the user's own code, and for PyTorch, which nearly all is.
 */
static const char *named_package(const plim_diff_group *group)
{
    return group->package == NULL || strcmp(group->package, "torch") == 0 ? "" : group->package;
}

static void add_row(const plim_diff_part *self, const plim_diff_line *row)
{
    plim_page *const page = self->page;
    const char *const package = named_package(row->group);
    plim_diff_change_cell(page, row->change_bytes);
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_words(plim_diff_line_kind(row)));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("before_bytes", row->before_bytes));
    plim_page_cell(page, PLIM_TONE_PLAIN, plim_bytes("after_bytes", row->after_bytes));
    plim_page_cell(page, PLIM_TONE_FAINT, plim_words(plim_category_name(row->group->category)));
    plim_page_cell_text(
        page, PLIM_TONE_USER, "{}{}{}{}",
        PLIM_FACTS(plim_words_of(row->where, row->where_length),
                   plim_toned(PLIM_TONE_FAINT, plim_words(*package != '\0' ? " (" : "")),
                   plim_toned(PLIM_TONE_FAINT, plim_words(package)),
                   plim_toned(PLIM_TONE_FAINT, plim_words(*package != '\0' ? ")" : ""))));
}

/* The innermost code of it that the other side does not have, where the line itself is there. */
static void add_difference(const plim_diff_part *self, const plim_diff_line *row)
{
    const plim_diffed_side *const side = row->is_new ? &self->diffed->after : &self->diffed->before;
    const plim_diff_share *const share = row->is_new ? &row->group->after : &row->group->before;
    if (share->stack == PLIM_NONE || share->differing_frame == PLIM_NONE ||
        share->differing_frame == share->user_frame) {
        return;
    }
    const uint32_t frame =
        plim_history_stack(side->history, share->stack).frames[share->differing_frame];
    plim_page_below(
        self->page, PLIM_TONE_FAINT, row->is_new ? "{} is only after" : "{} is only before",
        PLIM_FACTS(plim_frame_words(self->page, "", side->history, frame, self->view->full_paths)))
        ->indent = BELOW_INDENT;
}

/* The match of code that both sides have, where that is not plain: "likely: renamed in place; was
 * run.py:38 in run". */
static void add_match(const plim_diff_part *self, const plim_diff_line *row)
{
    const plim_diff_group *const group = row->likely != NULL ? row->likely : row->group;
    const char *because = group->because;
    if (row->is_new || row->is_gone) {
        add_difference(self, row);
        return;
    }
    if (row->was == NULL && row->likely == NULL) {
        return;
    }
    if (because == NULL) {
        because = row->likely != NULL ? plim_diff_match_text(PLIM_DIFF_LIKELY) : "";
    }
    const bool is_said = *because != '\0';
    plim_page_below(
        self->page, PLIM_TONE_FAINT, "{}{}{}{}{}",
        PLIM_FACTS(plim_words(row->likely != NULL ? "likely: " : ""), plim_words(because),
                   plim_words(is_said && row->was != NULL ? "; " : ""),
                   plim_words(row->was != NULL ? "was " : ""),
                   row->was != NULL ? plim_words_of(row->was, row->was_length) : plim_words("")))
        ->indent = BELOW_INDENT;
}

static void add_rows(const plim_diff_part *self, const plim_diff_lines *rows, size_t from,
                     size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        const plim_diff_line *const row = &rows->items[i];
        const plim_diffed_side *const side =
            row->group->after.stack != PLIM_NONE ? &self->diffed->after : &self->diffed->before;
        const plim_diff_share *const share =
            row->group->after.stack != PLIM_NONE ? &row->group->after : &row->group->before;
        const plim_stack_group named = { .stack = share->stack, .user_frame = share->user_frame };
        add_row(self, row);
        if (share->stack != PLIM_NONE) {
            plim_page_callers(self->page, side->history, &named, self->view->full_paths);
        }
        add_match(self, row);
    }
}

/* The lines that grew, as far as there is room, then those that shrank, the most first. */
static void say_rows(const plim_diff_part *self, const plim_diff_lines *rows, size_t most)
{
    static const plim_column columns[] = {
        { "change", PLIM_ALIGN_RIGHT, 0, 9 },  { "", PLIM_ALIGN_LEFT, 0, 0 },
        { "before", PLIM_ALIGN_RIGHT, 2, 8 },  { "after", PLIM_ALIGN_RIGHT, 2, 8 },
        { "category", PLIM_ALIGN_LEFT, 1, 0 }, { "where", PLIM_ALIGN_REST, 0, 0 },
    };
    const size_t grown = plim_min(rows->grown, most);
    const size_t shrunk = plim_min(rows->shrunk, grown > 0 ? (most + 1) / 2 : most);
    plim_page_table(self->page, "lines", columns, sizeof columns / sizeof columns[0]);
    add_rows(self, rows, 0, grown);
    for (size_t i = 0; i < shrunk; i++) {
        add_rows(self, rows, rows->count - 1 - i, 1);
    }
    const size_t left = rows->grown + rows->shrunk - grown - shrunk;
    const size_t equal = rows->count - rows->grown - rows->shrunk;
    if (left > 0) {
        plim_page_note(self->page, "more", PLIM_TONE_FAINT, "({}: --top=N shows more)",
                       PLIM_FACTS(plim_count_of("lines_left_out", left, "more line")));
    }
    if (equal > 0) {
        plim_page_note(self->page, "equal", PLIM_TONE_FAINT, "({} as before)",
                       PLIM_FACTS(plim_count_of("lines_equal", equal, "line")));
    }
}

static const char *heading_of(const plim_diff_part *self, plim_diff_moment_kind kind)
{
    switch (kind) {
    case PLIM_DIFF_PEAK:
        return "At the peak";
    case PLIM_DIFF_END:
        return "At the end";
    case PLIM_DIFF_STEP:
        return "What stays of each step, on average";
    case PLIM_DIFF_CHOSEN:
    case PLIM_DIFF_MOMENT_COUNT:
        break;
    }
    const plim_fact before = plim_words(self->diffed->before_at);
    const plim_fact after = plim_words(self->diffed->after_at);
    if (strcmp(self->diffed->before_at, self->diffed->after_at) == 0) {
        return plim_page_text(self->page, "At {}", PLIM_FACTS(after));
    }
    const bool is_one_file = self->diffed->before.history == self->diffed->after.history;
    return plim_page_text(self->page, is_one_file ? "From {} to {}" : "At {} before and {} after",
                          PLIM_FACTS(before, after));
}

static void say_filtered(const plim_diff_part *self, const plim_diff_lines *rows)
{
    if (self->view->stack == NULL && !self->view->one_category) {
        return;
    }
    plim_page_note(self->page, "filtered", PLIM_TONE_PLAIN,
                   rows->count > 0 ? "With these filters: {} before, {} after."
                                   : "With these filters nothing is held then.",
                   rows->count > 0
                       ? PLIM_FACTS(plim_bytes("filtered_before_bytes", rows->total.before_bytes),
                                    plim_bytes("filtered_after_bytes", rows->total.after_bytes))
                       : NULL);
}

static void say_moment(const plim_diff_part *self, plim_diff_moment_kind kind, size_t most)
{
    const plim_diff_moment *const moment = &self->device->moments[kind];
    plim_diff_lines rows;
    if (plim_diff_lines_init(&rows, self->page->arena.mem, self->view, self->diffed, moment,
                             NULL) != PLIM_OK) {
        self->page->status = PLIM_OUT_OF_HOST_MEMORY;
    } else if (rows.grown + rows.shrunk > 0 || self->view->stack != NULL ||
               self->view->one_category) {
        plim_page_heading(self->page, "{}", PLIM_FACTS(plim_words(heading_of(self, kind))));
        say_filtered(self, &rows);
        if (rows.grown + rows.shrunk > 0) {
            say_rows(self, &rows, most);
        }
    }
    plim_diff_lines_deinit(&rows);
}

/* --- categories --- */

typedef struct category_change {
    plim_category category;
    const plim_diff_amount *amount;
    int64_t change;
} category_change;

static int compare_categories(const void *left, const void *right)
{
    const category_change *const a = left;
    const category_change *const b = right;
    if (a->change != b->change) {
        return a->change > b->change ? -1 : 1;
    }
    return (a->category > b->category) - (a->category < b->category);
}

static void say_categories(const plim_diff_part *self, plim_diff_moment_kind kind)
{
    static const char *const headings[PLIM_DIFF_MOMENT_COUNT] = {
        [PLIM_DIFF_PEAK] = "By category, at the peak",
        [PLIM_DIFF_END] = "By category, at the end",
        [PLIM_DIFF_STEP] = "By category, of what stays of each step",
        [PLIM_DIFF_CHOSEN] = "By category, then",
    };
    const plim_diff_moment *const moment = &self->device->moments[kind];
    static const plim_column columns[] = {
        { "change", PLIM_ALIGN_RIGHT, 0, 9 },
        { "before", PLIM_ALIGN_RIGHT, 0, 8 },
        { "after", PLIM_ALIGN_RIGHT, 0, 8 },
        { "category", PLIM_ALIGN_LEFT, 0, 0 },
    };
    category_change changes[PLIM_CATEGORY_COUNT];
    size_t count = 0;
    bool differs = false;
    for (int i = 0; i < PLIM_CATEGORY_COUNT; i++) {
        const plim_diff_amount *const amount = &moment->categories[i];
        const int64_t change = plim_diff_change(amount->before_bytes, amount->after_bytes);
        differs = differs || change != 0;
        if (amount->before_bytes > 0 || amount->after_bytes > 0) {
            changes[count++] = (category_change){ (plim_category)i, amount, change };
        }
    }
    if (!differs) {
        return;
    }
    qsort(changes, count, sizeof changes[0], compare_categories);
    plim_page_heading(self->page, "{}", PLIM_FACTS(plim_words(headings[kind])));
    plim_page_table(self->page, "categories", columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < count; i++) {
        plim_diff_change_cell(self->page, changes[i].change);
        plim_page_cell(self->page, PLIM_TONE_PLAIN,
                       plim_bytes("before_bytes", changes[i].amount->before_bytes));
        plim_page_cell(self->page, PLIM_TONE_PLAIN,
                       plim_bytes("after_bytes", changes[i].amount->after_bytes));
        plim_page_cell(self->page, PLIM_TONE_HEADING,
                       plim_words(plim_category_name(changes[i].category)));
    }
}

void plim_diff_groups(const plim_diff_part *self)
{
    static const plim_diff_figure_id order[] = { PLIM_DIFF_FIGURE_AT, PLIM_DIFF_FIGURE_PEAK,
                                                 PLIM_DIFF_FIGURE_STEP, PLIM_DIFF_FIGURE_END };
    const plim_diff_figure *const figures = self->rank.figures;
    const plim_diff_figure_id subject = self->rank.subject;
    const plim_diff_moment *const moments = self->device->moments;
    const size_t most = self->view->top > 0 ? self->view->top : PLIM_DIFF_TOP;
    if (!figures[subject].is_known) {
        return;
    }
    if (self->has_stacks) {
        say_moment(self, plim_diff_moment_of(subject), most);
    }
    say_categories(self, plim_diff_moment_of(subject));
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const plim_diff_moment *const moment = &moments[plim_diff_moment_of(order[i])];
        const bool is_wanted = self->diffed->after_at == NULL || order[i] == PLIM_DIFF_FIGURE_AT;
        if (order[i] != subject && is_wanted && figures[order[i]].is_known && !moment->is_same &&
            plim_diff_has_stacks(moment)) {
            say_moment(self, plim_diff_moment_of(order[i]), (most + 1) / 2);
        }
    }
}
