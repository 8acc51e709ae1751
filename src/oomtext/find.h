/*
 * find.h - from a piece of text to the messages in it.
 *
 * The scanner gives places where a phrase of some form stands (hits). For each, the forms that
 * have the phrase, or one a little later, are tried on the flattened text around it; the most
 * telling one that fits reads its figures, and what it covers is not looked at again.
 */
#ifndef PLIMSOLL_OOMTEXT_FIND_H
#define PLIMSOLL_OOMTEXT_FIND_H

#include "oomtext/clause.h"
#include "oomtext/table.h"

#include "plimsoll/status.h"

/* How far a message may reach: before its first phrase, and after it. */
#define PLIM_FIND_BEFORE_BYTES ((size_t)1024)
#define PLIM_FIND_AFTER_BYTES  ((size_t)3072)
#define PLIM_EXCERPT_BYTES_MAX 240u
#define PLIM_VICTIM_BYTES      48u

/* A message, in the piece. */
typedef struct plim_found {
    const plim_form *form;
    size_t begin;                             /* of its first phrase */
    size_t end;                               /* after the last thing that was read */
    plim_said said;                           /* offsets count from the piece */
    char excerpt[PLIM_EXCERPT_BYTES_MAX + 1]; /* from its line, blanks as one */
    char victim[PLIM_VICTIM_BYTES];           /* the name of the process that was killed, or "" */
} plim_found;

typedef struct plim_finder plim_finder;

PLIM_MUST_USE plim_status plim_finder_create(const plim_mem *mem, plim_finder **ret,
                                             plim_error *err);
void plim_finder_destroy(plim_finder *finder); /* NULL is allowed */

/* A piece of the input: messages that begin before `from` are reported already. */
typedef struct plim_piece {
    const char *text;
    size_t bytes;
    size_t from;
    bool is_last; /* no text follows it */
} plim_piece;

/* Who takes messages, in order; false means that there was no memory to keep one. */
typedef struct plim_taker {
    bool (*take)(void *ctx, const plim_found *found);
    void *ctx;
} plim_taker;

/**
 * Search a piece.
 *
 * ret_done  messages that begin before it are reported now; the next piece has to begin at least
 *           PLIM_FIND_BEFORE_BYTES before it, if there is as much
 * errors    PLIM_OUT_OF_HOST_MEMORY, when the taker had none
 */
PLIM_MUST_USE plim_status plim_finder_search(plim_finder *finder, const plim_piece *piece,
                                             plim_taker taker, size_t *ret_done, plim_error *err);

/* What was seen in use around messages so far. */
typedef struct plim_circumstances {
    uint32_t in_force;       /* PLIM_IN_FORCE_BIT of each */
    plim_oom_family program; /* that runs the framework, or PLIM_FAMILY_ANY */
    bool leaks;              /* memory had been growing (the finder leaves it false) */
} plim_circumstances;

/** From now on, look for no reports: the input is a log, where reports are ordinary. */
void plim_finder_ignore_reports(plim_finder *finder);

plim_circumstances plim_finder_circumstances(const plim_finder *finder);

#endif
