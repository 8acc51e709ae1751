/*
 * in_force.h - what a log shows to be in use: settings and techniques, so that nobody advises them,
 * and the server around the framework, whose switches are the ones to turn.
 */
#ifndef PLIMSOLL_OOMTEXT_IN_FORCE_H
#define PLIMSOLL_OOMTEXT_IN_FORCE_H

#include "oomtext/flat.h"
#include "plimsoll/verdict.h"

#include <stddef.h>

typedef struct plim_in_force_mark {
    const char *phrase;     /* folded, for the scanner */
    plim_in_force what;     /* PLIM_IN_FORCE_COUNT: only who is at work */
    plim_oom_family server; /* PLIM_FAMILY_ANY: nobody in particular */
    const char *follows;    /* one of these characters has to follow in the text; NULL: anything */
} plim_in_force_mark;

const plim_in_force_mark *plim_in_force_marks(size_t *ret_count);

/**
 * Whether a mark found in raw text really says that something is in force, and not a hint ("try
 * setting …") or its opposite.
 *
 * text         the piece; the mark stands at [begin, end)
 */
bool plim_in_force_holds(const plim_in_force_mark *mark, const char *text, size_t bytes,
                         size_t begin, size_t end);

#endif
