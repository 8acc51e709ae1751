/*
 * groups.h - sums of both sides to groups that users read.
 */
#ifndef PLIMSOLL_DIFF_GROUPS_H
#define PLIMSOLL_DIFF_GROUPS_H

#include "diff/sums.h"

/* The sources of groups, and the arena that they go to. */
typedef struct plim_diff_writer {
    plim_diff_code *code;
    const plim_diff_classes *classes;
    plim_arena *arena; /* of the result */
} plim_diff_writer;

/* Groups, categories and is_same of a moment, from the sums. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_diff_write_groups(const plim_diff_writer *writer, const plim_diff_sums *sums,
                                   plim_diff_moment *moment, plim_error *err);

#endif
