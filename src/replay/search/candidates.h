/*
 * candidates.h - what is worth trying for a replay.
 *
 *   first    the recorded settings, those of the caller, the default, and one thing changed at a
 *            time: lines between sizes are drawn where the trace's own sizes leave room
 *   then     the best of each kind together
 *   last     the best, and the recorded settings, with the cache emptied at some moment
 *
 * Everything is a whole line to paste. Settings that are no business of a search (pinned memory,
 * a limit for the process) stay as recorded. What PyTorch would refuse is left out, and so is what
 * makes every decision like a row before it.
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_CANDIDATES_H
#define PLIMSOLL_REPLAY_SEARCH_CANDIDATES_H

#include "replay/search/trace_sizes.h"
#include "replay/search/tune.h"

/* The subject of a change. */
typedef enum plim_change {
    PLIM_CHANGE_EXPANDABLE,
    PLIM_CHANGE_SPLIT,
    PLIM_CHANGE_COLLECTING,
    PLIM_CHANGE_ROUNDING,
    PLIM_CHANGE_SEGMENT,
    PLIM_CHANGE_COUNT
} plim_change;

typedef struct plim_candidates {
    const plim_mem *mem;
    const plim_replay *replay;
    const plim_tune_options *options;
    plim_trace_sizes sizes;
    plim_steps *steps;   /* by device; NULL: not looked for */
    plim_settings base;  /* the default ones, and what stays as recorded */
    uint32_t torch;      /* the newest release the recording can be from */
    bool has_start;      /* something stood before the first event */
    size_t recorded;     /* rows of the recorded settings: as recorded, … */
    size_t baseline;     /* … and with a start like the others' */
    plim_tune_rows rows; /* results are empty */
} plim_candidates;

/*
 * The first rows. Row 0 is the recorded settings.
 *
 * options         borrowed until deinit
 * is_comparison   only the recorded settings and the caller's, each a row, whether or not another
 *                 is like it
 * errors          those of a conf given by the caller, PLIM_OUT_OF_HOST_MEMORY
 */
plim_status plim_candidates_init(plim_candidates *candidates, const plim_replay *replay,
                                 const plim_tune_options *options, bool is_comparison,
                                 plim_error *err);
/* A zeroed one is allowed. */
void plim_candidates_deinit(plim_candidates *candidates);

/* Adds a row, unless one makes every decision like it. */
plim_status plim_candidates_add_row(plim_candidates *candidates, const plim_tune_row *row,
                                    plim_error *err);

/* Bit c: the settings of a row change plim_change c. */
uint32_t plim_candidates_changes(const plim_candidates *candidates, const plim_tune_row *row);

/*
 * The best of each kind together.
 *
 * best        by plim_change: a row that makes this change alone; SIZE_MAX: none
 * is_better   … and does better than the default settings
 */
plim_status plim_candidates_add_combinations(plim_candidates *candidates,
                                             const size_t best[PLIM_CHANGE_COUNT],
                                             const bool is_better[PLIM_CHANGE_COUNT],
                                             plim_error *err);

/*
 * The settings of a row, with the cache emptied: after each step, once before the peak, once
 * before the step in which `failed_event` lies (or PLIM_NO_EVENT).
 */
plim_status plim_candidates_add_points(plim_candidates *candidates, size_t row,
                                       uint64_t failed_event, plim_error *err);

#endif
