/*
 * rehearse.h - what `plimsoll rehearse` has in hand, and the pages it makes of it.
 *
 *   rehearse.c          what was run, the answer, and the order of the rest; the table of a search
 *   rehearse_figures.c  peaks, of processes and of devices
 *   rehearse_course.c   peaks by phase and by step
 *   rehearse_belief.c   values that were read, what is modelled, what was called
 *   rehearse_facts.c    verdict and peak of it all
 */
#ifndef PLIMSOLL_REPORT_MODEL_REHEARSE_H
#define PLIMSOLL_REPORT_MODEL_REHEARSE_H

#include "report/model/page.h"

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

/* One try of a search: the value that took the place of {}. */
typedef struct plim_rehearse_try {
    uint64_t value;
    plim_rehearsed_verdict verdict;
    plim_rehearsed_peak peak;
    double seconds;
} plim_rehearse_try;

/* Many of them. */
typedef struct plim_rehearse_tries {
    const plim_rehearse_try *items; /* by value */
    size_t count;
    uint64_t best; /* the largest value that fits; 0: none */
    const plim_gpu *gpu;
    uint32_t device_count;
    uint64_t capacity_bytes; /* of each device */
} plim_rehearse_tries;

/** The page of a rehearsal: does it fit, what it takes, when, and how sure. */
void plim_rehearse_page(plim_page *page, const plim_rehearsed *rehearsed);
/** The page of a search or a sweep. */
void plim_rehearse_tries_page(plim_page *page, const plim_rehearse_tries *tries);

#endif
