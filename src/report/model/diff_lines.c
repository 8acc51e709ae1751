/*
 * diff_lines.c - see diff_lines.h.
 *
 * A group that both sides have joins the row of its line after. Code that is only after joins that
 * row too, and code that is only before the row whose line before is its own: so a line that calls
 * another kernel than before is one row, and not one that is new and one that is gone.
 */
#include "report/model/diff_lines.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/numbers.h"
#include "base/text.h"
#include "report/model/frame_text.h"
#include "report/model/stack_text.h"

#include <stdlib.h>
#include <string.h>

#define LABEL_BYTES_MAX ((size_t)1 << 20)
#define NO_ROW          UINT32_MAX

/* A line of code as it is said: rows are put together by it, as the folders of two runs differ. */
typedef struct row_label {
    const char *text;
    size_t length;
    uint32_t row_after;  /* of the row with this line after, */
    uint32_t row_before; /* or before; or NO_ROW */
} row_label;

typedef struct row_maker {
    plim_diff_lines *rows;
    const plim_mem *mem;
    const plim_diff_view *view;
    const plim_diffed *diffed;
    plim_diff_filter filter;
    plim_intern index;
    PLIM_VEC(row_label) labels;
    PLIM_VEC(plim_diff_line) made;
    plim_text scratch;
} row_maker;

int64_t plim_diff_change(uint64_t before, uint64_t after)
{
    const uint64_t size = after > before ? after - before : before - after;
    const int64_t cut = size > INT64_MAX ? INT64_MAX : (int64_t)size;
    return after >= before ? cut : -cut;
}

const char *plim_diff_line_kind(const plim_diff_line *row)
{
    return row->is_new             ? "new"
           : row->is_gone          ? "gone"
           : row->change_bytes > 0 ? "grown"
           : row->change_bytes < 0 ? "shrunk"
                                   : "equal";
}

/* --- filters --- */

plim_status plim_diff_filter_init(plim_diff_filter *ret, const plim_mem *mem,
                                  const plim_diff_view *view, const plim_diffed *diffed,
                                  plim_error *err)
{
    *ret = (plim_diff_filter){ .view = view };
    if (view->stack == NULL) {
        return PLIM_OK;
    }
    PLIM_TRY(plim_stack_filter_init(&ret->before, diffed->before.history, view->stack, mem, err));
    return plim_stack_filter_init(&ret->after, diffed->after.history, view->stack, mem, err);
}

void plim_diff_filter_deinit(plim_diff_filter *filter)
{
    plim_stack_filter_deinit(&filter->before);
    plim_stack_filter_deinit(&filter->after);
}

bool plim_diff_shows(const plim_diff_filter *filter, const plim_diff_group *group)
{
    const plim_diff_view *const view = filter->view;
    if (view->one_category && group->category != view->category) {
        return false;
    }
    return view->stack == NULL || plim_stack_filter_passes(&filter->before, group->before.stack) ||
           plim_stack_filter_passes(&filter->after, group->after.stack);
}

/* --- labels --- */

static bool equals_label(const void *table, uint32_t id, const void *wanted)
{
    const row_label *const label = &((const row_label *)table)[id];
    const row_label *const other = wanted;
    return label->length == other->length && memcmp(label->text, other->text, other->length) == 0;
}

/* The text of a side's line; false without memory. */
static bool write_line(row_maker *make, const plim_history *history, const plim_diff_share *share,
                       bool full, const char **ret, size_t *ret_length)
{
    const plim_stack_group group = { .stack = share->stack, .user_frame = share->user_frame };
    const uint32_t frame =
        share->stack == PLIM_NONE ? PLIM_NONE : plim_stack_label_frame(history, &group);
    plim_text_reset(&make->scratch);
    if (frame == PLIM_NONE) {
        plim_text_append_string(&make->scratch, "no stack recorded");
    } else {
        plim_frame_text_add(&make->scratch, history, frame, full);
    }
    *ret_length = make->scratch.length;
    *ret =
        plim_arena_copy(&make->rows->arena, plim_text_string(&make->scratch), make->scratch.length);
    return *ret != NULL && make->scratch.status != PLIM_OUT_OF_HOST_MEMORY;
}

