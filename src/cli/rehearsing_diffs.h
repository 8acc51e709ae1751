/*
 * rehearsing_diffs.h - the histories of two rehearsals of one program, compared rank by rank.
 */
#ifndef PLIMSOLL_CLI_REHEARSING_DIFFS_H
#define PLIMSOLL_CLI_REHEARSING_DIFFS_H

#include "cli/diffing.h"

typedef struct plim_rehearsing_diffs {
    plim_rehearsed_diff *items;
    plim_diff_parts *parts; /* of each */
    size_t count;
} plim_rehearsing_diffs;

/**
 * Compare the histories that processes of the same rank left in both.
 *
 * before_name, after_name  of the two sides; borrowed until plim_rehearsing_diffs_deinit()
 * ret                      the caller's, after a failure too
 * errors                   those of plim_history_load(), plim_inspect() and plim_diff()
 */
PLIM_MUST_USE plim_status plim_rehearsing_diffs_make(const plim_rehearsed *before,
                                                     const plim_rehearsed *after,
                                                     const char *before_name,
                                                     const char *after_name,
                                                     plim_rehearsing_diffs *ret, plim_error *err);
void plim_rehearsing_diffs_deinit(plim_rehearsing_diffs *diffs);

#endif
