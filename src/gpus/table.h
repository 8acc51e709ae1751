/*
 * table.h - the text of gpus.tsv, and how its rows are read.
 *
 * The text becomes part of the library as it is built (cmake/EmbedLines.cmake) and is read on
 * first use; docs/formats/gpus.md describes it. What is read lies in arrays of the caller's, so
 * that nothing here needs a heap.
 */
#ifndef PLIMSOLL_GPUS_TABLE_H
#define PLIMSOLL_GPUS_TABLE_H

#include "plimsoll/gpu.h"

#define PLIM_GPUS_MAX              128
#define PLIM_GPUS_CAPABILITIES_MAX 24
#define PLIM_GPUS_ALIASES_BYTES    160

typedef struct plim_gpus_row {
    plim_gpu gpu;
    char aliases[PLIM_GPUS_ALIASES_BYTES]; /* separated by commas; may be empty */
} plim_gpus_row;

typedef struct plim_gpus_table {
    plim_gpus_row rows[PLIM_GPUS_MAX];
    size_t count;
    plim_gpu capabilities[PLIM_GPUS_CAPABILITIES_MAX]; /* only what all GPUs of one share is set */
    size_t capability_count;
} plim_gpus_table;

/* The lines of gpus.tsv without their ends, then NULL: a generated file. */
extern const char *const plim_gpus_lines[];

/*
 * Reads lines into a table that is all zeros. PLIM_CORRUPT with the number of the line and the
 * column for anything that is not as described, a key that stands twice included.
 */
PLIM_MUST_USE plim_status plim_gpus_table_read(const char *const *lines, plim_gpus_table *table,
                                               plim_error *err);

#endif
