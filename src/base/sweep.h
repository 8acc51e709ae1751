/*
 * sweep.h - independent jobs over several threads.
 *
 * Jobs are numbered, and write only what belongs to their number: so what comes out does not
 * depend on who did which, or when.
 */
#ifndef PLIMSOLL_BASE_SWEEP_H
#define PLIMSOLL_BASE_SWEEP_H

#include "plimsoll/status.h"

#include <stddef.h>
#include <stdint.h>

#define PLIM_SWEEP_THREADS_MAX 64

/* One job. `index` counts from 0. */
typedef plim_status plim_sweep_job(void *ctx, size_t index, plim_error *err);

typedef struct plim_sweep_jobs {
    plim_sweep_job *run;
    void *ctx;
    size_t count;
} plim_sweep_jobs;

/* The default number of threads: one for each core, at most the limit above. */
uint32_t plim_sweep_default_threads(void);

/*
 * Does the jobs, the caller's thread among those that work. After a job failed no other is
 * begun. Where the system gives no more threads, fewer do the work.
 *
 * errors   that of the failed job with the lowest number
 */
plim_status plim_sweep(const plim_sweep_jobs *jobs, uint32_t threads, plim_error *err);

#endif
