/*
 * contender.h - how far the search of each row is, and who is ahead.
 *
 * Rows stand in three classes. Settings compete by the smallest capacity; what is as good as that
 * within PLIM_TIE is decided by, in this order: surviving at the capacity asked about, being what
 * was recorded (nothing to change), the time driver calls take there, the number of settings
 * named, the text.
 * Rows that ask for a change of the program (emptying the cache) beat the best settings only by
 * more than PLIM_PROGRAM_MARGIN, or by surviving where no settings do. Other allocators, and a
 * start that only the recorded settings can have, are there to be looked at.
 */
#ifndef PLIMSOLL_REPLAY_CONTENDER_H
#define PLIMSOLL_REPLAY_CONTENDER_H

#include "replay/bisect.h"
#include "replay/candidates.h"

#define PLIM_TIE            1000 /* one part of so many of a capacity */
#define PLIM_PROGRAM_MARGIN 100

typedef enum plim_row_class {
    PLIM_ROW_SETTINGS,
    PLIM_ROW_PROGRAM,
    PLIM_ROW_SHOWN, /* never wins */
} plim_row_class;

typedef struct plim_contender {
    plim_bisect bisect;
    plim_row_class class;
    bool wants_exact; /* its smallest capacity is searched, hopeless or not */
    bool is_sure;     /* what it does depends on a capacity only by what the driver gives */
    bool is_tried;    /* at the capacity asked about */
    bool is_starting; /* the start fitted it there */
    bool is_done;     /* its smallest capacity is known, or why it cannot win */
    bool is_bound;    /* the latter: it needs more than bisect.low */
    uint64_t limit;   /* steps: beyond these it cannot win; PLIM_STEPS_UNKNOWN: no matter */
} plim_contender;

/* The contenders of a list of rows, row i being contender i. */
typedef struct plim_field {
    const plim_tune_row *rows;
    const plim_contender *contenders;
    size_t count;
    size_t baseline;
    bool takes_open; /* the search was ended: what survived somewhere counts as found */
} plim_field;

plim_contender plim_contender_start(const plim_candidates *candidates, size_t row, uint64_t floor);

/* Steps it is known or thought to need: lower is more promising. */
uint64_t plim_contender_promise(const plim_contender *contender);

/* Whether row `a` of a tie goes before row `b`. */
bool plim_field_is_before(const plim_field *field, size_t a, size_t b);

/* The best settings so far whose smallest capacity is known; SIZE_MAX: none is. */
size_t plim_field_leader(const plim_field *field);

/* The winner; `baseline` where nothing is known. */
size_t plim_field_winner(const plim_field *field);

/*
 * With how many steps a row must survive to win: it is no use to look further where it fails with
 * these. PLIM_STEPS_UNKNOWN: nothing to compare with.
 *
 * capacity   what was asked about, in whole steps, or PLIM_STEPS_UNKNOWN
 */
uint64_t plim_field_limit(const plim_field *field, size_t row, uint64_t capacity);

#endif
