/*
 * sparkline.h - memory over time, drawn small: what was in use, and what was reserved above it.
 *
 *   38.9 GiB │      ░░░░░████░░
 *            │   ░▃▅██████████░     the extremes of each run of events, so that no
 *            │ ▂▅█████████████▆     spike is lost between two columns
 *          0 └─────────────────
 *                       ▲           moments worth a mark
 */
#ifndef PLIMSOLL_REPORT_SPARKLINE_H
#define PLIMSOLL_REPORT_SPARKLINE_H

#include "report/term/line.h"

#include "plimsoll/inspect.h"

#define PLIM_SPARK_COLUMNS_MAX 400u

/* The timeline, by column of the page. */
typedef struct plim_spark {
    uint32_t columns;
    uint64_t in_use_bytes[PLIM_SPARK_COLUMNS_MAX];
    uint64_t reserved_bytes[PLIM_SPARK_COLUMNS_MAX]; /* never less than in use */
    uint64_t bytes_max;
} plim_spark;

/** Spread the bins of a timeline over `columns` columns; each keeps the largest of its bins. */
void plim_spark_fill(plim_spark *spark, const plim_timeline_bin *bins, size_t count,
                     uint32_t columns);

/** The column in which an event lies; events before the first bin lie in column 0. */
uint32_t plim_spark_column(const plim_spark *spark, const plim_timeline_bin *bins, size_t count,
                           uint64_t event);

/** Add row `row` (0 is the lowest) of a chart of `rows` rows. */
void plim_spark_add_row(plim_line *line, const plim_spark *spark, uint32_t row, uint32_t rows);

#endif
