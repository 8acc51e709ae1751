/*
 * series.h - memory that a log prints again and again, read as series of points.
 *
 * A line is one of a log ("step 120 | loss 2.31 | max memory: 10312 MB"), a row of a CSV file
 * whose header named a memory column, a row of a table with a header (GPU_mem), or a JSON object.
 * Numbers become bytes by the unit beside them, or by the one that the name or header says.
 */
#ifndef PLIMSOLL_OOMTEXT_SERIES_H
#define PLIMSOLL_OOMTEXT_SERIES_H

#include "base/arena.h"

#include "plimsoll/explain.h"

#define PLIM_SERIES_POINTS_MAX ((size_t)1 << 16)  /* then every second one goes, and so on */
#define PLIM_SERIES_MAX        64u                /* names that are followed */
#define PLIM_SERIES_LINE_MAX   ((size_t)64 << 10) /* of a longer line, only the beginning is read */

typedef struct plim_series_reader plim_series_reader;

PLIM_MUST_USE plim_status plim_series_reader_create(const plim_mem *mem, plim_series_reader **ret,
                                                    plim_error *err);
void plim_series_reader_destroy(plim_series_reader *reader); /* NULL is allowed */

/** Read text, cut anywhere. errors: PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_series_reader_feed(plim_series_reader *reader, const char *data,
                                                  size_t bytes, plim_error *err);

/**
 * The series with at least PLIM_SERIES_POINTS_MIN points, the most telling first: what the
 * allocator holds or uses now before peaks, peaks before totals; longer before shorter.
 *
 * capacity_bytes  for the trends; 0 if unknown
 * arena           takes names and points, so that the reader may go
 */
#define PLIM_SERIES_POINTS_MIN 3u
PLIM_MUST_USE plim_status plim_series_reader_finish(plim_series_reader *reader,
                                                    double capacity_bytes, plim_arena *arena,
                                                    const plim_series **ret, size_t *ret_count,
                                                    plim_error *err);

#endif