/* The label of a side of a group; false without memory. */
static bool label_of(row_maker *make, const plim_history *history, const plim_diff_share *share,
                     uint32_t *ret)
{
    row_label label = { .row_after = NO_ROW, .row_before = NO_ROW };
    if (!write_line(make, history, share, make->view->full_paths, &label.text, &label.length)) {
        return false;
    }
    const uint64_t hash = plim_hash_bytes(label.text, label.length, make->index.key);
    *ret = plim_intern_find(&make->index, hash, equals_label, make->labels.items, &label);
    return *ret != PLIM_INTERN_ABSENT || (PLIM_VEC_PUSH(make->mem, &make->labels, label) &&
                                          plim_intern_add(&make->index, hash, ret));
}

/* --- rows --- */

/* A group that both sides have may hold nothing on one of them at this moment: without a stack. */
static bool is_there(const plim_diff_share *share)
{
    return share->stack != PLIM_NONE || share->bytes > 0;
}

static bool is_larger(const plim_diff_group *group, const plim_diff_group *than)
{
    return plim_max(group->before.bytes, group->after.bytes) >
           plim_max(than->before.bytes, than->after.bytes);
}

static void add_to_row(plim_diff_line *row, const plim_diff_group *group)
{
    row->before_bytes = plim_plus(row->before_bytes, group->before.bytes);
    row->after_bytes = plim_plus(row->after_bytes, group->after.bytes);
    row->has_before = row->has_before || is_there(&group->before);
    row->before_count = plim_plus(row->before_count, group->before.count);
    row->after_count = plim_plus(row->after_count, group->after.count);
    row->is_new = row->is_new && group->match == PLIM_DIFF_NEW;
    row->is_gone = row->is_gone && group->match == PLIM_DIFF_GONE;
    if (group->match == PLIM_DIFF_LIKELY) {
        row->likely_bytes =
            plim_plus(row->likely_bytes, plim_max(group->before.bytes, group->after.bytes));
    }
    if (group->match == PLIM_DIFF_LIKELY &&
        (row->likely == NULL || is_larger(group, row->likely))) {
        row->likely = group;
    }
    if (row->group == NULL || is_larger(group, row->group)) {
        row->group = group;
    }
    row->group_count++;
}

/* The row that a group's labels lead to, or the place where its number is to be put. */
static uint32_t *find_place(const row_maker *make, uint32_t before, uint32_t after)
{
    if (after != PLIM_INTERN_ABSENT) {
        return &make->labels.items[after].row_after;
    }
    row_label *const label = &make->labels.items[before];
    if (label->row_before == NO_ROW && label->row_after != NO_ROW &&
        !make->made.items[label->row_after].has_before) {
        label->row_before = label->row_after; /* the same line, and no other line is it */
    }
    return &label->row_before;
}

/* Adds a group to the row that its labels lead to, which is made if it is not there. */
static bool place_group(row_maker *make, const plim_diff_group *group)
{
    uint32_t before = PLIM_INTERN_ABSENT;
    uint32_t after = PLIM_INTERN_ABSENT;
    if ((is_there(&group->before) &&
         !label_of(make, make->diffed->before.history, &group->before, &before)) ||
        (is_there(&group->after) &&
         !label_of(make, make->diffed->after.history, &group->after, &after))) {
        return false;
    }
    uint32_t *const place = find_place(make, before, after);
    if (*place == NO_ROW) {
        const plim_diff_line row = { .is_new = true, .is_gone = true };
        *place = (uint32_t)make->made.count;
        if (!PLIM_VEC_PUSH(make->mem, &make->made, row)) {
            return false;
        }
    }
    const uint32_t row = *place;
    if (before != PLIM_INTERN_ABSENT && make->labels.items[before].row_before == NO_ROW) {
        make->labels.items[before].row_before = row;
    }
    add_to_row(&make->made.items[row], group);
    return true;
}

/* Those of both sides first: they say which line before a row has. Then what is after alone, then
 * what is before alone. */
