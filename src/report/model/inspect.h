/*
 * inspect.h - what `plimsoll inspect` has in hand, and the page it makes of it.
 *
 *   inspect.c          the file: name, source, settings, what is missing, its devices
 *   inspect_device.c   a device: its events, what they lack, the answer; then the following
 *   inspect_moments.c  memory over time; start, peak, failures and end as a table
 *   inspect_parts.c    what memory was made of at one moment, as bars
 *   inspect_kinds.c    what it was for, by category; what was never freed
 *   inspect_pools.c    where the segments lie at the end
 *   ranks.c            several files: one row each, and how far they are apart
 */
#ifndef PLIMSOLL_REPORT_MODEL_INSPECT_H
#define PLIMSOLL_REPORT_MODEL_INSPECT_H

#include "report/model/page.h"

#include "plimsoll/inspect.h"

/* One file as it was read and inspected, or why it was not. */
typedef struct plim_inspect_file {
    const char *path;                             /* as the user named it; "-" is standard input */
    const plim_history *history;                  /* NULL: it could not be read, see error */
    const plim_device_inspection *const *devices; /* in the history's order */
    size_t device_count;
    uint64_t anomalies[PLIM_ANOMALY_COUNT];
    plim_error error;
} plim_inspect_file;

#define PLIM_INSPECT_TOP_DEFAULT 8u
#define PLIM_INSPECT_FRAMES_ALL  UINT32_MAX

/* Options of the page. All zero is a valid default. */
typedef struct plim_inspect_view {
    uint32_t top;    /* stacks shown one by one; 0 means PLIM_INSPECT_TOP_DEFAULT */
    uint32_t frames; /* frames shown of each, around the user's; 0: one line and its callers */
    bool full_paths; /* whole paths and C++ names */
    bool no_callers; /* not even who called the line that is shown */
    bool one_device; /* only the device named by: */
    int32_t device;
    bool never_freed;          /* list it by stack */
    bool categories;           /* show them, where the facts have them */
    const char *at;            /* a moment of one's choice, as it was given; NULL: without */
    const char *stack_pattern; /* the facts are filtered by it; NULL: they are not */
} plim_inspect_view;

/**
 * Say what is to be said of files that were inspected.
 *
 * view, files  borrowed for the call
 * count        1: a file, nothing where it could not be read; more: ranks of one run
 */
void plim_inspect_page(plim_page *page, const plim_inspect_view *view,
                       const plim_inspect_file *files, size_t count);

/* ---- facts that the document shares ---- */

/** When a request failed, or PLIM_TIME_UNKNOWN. */
int64_t plim_inspect_oom_time(const plim_inspect_file *file, const plim_device_inspection *device,
                              const plim_oom_moment *oom);
/** True if the options include this device. */
bool plim_inspect_shows(const plim_inspect_view *view, const plim_device_inspection *device);
/** True if the device has anything to report. */
bool plim_inspect_has_memory(const plim_device_inspection *device);

#endif
