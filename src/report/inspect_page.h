/*
 * inspect_page.h - what `plimsoll inspect` has in hand when it prints: files, and how to show them.
 *
 * The page is written in parts, each in a file of its own:
 *   inspect_page.c      what the parts share
 *   inspect_text.c      the file: name, source, settings, what is missing, its devices
 *   inspect_device.c    a device: its events, what they lack, the answer; then the following
 *   inspect_chart.c     memory over time
 *   inspect_moments.c   start, peak, failures and end as a table
 *   inspect_parts.c     what memory was made of at one moment, as bars
 *   inspect_pools.c     where the segments lie at the end
 *   oom_text.c          a request that failed, in words
 *   inspect_ranks.c     several files: one row each, and how far they are apart
 */
#ifndef PLIMSOLL_REPORT_INSPECT_PAGE_H
#define PLIMSOLL_REPORT_INSPECT_PAGE_H

#include "base/text.h"
#include "report/style.h"

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

/* What to show. All zero is a valid default. */
typedef struct plim_inspect_view {
    uint32_t top;    /* stacks shown one by one; 0 means PLIM_INSPECT_TOP_DEFAULT */
    uint32_t frames; /* frames shown of each, around the user's; 0: one line and its callers */
    bool full_paths; /* whole paths and C++ names */
    bool no_callers; /* not even who called the line that is shown */
    bool one_device; /* only the device named by: */
    int32_t device;
} plim_inspect_view;

/* Names beyond it are cut; lines are far shorter. */
#define PLIM_PAGE_SCRATCH_BYTES_MAX ((size_t)1 << 20)

/* The share of reserved memory from which being unused is a loss worth a colour. */
#define PLIM_PAGE_MUCH_UNUSED 0.25

/* Where a page is being written. */
typedef struct plim_page {
    const plim_mem *mem;
    plim_text *out;
    const plim_style *style;
    const plim_inspect_view *view;
    const plim_inspect_file *file;
} plim_page;

/* ---- facts about a file that several parts ask for ---- */

/** The recorded events of a device, or NULL when the history has no such device. */
const plim_events *plim_page_events(const plim_inspect_file *file, int32_t device);
/** Time since the device's first event, in words; "" when either time is unknown. */
const char *plim_page_time(const plim_inspect_file *file, int32_t device, int64_t time_us,
                           char *buffer, size_t buffer_bytes);
/** Whether the view asks for this device. */
bool plim_page_shows(const plim_inspect_view *view, const plim_device_inspection *device);
/** Whether there is anything to say about a device. */
bool plim_page_has_memory(const plim_device_inspection *device);
/** "GPU 0", or "pinned host memory". */
const char *plim_page_device_name(int32_t device, char *buffer, size_t buffer_bytes);

/* ---- the parts ---- */

/** A heading, a blank line before it. */
void plim_page_heading(const plim_page *page, const char *text);
void plim_page_device(const plim_page *page, const plim_device_inspection *device);
void plim_page_chart(const plim_page *page, const plim_device_inspection *device);
void plim_page_moments(const plim_page *page, const plim_device_inspection *device);
void plim_page_pools(const plim_page *page, const plim_device_inspection *device);
/** The moment's composition as bars, headed with `when`; nothing when nothing was reserved. */
void plim_page_parts(const plim_page *page, const plim_moment *moment, const char *when);
void plim_page_oom(const plim_page *page, const plim_device_inspection *device,
                   const plim_oom_moment *oom);

#endif
