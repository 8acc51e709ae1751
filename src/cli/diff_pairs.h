/*
 * diff_pairs.h - which file of one job belongs to which of the other.
 */
#ifndef PLIMSOLL_CLI_DIFF_PAIRS_H
#define PLIMSOLL_CLI_DIFF_PAIRS_H

#include "base/arena.h"
#include "report/model/diff_ranks.h"

typedef struct plim_diff_pairs {
    plim_arena arena;
    plim_diffed_pair *items; /* in the arena, by rank, then by name */
    size_t count;
    bool are_ranks; /* two folders were given, not two files */
} plim_diff_pairs;

/**
 * The pairs of two files, of one file (twice the same pointer), or of two folders: files of one
 * name belong together, then those of one rank by their names (plim_rank_of_path()).
 *
 * ret     the caller's, after a failure too
 * errors  PLIM_INVALID_ARGUMENT: a folder and a file; PLIM_IO: a folder cannot be read;
 *         PLIM_CORRUPT: it has no recordings; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_diff_pairs_init(plim_diff_pairs *ret, const char *before,
                                               const char *after, plim_error *err);
void plim_diff_pairs_deinit(plim_diff_pairs *pairs);

#endif
