/*
 * reader.h - memory that a log prints again and again, read as series of points.
 *
 * A line is one of a log ("step 120 | loss 2.31 | max memory: 10312 MB"), a row of a CSV file
 * whose header named a memory column, a row of a table with a header (GPU_mem), or a JSON object.
 * Numbers become bytes by the unit beside them, or by the one that the name or header says.
 */
#ifndef PLIMSOLL_SERIES_READER_H
#define PLIMSOLL_SERIES_READER_H

#include "base/arena.h"

#include "plimsoll/mem.h"
#include "plimsoll/series.h"
#include "plimsoll/status.h"

#define PLIM_SERIES_POINTS_MAX ((size_t)1 << 16)  /* then every second one goes, and so on */
#define PLIM_SERIES_MAX        1024u              /* names that are followed */
#define PLIM_SERIES_LINE_MAX   ((size_t)64 << 10) /* of a longer line, only the beginning is read */

typedef struct plim_series_reader plim_series_reader;

PLIM_MUST_USE plim_status plim_series_reader_create(const plim_mem *mem, plim_series_reader **ret,
                                                    plim_error *err);
void plim_series_reader_destroy(plim_series_reader *reader); /* NULL is allowed */

/** Read text, cut anywhere. errors: PLIM_OUT_OF_HOST_MEMORY */
PLIM_MUST_USE plim_status plim_series_reader_feed(plim_series_reader *reader, const char *data,
                                                  size_t bytes, plim_error *err);

/**
 * The series with at least PLIM_SERIES_POINTS_MIN points, the worst trend first; of one trend,
 * what the allocator uses or holds now before peaks, and the fastest growth first.
 *
 * capacity  for the trends of series beside which no capacity stands
 * arena     takes names and points, so that the reader may go
 */
#define PLIM_SERIES_POINTS_MIN 3u
typedef struct plim_series_capacity {
    double given_bytes; /* by the user, for all of the device's memory; 0: not */
    double named_bytes; /* of the device, by a message in the same text; 0: not */
} plim_series_capacity;

PLIM_MUST_USE plim_status plim_series_reader_finish(plim_series_reader *reader,
                                                    const plim_series_capacity *capacity,
                                                    plim_arena *arena, const plim_series **ret,
                                                    size_t *ret_count, plim_error *err);

#endif
