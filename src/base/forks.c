/*
 * forks.c - one set of handlers for the process, which calls those of each rank. See forks.h.
 *
 * pthread_atfork() alone would take locks in the order of registration, which is that of use.
 */
#include "base/forks.h"

#include <pthread.h>
#include <stddef.h>

static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* held across the fork: nothing is added meanwhile */
    const plim_fork_calls *calls[PLIM_FORK_RANK_COUNT];
    bool is_registered;
} forks = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static void before(void)
{
    (void)pthread_mutex_lock(&forks.lock);
    for (size_t i = 0; i < PLIM_FORK_RANK_COUNT; i++) {
        if (forks.calls[i] != NULL) {
            forks.calls[i]->before();
        }
    }
}

static void after_with(bool is_child)
{
    for (size_t i = PLIM_FORK_RANK_COUNT; i > 0; i--) {
        const plim_fork_calls *const calls = forks.calls[i - 1];
        if (calls != NULL) {
            (is_child ? calls->after_in_child : calls->after)();
        }
    }
    (void)pthread_mutex_unlock(&forks.lock);
}

static void after(void)
{
    after_with(false);
}

static void after_in_child(void)
{
    after_with(true);
}

static void start(void)
{
    forks.is_registered = pthread_atfork(before, after, after_in_child) == 0;
}

bool plim_forks_add(plim_fork_rank rank, const plim_fork_calls *calls)
{
    (void)pthread_once(&forks.once, start);
    (void)pthread_mutex_lock(&forks.lock);
    forks.calls[rank] = calls;
    (void)pthread_mutex_unlock(&forks.lock);
    return forks.is_registered;
}
