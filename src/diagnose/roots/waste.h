/*
 * waste.h - memory that does not grow and is held in vain all the same.
 *
 *   gradients.c  the same gradients are live from step to step
 *   ahead.c      batches are on the device long before a step uses them
 *   cycles.c     tensors of many steps are freed at once, as Python's collector does
 *   garbage.c    tensors waited for that collector as a request failed
 *
 * Each finding is a warning, and decides nothing; garbage does that would have covered the request.
 * Linear in events.
 */
#ifndef PLIMSOLL_DIAGNOSE_ROOTS_WASTE_H
#define PLIMSOLL_DIAGNOSE_ROOTS_WASTE_H

#include "diagnose/case/case.h"

/* A finding of a warning that does not decide, with bytes at stake. NULL: no memory. */
plim_diagnosis_finding *plim_add_waste(plim_case *one, plim_cause cause, double confidence,
                                       uint64_t bytes);

/* Sets the root to the line that makes most of `ids`, which are in order of birth. */
plim_status plim_waste_root(plim_case *one, const uint64_t *ids, size_t count,
                            plim_diagnosis_finding *finding, plim_error *err);

#endif
