/*
 * label.h - which words of a line belong to a number.
 */
#ifndef PLIMSOLL_SERIES_LABEL_H
#define PLIMSOLL_SERIES_LABEL_H

#include "series/words.h"

#define PLIM_LABEL_PARENTS_MAX 8u

/*
 * A walk along a line, from number to number. Between two of them the text falls into chunks;
 * the last one names the second number:
 *
 *   [Rank 0] memory (MB) | allocated: 16293.3 | max allocated: 20000.1
 *          ^ --context--   --label--            ----label----
 */
typedef struct plim_label_walk {
    const char *line;
    plim_series_span label;   /* of the number in front of which the walk stands; may be empty */
    plim_series_span context; /* the last chunk before it that speaks of memory and ended in a
                          colon, a bar or a bracket; empty if none */
    plim_series_span parents[PLIM_LABEL_PARENTS_MAX]; /* names of the braces that are open */
    uint32_t depth;     /* open braces, of which not all have a place */
    uint32_t closed_to; /* the depth after the last closing brace; UINT32_MAX: none was closed */
    bool is_slash;      /* nothing but a slash: a total, or a date */
    bool is_bare;       /* no words at all, only colons and brackets: "[3][120" */
} plim_label_walk;

/** Walk over the text before a number. */
void plim_label_walk_on(plim_label_walk *walk, plim_series_span gap);

#endif
