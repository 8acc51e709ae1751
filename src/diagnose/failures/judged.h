/*
 * judged.h - one failed request as a finding: the judge's verdict, its cause, its evidence.
 */
#ifndef PLIMSOLL_DIAGNOSE_FAILURES_JUDGED_H
#define PLIMSOLL_DIAGNOSE_FAILURES_JUDGED_H

#include "diagnose/case/holes.h"

/*
 * The request of facts->ooms[index] with all that is known of it: the given capacity, a recorded
 * limit, and what only an error text says. ret_text: the text's own judgement, or NULL.
 */
plim_failed_request plim_failure_request(const plim_case *one, size_t index,
                                         const plim_judgement **ret_text);

/* Adds the finding of the failure that ended the program. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_failure_add(plim_case *one, size_t index, plim_error *err);

/* True if a free block of the request's own pool would have held it: the failure is spurious. */
bool plim_failure_is_spurious(const plim_case *one, const plim_oom_moment *oom,
                              const plim_fragmentation_facts *facts);

/* Measures the moment of a failure. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_failure_measure(plim_case *one, const plim_oom_moment *oom,
                                 plim_fragmentation_facts *ret_facts, plim_error *err);

/* The cause of a verdict that speaks for itself; PLIM_CAUSE_UNKNOWN of others. */
plim_cause plim_failure_cause(plim_verdict verdict);

/* A kind of memory, and how much of it there was at a moment. */
typedef struct plim_full_part {
    const char *name; /* of a category, as a sentence has it; a constant */
    uint64_t bytes;
} plim_full_part;

/* Finds what fills a device. Linear in events up to the moment. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_failure_fill(plim_case *one, const plim_oom_moment *oom, plim_cause *ret_cause,
                              plim_full_part *ret_largest, plim_error *err);

/*
 * The line to blame for a request in a function that computes attention: the first of the same
 * call that requests as much, which makes the scores that the others copy. Else the request's.
 */
plim_code_place plim_failure_root(plim_case *one, const plim_oom_moment *oom);

#endif
