/*
 * ranks.h - several files of one run, one per rank: side by side, and how far apart.
 *
 * A run needs on every GPU what its hungriest rank needs; the others' room is wasted. Skew is
 * the largest peak over the mean of all: 1.00 is perfectly even.
 */
#ifndef PLIMSOLL_REPORT_MODEL_RANKS_H
#define PLIMSOLL_REPORT_MODEL_RANKS_H

#include "report/model/inspect.h"

/* One device of one file that has anything recorded. */
typedef struct plim_rank_row {
    uint64_t rank; /* from the file's name, else its position */
    const plim_inspect_file *file;
    const plim_device_inspection *device;
} plim_rank_row;

typedef struct plim_ranks {
    plim_rank_row *rows; /* by rank, then as given */
    size_t row_count;
    size_t row_capacity;
    const plim_mem *mem;
} plim_ranks;

typedef struct plim_rank_spread {
    uint64_t max_bytes;
    uint64_t min_bytes;
    uint64_t spread_bytes; /* between them */
    double mean_bytes;
    double max_over_mean; /* 1 when all is zero */
    size_t max_row;       /* the first of several */
    size_t min_row;
} plim_rank_spread;

/**
 * The rank in a file's name: snapshot_rank3.pickle, rank-12.pkl, mem_r3_iter10.pickle.
 *
 * path      its last part counts, then its folders: run/rank_4/snapshot.pickle
 * ret_rank  untouched if false
 */
bool plim_rank_of_path(const char *path, uint64_t *ret_rank);

/** Rows of all files that could be read; false when there is no memory. */
bool plim_ranks_init(const plim_mem *mem, const plim_inspect_view *view,
                     const plim_inspect_file *files, size_t count, plim_ranks *ret);
void plim_ranks_deinit(plim_ranks *ranks);

/** The bytes that ranks are compared by: at the peak; at the end where nothing was recorded over
 * time. */
uint64_t plim_rank_requested(const plim_rank_row *row);
uint64_t plim_rank_reserved(const plim_rank_row *row);

/** All zero without rows. */
plim_rank_spread plim_ranks_spread(const plim_ranks *ranks,
                                   uint64_t (*bytes)(const plim_rank_row *row));

#endif
