/*
 * rehearse_page.h - what the page and the document of a rehearsal are made from.
 */
#ifndef PLIMSOLL_REPORT_REHEARSE_PAGE_H
#define PLIMSOLL_REPORT_REHEARSE_PAGE_H

#include "report/term/style.h"

#include "plimsoll/explain.h"
#include "plimsoll/rehearse.h"

/* One rehearsal. All of it is borrowed. */
typedef struct plim_rehearsed {
    const plim_rehearsal_outcome *outcome;
    const char *const *argv;         /* as the user wrote it */
    int exit_status;                 /* the program's, or 128 + signal */
    bool ran_out;                    /* of a device's memory, and died of it */
    const plim_oom_message *message; /* what it said of memory, or NULL */
    const char *const *recordings;   /* files that were written for the user */
    size_t recording_count;
    bool lists_calls; /* every function that was called, and what it is */
} plim_rehearsed;

/* Every rehearsal fits, ran out, or is not worth believing. */
typedef enum plim_rehearsed_verdict {
    PLIM_REHEARSED_FITS,
    PLIM_REHEARSED_OUT_OF_MEMORY,
    PLIM_REHEARSED_FAILED,     /* the program ended badly, of something else */
    PLIM_REHEARSED_UNANSWERED, /* it called what is not stood in for */
} plim_rehearsed_verdict;

plim_rehearsed_verdict plim_rehearsed_judge(const plim_rehearsed *rehearsed);
/* "fits", "out_of_memory", "failed", "unanswered". */
const char *plim_rehearsed_verdict_name(plim_rehearsed_verdict verdict);

/* The highest of all processes and devices. */
typedef struct plim_rehearsed_peak {
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    uint64_t device_bytes;
} plim_rehearsed_peak;

plim_rehearsed_peak plim_rehearsed_find_peak(const plim_rehearsal_outcome *outcome);

#endif
