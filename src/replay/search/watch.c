/*
 * watch.c - see watch.h.
 */
#include "replay/search/watch.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/units.h"

plim_status plim_watch_init(plim_watch *watch, const plim_watch_options *options, plim_error *err)
{
    const plim_clock *clock = options->clock == NULL ? &plim_clock_system : options->clock;
    *watch = (plim_watch){ .progress = options->progress,
                           .progress_ctx = options->progress_ctx,
                           .clock = clock };
    if (options->budget_s > 0) {
        const double budget_ns = options->budget_s * (double)NS_PER_S;
        const uint64_t now_ns = plim_clock_now_ns(clock);
        /* A budget of more than 200 years is no limit. */
        watch->deadline_ns = budget_ns < 0x1p62 ? now_ns + (uint64_t)budget_ns : 0;
    }
    if (pthread_mutex_init(&watch->lock, NULL) != 0) {
        return plim_fail_memory(err, "preparing to watch a search");
    }
    return PLIM_OK;
}

void plim_watch_deinit(plim_watch *watch)
{
    (void)pthread_mutex_destroy(&watch->lock);
}

/* Under the lock. */
static void ask(plim_watch *watch)
{
    watch->total = watch->total < watch->done ? watch->done : watch->total;
    if (!watch->is_cancelled && watch->progress != NULL &&
        !watch->progress(watch->progress_ctx, watch->done, watch->total)) {
        watch->is_cancelled = true;
    }
}

void plim_watch_expect(plim_watch *watch, uint64_t runs)
{
    pthread_mutex_lock(&watch->lock);
    watch->total += runs;
    pthread_mutex_unlock(&watch->lock);
}

void plim_watch_count(plim_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->done++;
    ask(watch);
    pthread_mutex_unlock(&watch->lock);
}

void plim_watch_settle(plim_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->total = watch->done;
    ask(watch);
    pthread_mutex_unlock(&watch->lock);
}

bool plim_watch_asks(plim_watch *watch, bool has_budget)
{
    pthread_mutex_lock(&watch->lock);
    ask(watch);
    bool goes_on = !watch->is_cancelled;
    if (goes_on && has_budget && watch->deadline_ns != 0 &&
        plim_clock_now_ns(watch->clock) >= watch->deadline_ns) {
        watch->is_late = true;
        goes_on = false;
    }
    pthread_mutex_unlock(&watch->lock);
    return goes_on;
}
