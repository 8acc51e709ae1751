/*
 * kinds.h - which of the profiler's exports a file is, by its first bytes.
 */
#ifndef PLIMSOLL_PROFILER_KINDS_H
#define PLIMSOLL_PROFILER_KINDS_H

#include <stddef.h>
#include <stdint.h>

typedef enum plim_profiler_kind {
    PLIM_PROFILER_OTHER,
    PLIM_PROFILER_TRACE,    /* an object of a trace, or its array of events alone */
    PLIM_PROFILER_TIMELINE, /* arrays of numbers */
    PLIM_PROFILER_PICTURE,  /* a page with a timeline as a picture */
} plim_profiler_kind;

plim_profiler_kind plim_profiler_kind_of(const uint8_t *data, size_t bytes);

#endif
