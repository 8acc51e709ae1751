/*
 * ranking.h - how far the search of each row is, and which row is ahead.
 *
 * A row costs what users feel of it: the capacity it needs, and what it reserves at the capacity
 * asked about, added up. Rows that survive there go before rows that do not. Rows that cost no
 * more than PLIM_TIE_PERCENT above the least are a tie, and the plainest of them wins: what was
 * recorded (nothing to change), the default, expandable_segments, then by the number of settings,
 * and last a change of the program (emptying the cache). Other allocators and settings that the
 * recording's PyTorch refuses are there to be looked at.
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_RANKING_H
#define PLIMSOLL_REPLAY_SEARCH_RANKING_H

#include "replay/search/bisect.h"
#include "replay/search/candidates.h"

#define PLIM_TIE_PERCENT 1

typedef enum plim_tune_row_class {
    PLIM_ROW_SETTINGS,
    PLIM_ROW_PROGRAM,
    PLIM_ROW_SHOWN, /* never wins */
} plim_tune_row_class;

typedef struct plim_candidate {
    plim_bisect bisect;
    plim_tune_row_class class;
    uint32_t plainness;     /* lower is plainer */
    bool wants_exact;       /* its smallest capacity is searched, hopeless or not */
    bool is_sure;           /* what it does depends on a capacity only by what the driver gives */
    bool is_tried;          /* at the capacity asked about */
    bool is_starting;       /* the start fitted it there */
    bool is_done;           /* its smallest capacity is known, or why it cannot win */
    bool is_bound;          /* the latter: it needs more than bisect.low */
    plim_error start_error; /* where it did not fit: what it needs */
    uint64_t limit;         /* steps: beyond these it cannot win; PLIM_STEPS_UNKNOWN: no matter */
} plim_candidate;

/* The states of a list of rows, row i being state i. */
typedef struct plim_tune_field {
    const plim_tune_row *rows;
    const plim_candidate *states;
    size_t count;
    bool takes_open; /* the search was ended: what survived somewhere counts as found */
} plim_tune_field;

plim_candidate plim_candidate_begin(const plim_candidates *candidates, size_t row, uint64_t floor);

/* The cost of a row that needs so many steps of capacity, in steps. */
uint64_t plim_field_cost(const plim_tune_field *field, size_t row, uint64_t needed_steps);

/* Its cost as far as it is known: rows with a lower one are searched first. */
uint64_t plim_field_estimate(const plim_tune_field *field, size_t row);

/*
 * The best of the rows whose smallest capacity is known; SIZE_MAX: none is.
 *
 * last    the last class that counts
 * least   the least plainness that counts: 1 leaves out the recorded settings
 */
size_t plim_field_best(const plim_tune_field *field, plim_tune_row_class last, uint32_t least);

/*
 * With how many steps a row must survive to win: where it fails with these, its need does not
 * matter. PLIM_STEPS_UNKNOWN: nothing to compare with.
 */
uint64_t plim_field_limit(const plim_tune_field *field, size_t row);

#endif
