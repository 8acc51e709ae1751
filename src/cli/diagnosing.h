/*
 * diagnosing.h - many files, diagnosed on all cores, one history at a time in each.
 *
 * Of each file remain a few figures of each device, and the devices' part of the document where one
 * is wanted: a thousand files take what a thousand such parts take.
 */
#ifndef PLIMSOLL_CLI_DIAGNOSING_H
#define PLIMSOLL_CLI_DIAGNOSING_H

#include "report/json/documents.h"

#define PLIM_DIAGNOSE_BUDGET_S 0.5 /* of replays for one file, where no other is given */

/** One file, read with a progress bar and diagnosed. ret  the caller's, after a failure too */
PLIM_MUST_USE plim_status plim_diagnosed_load(const char *path,
                                              const plim_diagnose_options *options,
                                              plim_diagnosed *ret, plim_error *err);
void plim_diagnosed_unload(plim_diagnosed *file);

typedef struct plim_diagnosing {
    char *const *paths;
    size_t count;
    const plim_diagnose_options *options;
    bool wants_document;        /* of each file its part is kept, */
    bool is_for_github;         /* or its annotations, or both */
    plim_diagnosed_file *files; /* one for each path */
    plim_diagnosed_rank *ranks; /* of all files, by rank */
    size_t rank_count;
    size_t failed_count;
} plim_diagnosing;

/** Begin: paths, count, options and the two wishes are given. errors  PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_diagnosing_init(plim_diagnosing *work, plim_error *err);
/** After a failure too. */
void plim_diagnosing_deinit(plim_diagnosing *work);

/**
 * Diagnose all files. A file that fails is no error: its row says why.
 *
 * threads  0: one for each core
 * errors   PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_diagnosing_run(plim_diagnosing *work, uint32_t threads,
                                              plim_error *err);

/** Keep what remains of one file, in the place of what was kept of it before.
 *
 * threads  those of other files may do the same */
PLIM_MUST_USE plim_status plim_diagnosing_keep(plim_diagnosing *work, size_t index,
                                               plim_diagnosed *diagnosed, plim_error *err);

/** Make `ranks` of what was kept: the GPUs that have memory, by rank; count the failures. */
PLIM_MUST_USE plim_status plim_diagnosing_gather(plim_diagnosing *work, plim_error *err);

#endif
