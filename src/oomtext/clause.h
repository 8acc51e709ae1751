/*
 * clause.h - the pieces that messages are made of: a phrase, and the figures beside it.
 *
 * A message may be cut, wrapped, reworded: so it is not matched as a whole. Each clause of
 * clauses.tsv is looked for on its own, in any order, and yields what it has. A clause is a phrase,
 * compared word character by word character (blanks, punctuation and case do not count), a number
 * that may stand right before it, and a pattern (pattern.h) for what follows.
 */
#ifndef PLIMSOLL_OOMTEXT_CLAUSE_H
#define PLIMSOLL_OOMTEXT_CLAUSE_H

#include "base/arena.h"
#include "oomtext/amount.h"

#include "plimsoll/verdict.h"

/* What the clauses of one message said. */
#define PLIM_PROCESSES_MAX 64u

typedef struct plim_said {
    plim_figure figures[PLIM_FIGURE_COUNT]; /* offsets count from the stretch */
    plim_process_figure processes[PLIM_PROCESSES_MAX];
    size_t process_count;
    uint64_t victim;     /* the number of the process that was killed, or 0 */
    size_t victim_begin; /* of its name: index in full, */
    size_t victim_end;   /* and one after its last; 0: it is not said */
    int32_t device;
    size_t end;  /* index in full, after the last thing that was read */
    size_t stop; /* index in words, where the next message begins or this one must end */
} plim_said;

typedef struct plim_clause_index plim_clause_index; /* the table, by first letters */

/* Lives in the arena; NULL when there is no memory. */
plim_clause_index *plim_clause_index_create(plim_arena *arena);

/* Where to read, in words: from where the message may begin to where it must end. Before the
 * anchor, the words that gave it away, only EARLY clauses count, and of those the last ones. */
typedef struct plim_reach {
    size_t from, anchor, to;
} plim_reach;

/** Read the clauses of `sets` in a part of a flat text. */
void plim_clauses_read(const plim_clause_index *index, const plim_flat *flat, uint64_t sets,
                       plim_reach reach, plim_said *ret);

/** True if words begin with a phrase (which may have blanks) at index w; *ret_end is one after it.
 */
bool plim_phrase_at(const plim_flat *flat, size_t w, const char *phrase, size_t *ret_end);

/** True if the text has no letter glued to either side of words [begin, end). */
bool plim_phrase_stands_alone(const plim_flat *flat, size_t begin, size_t end);

#endif
