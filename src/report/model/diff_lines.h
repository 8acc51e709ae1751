/*
 * diff_lines.h - the groups of one moment, put together by line of code, for reading.
 *
 * The engine's groups are stacks: a line that calls a model has dozens. A reader knows lines. A row
 * holds all groups whose stacks are named by one line after, or by one line before where the code
 * is gone.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIFF_LINES_H
#define PLIMSOLL_REPORT_MODEL_DIFF_LINES_H

#include "base/arena.h"
#include "inspect/stack_filter.h"
#include "report/model/diff.h"

typedef struct plim_diff_line {
    const char *where; /* the line after, as pages say it; before where it is gone */
    size_t where_length;
    const char *was; /* the line before, where it reads otherwise, else NULL */
    size_t was_length;
    uint64_t before_bytes;
    uint64_t after_bytes;
    int64_t change_bytes; /* after - before, cut off at both ends */
    uint64_t before_count;
    uint64_t after_count;
    bool has_before;               /* some of it was held before */
    bool is_new;                   /* none of it was found before */
    bool is_gone;                  /* none of it is found after */
    uint64_t likely_bytes;         /* of either side, in groups whose match is likely, not sure */
    const plim_diff_group *group;  /* the largest of it */
    const plim_diff_group *likely; /* the largest whose match is likely, or NULL */
    size_t group_count;
} plim_diff_line;

typedef struct plim_diff_lines {
    plim_arena arena;
    plim_diff_line *items; /* most growth first, most shrinkage last */
    size_t count;
    size_t grown;           /* the first so many grew */
    size_t shrunk;          /* the last so many shrank */
    plim_diff_amount total; /* of all rows: what passed the view's filters */
} plim_diff_lines;

/* errors  PLIM_OUT_OF_HOST_MEMORY; ret  the caller's, until plim_diff_lines_deinit(), also then */
PLIM_MUST_USE plim_status plim_diff_lines_init(plim_diff_lines *ret, const plim_mem *mem,
                                               const plim_diff_view *view,
                                               const plim_diffed *diffed,
                                               const plim_diff_moment *moment, plim_error *err);
/* A zeroed one is allowed. */
void plim_diff_lines_deinit(plim_diff_lines *rows);

/** "new", "gone", "grown", "shrunk" or "equal". */
const char *plim_diff_line_kind(const plim_diff_line *row);
/* The groups that a view lets through. */
typedef struct plim_diff_filter {
    const plim_diff_view *view;
    plim_stack_filter before;
    plim_stack_filter after;
} plim_diff_filter;

/* errors  PLIM_OUT_OF_HOST_MEMORY; ret  the caller's, until plim_diff_filter_deinit(), also then */
PLIM_MUST_USE plim_status plim_diff_filter_init(plim_diff_filter *ret, const plim_mem *mem,
                                                const plim_diff_view *view,
                                                const plim_diffed *diffed, plim_error *err);
void plim_diff_filter_deinit(plim_diff_filter *filter);
/** True if it lets a group through: by its category, and by a stack of either side. */
bool plim_diff_shows(const plim_diff_filter *filter, const plim_diff_group *group);
/** after - before, cut off at both ends of int64_t. */
int64_t plim_diff_change(uint64_t before, uint64_t after);

#endif
