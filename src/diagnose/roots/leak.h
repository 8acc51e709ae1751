/*
 * leak.h - the root and the cause of a leak, from the allocations that it keeps.
 *
 *   leaks/  which allocations stay ──► plim_leak_explain() ──► root, keeper, cause, members,
 * evidence
 *
 * Which allocations belong to one leak, how much it grows and from where is for the caller to say.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROOTS_LEAK_H
#define PLIMSOLL_DIAGNOSE_ROOTS_LEAK_H

#include "diagnose/case/case.h"

/* The allocations that one leak keeps. A zero, or PLIM_NO_STEP, is not known. */
typedef struct plim_leak {
    const uint64_t *ids; /* of the timeline, in order of birth */
    size_t id_count;
    double growth_bytes_per_step;
    double period_steps;
    uint64_t first_step;
    uint64_t last_step;
} plim_leak;

/*
 * Fills in what `finding` (of plim_case_add()) says of the cause: cause and id, root, keeper,
 * members, and the subject's stack; adds sentences of evidence after those that are there. The
 * confidence is that of the leak, and stays; a finding that has none gets that of the cause. Linear
 * in the ids, the events and the frames of the ids' stacks. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_leak_explain(plim_case *one, const plim_leak *leak,
                              plim_diagnosis_finding *finding, plim_error *err);

/* Fills in no more than members, root and the subject's stack: the line that makes most of it. */
plim_status plim_leak_locate(plim_case *one, const plim_leak *leak, plim_diagnosis_finding *finding,
                             plim_error *err);

#endif