static bool place_all(row_maker *make, const plim_diff_moment *moment)
{
    static const bool passes[][2] = { { true, true }, { false, true }, { true, false } };
    for (size_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++) {
        for (size_t i = 0; i < moment->group_count; i++) {
            const plim_diff_group *const group = &moment->groups[i];
            if (is_there(&group->before) == passes[pass][0] &&
                is_there(&group->after) == passes[pass][1] &&
                plim_diff_shows(&make->filter, group) && !place_group(make, group)) {
                return false;
            }
        }
    }
    return true;
}

/* --- their words and their order --- */

static bool name_row(row_maker *make, plim_diff_line *row)
{
    const plim_diff_group *const group = row->group;
    const bool full = make->view->full_paths;
    const bool has_before = is_there(&group->before);
    const bool has_after = is_there(&group->after);
    if (has_before && !write_line(make, make->diffed->before.history, &group->before, full,
                                  &row->was, &row->was_length)) {
        return false;
    }
    if (!has_after) {
        row->where = row->was;
        row->where_length = row->was_length;
        row->was = NULL;
        return true;
    }
    if (!write_line(make, make->diffed->after.history, &group->after, full, &row->where,
                    &row->where_length)) {
        return false;
    }
    if (has_before && row->was_length == row->where_length &&
        memcmp(row->was, row->where, row->was_length) == 0) {
        row->was = NULL;
    }
    return true;
}

/* Most growth first; equal ones by size, then in the engine's order. */
static int compare_rows(const void *left, const void *right)
{
    const plim_diff_line *const a = left;
    const plim_diff_line *const b = right;
    if (a->change_bytes != b->change_bytes) {
        return a->change_bytes > b->change_bytes ? -1 : 1;
    }
    if (a->after_bytes != b->after_bytes) {
        return a->after_bytes > b->after_bytes ? -1 : 1;
    }
    return a->group < b->group ? -1 : a->group > b->group;
}

static bool finish_rows(row_maker *make)
{
    plim_diff_lines *const rows = make->rows;
    rows->count = make->made.count;
    rows->items = plim_arena_alloc(&rows->arena, rows->count * sizeof *rows->items);
    if (rows->items == NULL) {
        rows->count = 0;
        return false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        plim_diff_line *const row = &make->made.items[i];
        row->change_bytes = plim_diff_change(row->before_bytes, row->after_bytes);
        rows->grown += row->change_bytes > 0;
        rows->shrunk += row->change_bytes < 0;
        rows->total.before_bytes = plim_plus(rows->total.before_bytes, row->before_bytes);
        rows->total.after_bytes = plim_plus(rows->total.after_bytes, row->after_bytes);
        if (!name_row(make, row)) {
            return false;
        }
        rows->items[i] = *row;
    }
    if (rows->count > 1) {
        qsort(rows->items, rows->count, sizeof *rows->items, compare_rows);
    }
    return true;
}

plim_status plim_diff_lines_init(plim_diff_lines *ret, const plim_mem *mem,
                                 const plim_diff_view *view, const plim_diffed *diffed,
                                 const plim_diff_moment *moment, plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    *ret = (plim_diff_lines){ 0 };
    plim_arena_init(&ret->arena, mem);
    row_maker make = { .rows = ret, .mem = mem, .view = view, .diffed = diffed };
    plim_intern_init(&make.index, mem);
    plim_text_init(&make.scratch, mem, LABEL_BYTES_MAX);
    const bool is_made = plim_diff_filter_init(&make.filter, mem, view, diffed, NULL) == PLIM_OK &&
                         place_all(&make, moment) && finish_rows(&make);
    plim_diff_filter_deinit(&make.filter);
    plim_text_deinit(&make.scratch);
    plim_intern_deinit(&make.index);
    PLIM_VEC_FREE(mem, &make.labels);
    PLIM_VEC_FREE(mem, &make.made);
    return is_made ? PLIM_OK : plim_fail_memory(err, "putting groups together by line");
}

void plim_diff_lines_deinit(plim_diff_lines *rows)
{
    plim_arena_deinit(&rows->arena);
    *rows = (plim_diff_lines){ 0 };
}
