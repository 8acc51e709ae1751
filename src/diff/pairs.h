/*
 * pairs.h - which of several stacks is which: two lists in the order of their lines, aligned.
 */
#ifndef PLIMSOLL_DIFF_PAIRS_H
#define PLIMSOLL_DIFF_PAIRS_H

#include "diff/code.h"

/* A stack that looks for its counterpart. */
typedef struct plim_diff_row {
    uint64_t key; /* rows of one key may be each other's */
    const plim_diff_side *side;
    uint32_t stack;
    uint32_t line;                  /* of the innermost frame of the user\'s; 0: no such frame */
    uint32_t line_first, line_last; /* of a row of before: where that line lies after */
    uint8_t kind;                   /* plim_diff_side_kind */
    uint32_t pair; /* by plim_diff_pair(): the row of the other side, from the start of its own
                    * list, or PLIM_NONE */
} plim_diff_row;

/* By key, then side, then lines from the outermost frame on. */
int plim_diff_compare_rows(const void *left, const void *right);

/* Shared sizes of two profiles' samples, in quarters of all: 0 … 4. */
uint32_t plim_diff_alike(const plim_diff_row *before, const plim_diff_row *after);
/* True if both request as many times, the same sizes, as many bytes in all. */
bool plim_diff_has_equal_requests(const plim_diff_row *before, const plim_diff_row *after);
/* True if each frame of both has the same line. */
bool plim_diff_has_equal_lines(const plim_diff_row *before, const plim_diff_row *after);

/*
 * Pairs rows of one key: in order, so that as many as possible have a pair and those that request
 * the same sizes have each other. Some hundred rows of one key are aligned in full; of more, each
 * takes the next that requests a size of its own. False: no memory.
 */
bool plim_diff_pair(plim_diff_row *before, size_t before_count, plim_diff_row *after,
                    size_t after_count, const plim_mem *mem);

#endif
