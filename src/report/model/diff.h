/*
 * diff.h - what `plimsoll diff` has in hand, and the page it makes of it.
 *
 *   diff.c             the page of a pair: the two sides, the device that changed most, its parts
 *   diff_answer.c      one sentence with the change that matters, and how sure it is
 *   diff_figures.c     the figures of a device on both sides, and which device changed most
 *   diff_lines.c        groups of stacks, put together by the line that a reader knows
 *   diff_moments.c     figures, groups and categories as tables
 *   diff_conditions.c  what else differs: settings, releases, steps, what was not recorded
 *   diff_ranks.c       several devices or ranks: a row each
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIFF_H
#define PLIMSOLL_REPORT_MODEL_DIFF_H

#include "report/model/page.h"

#include "plimsoll/diff.h"

/* One side of a comparison. */
typedef struct plim_diffed_side {
    const char *name;            /* as pages name it: a path, "-", or words: "torch 2.9.1" */
    const plim_history *history; /* NULL: it could not be read */
    const plim_inspection *inspection;
} plim_diffed_side;

/* Two histories that were compared; all of it is borrowed. */
typedef struct plim_diffed {
    plim_diffed_side before;
    plim_diffed_side after; /* the same history where two moments of it are compared */
    const plim_diff_result *result;
    const char *before_at; /* the moments that were chosen, as the user named them, or NULL */
    const char *after_at;
} plim_diffed;

#define PLIM_DIFF_TOP 8u

/* Options of the page. All zero is a valid default. */
typedef struct plim_diff_view {
    uint32_t top; /* rows of a table; 0: PLIM_DIFF_TOP */
    bool full_paths;
    bool one_device; /* only this one: */
    int32_t device;
    const char *stack; /* only groups that this pattern names (plimsoll/inspect.h), or NULL */
    bool one_category; /* only this one: */
    plim_category category;
    bool no_next; /* no hint at the end: the page stands within another */
} plim_diff_view;

/* --- figures --- */

/* A figure that both sides have. In the list: enumerator, name, title of its row. */
#define PLIM_DIFF_FIGURE_LIST(X)                                 \
    X(PLIM_DIFF_FIGURE_AT, "at", "chosen moment")                \
    X(PLIM_DIFF_FIGURE_PEAK, "peak", "peak")                     \
    X(PLIM_DIFF_FIGURE_STEP, "growth", "stays of each step")     \
    X(PLIM_DIFF_FIGURE_END, "end", "end")                        \
    X(PLIM_DIFF_FIGURE_RESERVED, "reserved", "reserved at peak") \
    X(PLIM_DIFF_FIGURE_NEW, "new", "in new code")

typedef enum plim_diff_figure_id {
#define PLIM_DIFF_FIGURE_ENUM(code, name, title) code,
    PLIM_DIFF_FIGURE_LIST(PLIM_DIFF_FIGURE_ENUM)
#undef PLIM_DIFF_FIGURE_ENUM
        PLIM_DIFF_FIGURE_COUNT
} plim_diff_figure_id;

/** "peak", "growth", …; "peak", "stays of each step", …: constant strings. */
const char *plim_diff_figure_name(plim_diff_figure_id figure);
const char *plim_diff_figure_title(plim_diff_figure_id figure);

typedef struct plim_diff_figure {
    bool is_known;               /* on both sides; else */
    const char *unknown_because; /* a constant */
    uint64_t before_bytes;
    uint64_t after_bytes;
} plim_diff_figure;

/* One device of one pair: what remains when its histories are gone. */
typedef struct plim_diffed_rank {
    size_t pair; /* index into the pairs of the job */
    bool has_rank;
    uint64_t rank; /* from the files' names, else the pair's position */
    int32_t device;
    bool in_before; /* it holds anything there */
    bool in_after;
    bool is_same; /* all that can be compared is equal to the byte, by code and category too */
    plim_diff_figure figures[PLIM_DIFF_FIGURE_COUNT];
    plim_diff_figure_id subject; /* that which shows best what changed */
    char where[160];             /* the line of code that grew most, as the page says it; "" */
} plim_diffed_rank;

/** The figures of a device. rank, has_rank and pair are the caller's to fill in.
 *
 * errors  PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_diffed_rank_of(const plim_diffed *diffed,
                                              const plim_diff_device *device, plim_diffed_rank *ret,
                                              plim_error *err);

/** True if a device holds anything on either side. */
bool plim_diff_has_memory(const plim_diffed *diffed, const plim_diff_device *device);

/** The one that changed for the worse most; where none did, that which shrank most; the first of
 * several. SIZE_MAX without ranks. */
size_t plim_diffed_rank_worst(const plim_diffed_rank *ranks, size_t count);

/* --- pages --- */

/**
 * Say what is to be said of two histories that were compared.
 *
 * view, diffed  borrowed for the call
 */
void plim_diff_page(plim_page *page, const plim_diff_view *view, const plim_diffed *diffed);

#endif
