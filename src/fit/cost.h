/*
 * cost.h - the time of a step: by a model of the operations that were rehearsed, and by measured
 * slowdowns where there was no rehearsal. docs/design/fit-cost.md.
 */
#ifndef PLIMSOLL_FIT_COST_H
#define PLIMSOLL_FIT_COST_H

#include "plimsoll/fit.h"

/* Of one process on any GPU. NULL, and work or speeds that are not known: all zero. */
plim_fit_cost plim_fit_cost_of_work(const plim_rehearsed_work *work, const plim_gpu *gpu);

/* Of a program that was rehearsed with counts_step, on a GPU: of its processes, the one that
 * takes longest. All zero where it is not known. */
void plim_fit_cost_of(const plim_rehearsal_outcome *outcome, const plim_gpu *gpu,
                      plim_fit_cost *ret);

/*
 * The time of a step with some techniques, beside the program as it is; 1: equal.
 *
 * with  NULL, or without seconds: not rehearsed; typical figures of the techniques then stand in
 */
double plim_fit_slowdown(const plim_fit_cost *plain, const plim_fit_cost *with,
                         const char *const *techniques, size_t count);

#endif
