/*
 * sweep.c - see sweep.h. The queue is a counter: who is free takes the next number.
 */
#include "base/sweep.h"

#include "base/assert.h"
#include "base/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

typedef struct sweep {
    const plim_sweep_jobs *jobs;
    pthread_mutex_t lock; /* of all below */
    size_t next;
    bool has_failed;
    size_t failed; /* number of the job */
    plim_status status;
    plim_error error;
} sweep;

uint32_t plim_sweep_default_threads(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < 1) {
        return 1;
    }
    return cores < PLIM_SWEEP_THREADS_MAX ? (uint32_t)cores : PLIM_SWEEP_THREADS_MAX;
}

static void note_failure(sweep *work, size_t index, plim_status status, const plim_error *error)
{
    if (!work->has_failed || index < work->failed) {
        work->has_failed = true;
        work->failed = index;
        work->status = status;
        work->error = *error;
    }
}

static void *run_jobs(void *ctx)
{
    sweep *const work = ctx;
    pthread_mutex_lock(&work->lock);
    while (!work->has_failed && work->next < work->jobs->count) {
        const size_t index = work->next++;
        pthread_mutex_unlock(&work->lock);
        plim_error error = { .offset = PLIM_NO_OFFSET };
        const plim_status status = work->jobs->run(work->jobs->ctx, index, &error);
        pthread_mutex_lock(&work->lock);
        if (status != PLIM_OK) {
            error.status = status;
            note_failure(work, index, status, &error);
        }
    }
    pthread_mutex_unlock(&work->lock);
    return NULL;
}

plim_status plim_sweep(const plim_sweep_jobs *jobs, uint32_t threads, plim_error *err)
{
    PLIM_ASSERT(jobs != NULL);

    sweep work = { .jobs = jobs };
    if (pthread_mutex_init(&work.lock, NULL) != 0) {
        return plim_fail_memory(err, "preparing to work with several threads");
    }
    uint32_t wanted = threads < PLIM_SWEEP_THREADS_MAX ? threads : PLIM_SWEEP_THREADS_MAX;
    wanted = jobs->count < wanted ? (uint32_t)jobs->count : wanted;
    pthread_t helpers[PLIM_SWEEP_THREADS_MAX];
    uint32_t helper_count = 0;
    while (helper_count + 1 < wanted &&
           pthread_create(&helpers[helper_count], NULL, run_jobs, &work) == 0) {
        helper_count++;
    }
    (void)run_jobs(&work);
    for (uint32_t i = 0; i < helper_count; i++) {
        (void)pthread_join(helpers[i], NULL);
    }
    (void)pthread_mutex_destroy(&work.lock);
    if (work.has_failed && err != NULL) {
        *err = work.error;
    }
    return work.has_failed ? work.status : PLIM_OK;
}
