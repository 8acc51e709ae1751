/*
 * watch.h - who may end long work early: a caller who is shown how far it is, and a budget of
 * time.
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_WATCH_H
#define PLIMSOLL_REPLAY_SEARCH_WATCH_H

#include "base/clock.h"
#include "plimsoll/replay.h"

#include <pthread.h>
#include <stdatomic.h>

/* Any thread may call all of it between init and deinit, and read is_cancelled and is_late; `done`
 * while no other thread runs. */
typedef struct plim_watch {
    pthread_mutex_t lock;           /* of what follows; the caller is called under it */
    plim_replay_progress *progress; /* may be NULL */
    void *progress_ctx;
    const plim_clock *clock;
    uint64_t deadline_ns; /* 0: none */
    uint64_t done;        /* runs */
    uint64_t total;       /* that are expected */
    atomic_bool is_cancelled;
    atomic_bool is_late; /* work stopped because the budget is spent */
} plim_watch;

typedef struct plim_watch_options {
    plim_replay_progress *progress; /* may be NULL */
    void *progress_ctx;
    double budget_s;         /* 0: none */
    const plim_clock *clock; /* NULL: the system's */
} plim_watch_options;

plim_status plim_watch_init(plim_watch *watch, const plim_watch_options *options, plim_error *err);
void plim_watch_deinit(plim_watch *watch);

/* So many runs more are expected. */
void plim_watch_expect(plim_watch *watch, uint64_t runs);
/* A run is made. */
void plim_watch_count(plim_watch *watch);
/* No more runs are expected. */
void plim_watch_settle(plim_watch *watch);

/* True if work goes on. The caller is asked; `has_budget` false leaves the time aside. */
bool plim_watch_asks(plim_watch *watch, bool has_budget);

#endif
