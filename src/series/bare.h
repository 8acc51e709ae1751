/*
 * bare.h - a log of nothing but rows of figures, without a header.
 *
 *   2026/01/02 03:04:05.678, 0, 5000 MiB, 24564 MiB     nvidia-smi --format=csv,noheader
 *   1767323045000 9876.5 10                             an MLflow metric: time, figure, step
 *   5000
 *
 * The first lines are kept until they show what each column is; then they are a table like any
 * other. A log whose first line is no such row is not looked at again.
 */
#ifndef PLIMSOLL_SERIES_BARE_H
#define PLIMSOLL_SERIES_BARE_H

#include "series/table.h"

#define PLIM_SERIES_BARE_ROWS      24u /* that show what columns are: two of each of eight GPUs */
#define PLIM_SERIES_BARE_ROWS_MIN  4u
#define PLIM_SERIES_BARE_BYTES_MAX 128u

typedef struct plim_series_bare {
    bool is_over;
    uint32_t count;
    uint32_t field_count; /* of each row; 0: none is kept yet */
    struct {
        char text[PLIM_SERIES_BARE_BYTES_MAX];
        uint32_t length;
        bool is_time;        /* no row but the time of those below it */
        uint64_t line_feeds; /* before it */
    } rows[PLIM_SERIES_BARE_ROWS];
} plim_series_bare;

/** True if the line is a row like those before it, and kept. */
bool plim_series_bare_keep(plim_series_bare *bare, const char *line, size_t length,
                           uint64_t line_feeds);

/** Open a table for the rows that are kept. False: they do not show which column is memory. */
bool plim_series_bare_begin(const plim_series_bare *kept, plim_series_table *table);

#endif
