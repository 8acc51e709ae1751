/*
 * diffing.h - pairs of files, compared: one with its histories at hand for a page, or many on all
 * cores, one pair at a time in each.
 *
 * Of each pair remain a few figures of each device, and the pair's part of the document where one
 * is wanted.
 */
#ifndef PLIMSOLL_CLI_DIFFING_H
#define PLIMSOLL_CLI_DIFFING_H

#include "report/json/documents.h"

/* Two histories that were compared, and what that takes. */
typedef struct plim_diff_parts {
    plim_diffed diffed;         /* points to the following */
    plim_history *histories[2]; /* owned where they were loaded; [1] is NULL where one is both */
    plim_inspection *inspections[2];
    plim_diff_result *result;
} plim_diff_parts;

/**
 * Compare two histories that are at hand, for plim_diff_page().
 *
 * before, after  their names and histories: borrowed until plim_diff_parts_deinit(); one history
 *                may be both
 * options        may be NULL
 * ret            the caller's, after a failure too; it stays where it was made
 */
PLIM_MUST_USE plim_status plim_diff_parts_compare(plim_diffed_side before, plim_diffed_side after,
                                                  const plim_diff_options *options,
                                                  plim_diff_parts *ret, plim_error *err);
/* A zeroed one is allowed. */
void plim_diff_parts_deinit(plim_diff_parts *parts);

/* The comparison of many. */
typedef struct plim_diffing {
    plim_diffed_pair
        *pairs; /* borrowed; their ranks and documents are made, and freed at the end */
    size_t count;
    const plim_diff_options *options;
    const plim_diff_view *view;
    const char *before_at; /* how the user named the moments of options, or NULL */
    const char *after_at;
    bool wants_document;
    plim_diffed_rank *ranks; /* of all pairs, by rank */
    size_t rank_count;
} plim_diffing;

/**
 * Load a pair with a progress bar, compare it and keep what remains of it.
 *
 * ret   the caller's, after a failure too: for the pair's page
 * returns  what pair->status is from now on
 */
plim_status plim_diffing_show(plim_diffing *work, size_t index, plim_diff_parts *ret);

/** Compare all pairs that have two files. One that fails is no error: it says why.
 *
 * threads  0: one for each core */
PLIM_MUST_USE plim_status plim_diffing_run(plim_diffing *work, uint32_t threads, plim_error *err);

/** Make `ranks` of what was kept. errors  PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_diffing_gather(plim_diffing *work, plim_error *err);
/** After a failure too. */
void plim_diffing_deinit(plim_diffing *work);

#endif
