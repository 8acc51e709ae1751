/*
 * diagnose_ranks.h - many files of one job: what is kept of each when its history is gone, and the
 * page that compares them.
 *
 * A job does what its worst rank does: one verdict, that of the worst, and why it is the worst.
 */
#ifndef PLIMSOLL_REPORT_MODEL_DIAGNOSE_RANKS_H
#define PLIMSOLL_REPORT_MODEL_DIAGNOSE_RANKS_H

#include "base/text.h"
#include "report/model/diagnose.h"

/* One device of one file. */
typedef struct plim_diagnosed_rank {
    size_t file; /* index into the files of the job */
    bool has_rank;
    uint64_t rank; /* from the file's name, else its position */
    int32_t device;
    plim_verdict verdict;
    double confidence;
    plim_cause cause; /* of the finding that decides, else PLIM_CAUSE_NONE */
    uint64_t bytes;   /* of it */
    double growth_bytes_per_step;
    double leak_bytes_per_step; /* growth of the fastest leak, whether it decides or not */
    double fragmentation;       /* share of what is reserved at the peak that is not allocated */
    uint32_t kinds;             /* 1 << kind, of the findings that decide */
    char root[160];             /* the line that it blames, as the page says it; "" */
    uint64_t peak_requested_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t ooms;
    int64_t first_oom_us; /* or PLIM_TIME_UNKNOWN */
} plim_diagnosed_rank;

/* One file of a job, once its history is gone. */
typedef struct plim_diagnosed_file {
    const char *path;
    plim_status status; /* PLIM_OK, or why it could not be read: */
    plim_error error;
    plim_diagnosed_rank *ranks; /* one for each device; freed by who allocated them */
    size_t rank_count;
    plim_text document;    /* its part of `diagnose/1` */
    plim_text annotations; /* at lines of code, for GitHub */
} plim_diagnosed_file;

/* All of a job. Arrays are borrowed. */
typedef struct plim_diagnosed_job {
    const plim_diagnosed_file *files;
    size_t count;
    const plim_diagnosed_rank *ranks; /* of them, by rank */
    size_t rank_count;
} plim_diagnosed_job;

/* Skew: the largest peak over the mean of all. 1 is perfectly even. */
typedef struct plim_diagnosed_skew {
    uint64_t max_bytes;
    uint64_t min_bytes;
    double mean_bytes;
    double max_over_mean;
} plim_diagnosed_skew;

/** The figures that are kept of a device of a file that has been diagnosed. */
plim_diagnosed_rank plim_diagnosed_rank_of(const plim_diagnosed *file, size_t index, size_t device);

/** The worst: by verdict, then failures, then who failed first, then growth, then reserved memory;
 * the first of several. SIZE_MAX without ranks. */
size_t plim_diagnosed_rank_worst(const plim_diagnosed_rank *ranks, size_t count);

/** Of reserved bytes at the peak. All zero without ranks. */
plim_diagnosed_skew plim_diagnosed_skew_of(const plim_diagnosed_rank *ranks, size_t count);

/**
 * The page of a job: one verdict, which rank is the worst and why, a table of ranks.
 *
 * ranks  by rank; borrowed
 * paths  of the files, by plim_diagnosed_rank.file
 */
void plim_diagnose_ranks_page(plim_page *page, const plim_diagnose_view *view,
                              const plim_diagnosed_rank *ranks, size_t count, char *const *paths);

#endif
