/*
 * sample.h - what one rehearsal showed, as a plain value without pointers: a worker process leaves
 * it in memory that it shares with this one.
 */
#ifndef PLIMSOLL_FIT_SAMPLE_H
#define PLIMSOLL_FIT_SAMPLE_H

#include "plimsoll/fit.h"

#define PLIM_FIT_USES_MAX      20
#define PLIM_FIT_PHASES_MAX    12
#define PLIM_FIT_TEXT_BYTES    480
#define PLIM_FIT_LINES_BYTES   1024  /* of techniques, one a line */
#define PLIM_FIT_REPORTS_BYTES 98304 /* of the reports of all processes */

/* One technique, of all processes the worst. */
typedef struct plim_fit_report {
    char state[16];
    char text[PLIM_FIT_TEXT_BYTES];
    char label[16]; /* "": as the table has it */
} plim_fit_report;

typedef struct plim_fit_phase {
    char name[24];
    uint64_t allocated_bytes;
} plim_fit_phase;

typedef struct plim_fit_sample {
    bool is_done; /* the worker came to its end */
    bool is_interrupted;
    bool is_in_the_way;  /* it failed for a port that another rehearsal may have */
    bool is_out_of_time; /* it was ended: `reason` says by which limit */
    plim_status status;
    char error[PLIM_ERROR_MESSAGE_BYTES];
    plim_rehearsed_verdict verdict;
    char reason[PLIM_FIT_TEXT_BYTES]; /* why it failed: one line */
    plim_rehearsed_peak peak;
    plim_rehearsed_bar bar;
    uint64_t waiting_bytes; /* part of the bar: a bound of what waits for streams */
    uint64_t host_bytes;
    uint64_t steps;
    plim_fit_phase phases[PLIM_FIT_PHASES_MAX];
    size_t phase_count;
    uint64_t end_bytes; /* allocated as a step ends: gradients are still there; 0: not known */
    plim_fit_report reports[PLIM_FIT_USES_MAX]; /* in the order of the techniques */
    size_t report_count;
    plim_fit_cost cost;
    double card_seconds[PLIM_FIT_CARDS]; /* of a step, by the model of each card of the table */
    uint64_t batch_rows;   /* as the program has it, as far as a technique saw it; 0: it did not */
    uint64_t piece_rows;   /* of those, at a time; 0: as batch_rows */
    uint64_t dataset_rows; /* where a batch was refused because it is more; else 0 */
    double began;          /* seconds since 1970 */
    double seconds;
    size_t documents_bytes;
    char documents[PLIM_FIT_REPORTS_BYTES]; /* the reports themselves, each with a zero after it */
} plim_fit_sample;

/* One rehearsal that is wanted. */
typedef struct plim_fit_request {
    const char *techniques;  /* one a line; "" none */
    const char *settings;    /* of the allocator; NULL: as the program has them */
    const char *gpu;         /* its key; NULL: as the options have it */
    uint64_t capacity_bytes; /* 0: what the GPU has */
    double seconds_max;      /* 0: it may take its time */
    double until;            /* seconds of plim_clock at which the budget ends it; 0: never */
    const char *const *argv; /* NULL: as the workers have it */
    uint32_t counts_step;    /* as in the options of rehearsals */
    bool is_trial;           /* fewer steps are enough */
    bool runs_to_end;        /* and not to a number of steps */
} plim_fit_request;

/* Something that rehearses: processes, or the tables of a test. */
typedef struct plim_fit_runner {
    void *ctx;
    const char *const *argv; /* changes are written down for it; NULL: none are */
    /*
     * Answers all requests; the results hang on nothing but the requests. Returns PLIM_CANCELLED
     * after an interruption. A rehearsal that fails is a sample that says so.
     */
    plim_status (*run)(void *ctx, const plim_fit_request *requests, size_t count,
                       plim_fit_sample *ret, plim_error *err);
} plim_fit_runner;

#endif
