/*
 * plimsoll/snapshot.h - PyTorch's memory snapshots, read into a history and written from one.
 *
 * Reads what torch.cuda.memory._dump_snapshot() and its relatives have written since 1.x: a dict
 * or a bare list of segments, as a pickle of any protocol or as JSON, plain or compressed with
 * gzip, zstd, xz or bzip2. What a file is, its bytes decide, not its name. Nothing in a file is
 * executed.
 */
#ifndef PLIMSOLL_SNAPSHOT_H
#define PLIMSOLL_SNAPSHOT_H

#include "plimsoll/history.h"
#include "plimsoll/release.h"

PLIM_BEGIN_DECLS

/**
 * Read a snapshot file.
 *
 * path         a file, or "-" for standard input
 * options      may be NULL
 * ret_history  the caller's, until plim_history_destroy()
 * errors       PLIM_IO, PLIM_CORRUPT (with the byte offset), PLIM_FORBIDDEN (a pickle that would
 *              import or call something: the message names it), PLIM_UNSUPPORTED (not a
 *              snapshot), PLIM_LIMIT, PLIM_OUT_OF_HOST_MEMORY, PLIM_CANCELLED
 * memory       in proportion to the file: about 70 bytes an event while reading, 45 afterwards
 */
PLIM_API PLIM_MUST_USE plim_status plim_snapshot_load(const char *path,
                                                      const plim_load_options *options,
                                                      plim_history **ret_history, plim_error *err);

/** The same from memory, which is only read during the call. */
PLIM_API PLIM_MUST_USE plim_status plim_snapshot_parse(const void *data, size_t bytes,
                                                       const plim_load_options *options,
                                                       plim_history **ret_history, plim_error *err);

/* All zero is a valid default. */
typedef struct plim_snapshot_save_options {
    const plim_mem *mem; /* NULL: the C heap */
    uint32_t torch;      /* the release whose keys are written, as PLIM_TORCH(2, 11); 0: 2.11 */
} plim_snapshot_save_options;

/**
 * Write a history as a snapshot of PyTorch's: a pickle of protocol 4 that PyTorch's own tools and
 * viewer open. Equal stacks and frames are shared, as viewers expect; the same history gives the
 * same bytes.
 *
 * path      created or replaced; what is written stands under another name until it is whole, and
 *           after a failure nothing of it is left. "-" is standard output
 * options   may be NULL
 * errors    PLIM_IO, PLIM_LIMIT (events on a device above 1023), PLIM_OUT_OF_HOST_MEMORY
 * memory    for 64 KiB and 4 bytes for each string, frame and stack of the history
 */
PLIM_API plim_status plim_snapshot_save(const plim_history *history, const char *path,
                                        const plim_snapshot_save_options *options, plim_error *err);

PLIM_END_DECLS

#endif
