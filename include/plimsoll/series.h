/*
 * plimsoll/series.h - one figure of memory that a log prints again and again, and its trend.
 *
 * plimsoll/explain.h finds series in text. docs/design/series.md says which numbers of a log are
 * figures, and how their names, units, steps and capacities are found.
 */
#ifndef PLIMSOLL_SERIES_H
#define PLIMSOLL_SERIES_H

#include "plimsoll/trend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

/* Strings and arrays live as long as the explanation that has them. */
typedef struct plim_series {
    const char *name;      /* the words before the number, "max_memory_allocated" */
    const char *step_name; /* what the steps are called, "step", or NULL: occurrences are counted */
    const char *unit;      /* as printed, "MiB", "%"; "" for bytes */
    const double *steps;   /* in the order of the input */
    const double *bytes;   /* is_percent: in per cent of a capacity that is not known, */
    size_t count;          /* points that are kept, */
    uint64_t seen;         /* out of so many: long series are thinned evenly */
    uint64_t first_line;
    uint64_t last_line;
    plim_trend trend;      /* … and so are its figures */
    double capacity_bytes; /* that the trend was measured against; 0: not known */
    bool is_percent;
    bool is_host; /* memory of the machine, not of a device */
} plim_series;

PLIM_END_DECLS

#endif
