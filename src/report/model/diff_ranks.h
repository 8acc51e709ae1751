/*
 * diff_ranks.h - many files of two jobs, matched rank by rank: what is kept of each pair when its
 * histories are gone, and the page that leads to the worst.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIFF_RANKS_H
#define PLIMSOLL_REPORT_MODEL_DIFF_RANKS_H

#include "base/text.h"
#include "report/model/diff.h"

/* One file of each job, or of one of them. */
typedef struct plim_diffed_pair {
    const char *before_path; /* NULL: only after */
    const char *after_path;  /* NULL: only before */
    bool has_rank;
    uint64_t rank;      /* from the files' names, else the pair's position */
    plim_status status; /* PLIM_OK, or why it could not be compared: */
    plim_error error;
    const char *failed_path; /* the file that could not be read; NULL: it was not that */
    plim_diffed_rank *ranks; /* one for each device; freed by who allocated them */
    size_t rank_count;
    plim_text document; /* its part of `diff/1` */
} plim_diffed_pair;

/* All of two jobs. Arrays are borrowed. */
typedef struct plim_diff_job {
    const plim_diffed_pair *pairs;
    size_t count;
    const plim_diffed_rank *ranks; /* of them, by rank: devices that hold anything */
    size_t rank_count;
} plim_diff_job;

/** The page of two jobs: on how many ranks what grew, a row each; that of the worst pair comes
 * after it. */
void plim_diff_ranks_page(plim_page *page, const plim_diff_view *view, const plim_diff_job *job);

/** The devices of one pair, a row each. */
void plim_diff_devices_table(plim_page *page, const plim_diffed_rank *ranks, size_t count);

#endif
