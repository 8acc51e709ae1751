/*
 * changes.h - the techniques of a stack written down as changes of the user's program:
 * docs/formats/changes.md, docs/design/fit.md.
 */
#ifndef PLIMSOLL_FIT_CHANGES_H
#define PLIMSOLL_FIT_CHANGES_H

#include "base/arena.h"

#include "plimsoll/fit.h"

typedef struct plim_fit_change_question {
    const char *python; /* the program's, a path */
    const char *home;   /* see plim_home_find() */
    const char *folder; /* that the program began in; NULL: ours */
    const char *const *argv;
    const char *const *techniques;
    size_t technique_count;
    const char *const *reports; /* of a rehearsal under them, as text: docs/formats/with.md */
    size_t report_count;
    int64_t since; /* files that changed after it are left alone, Unix time; 0: no such limit */
} plim_fit_change_question;

typedef struct plim_fit_changes {
    const plim_fit_change *items; /* in the order of the techniques */
    size_t count;
    const char *diff;
} plim_fit_changes;

/*
 * ret     in the arena
 * errors  those of plim_python_ask(); PLIM_CORRUPT: an answer that lacks a technique
 */
PLIM_MUST_USE plim_status plim_fit_changes_make(const plim_fit_change_question *question,
                                                plim_arena *arena, plim_fit_changes *ret,
                                                plim_error *err);

/* The same from the text of an answer. */
PLIM_MUST_USE plim_status plim_fit_changes_read(const plim_fit_change_question *question,
                                                const char *answer, plim_arena *arena,
                                                plim_fit_changes *ret, plim_error *err);

#endif
