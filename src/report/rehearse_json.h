/*
 * rehearse_json.h - the document `rehearse/1`: all that a rehearsal showed, for programs.
 *
 * The promise and every member are in docs/formats/rehearse-json.md.
 */
#ifndef PLIMSOLL_REPORT_REHEARSE_JSON_H
#define PLIMSOLL_REPORT_REHEARSE_JSON_H

#include "base/sink.h"
#include "report/rehearse_page.h"

/* PLIM_IO when the sink refused. */
PLIM_MUST_USE plim_status plim_rehearse_json_write(plim_sink sink, const plim_rehearsed *rehearsed,
                                                   plim_error *err);

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

/* The document of a search or a sweep. */
PLIM_MUST_USE plim_status plim_rehearse_json_write_tries(plim_sink sink,
                                                         const plim_rehearse_tries *tries,
                                                         plim_error *err);

#endif
