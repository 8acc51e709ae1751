/*
 * run.h - one program, run under one conf on a simulated device.
 */
#ifndef PLIMSOLL_REPLAY_RUN_RUN_H
#define PLIMSOLL_REPLAY_RUN_RUN_H

#include "replay/program/program.h"

/* A listener to a run, event by event. Functions may be NULL. */
typedef struct plim_run_listener {
    /* Before each op; what happens next is its doing. PLIM_NO_OP: rebuilding the start. False
     * stops the run: it then returns PLIM_CANCELLED. */
    bool (*op)(void *ctx, uint64_t op);
    /* The most the driver gives this process during the op, which op() got just before:
     * bytes, or PLIM_UNLIMITED for no less than the setup says. */
    uint64_t (*capacity)(void *ctx, uint64_t op);
    /* An event of the allocator. No calls into the allocator. */
    void (*event)(void *ctx, const plim_event *event);
    /* The start is rebuilt: addrs[i] is where start.blocks[i] lies now, where it is live. Not
     * called when the start was requested anew. */
    void (*restored)(void *ctx, const plim_addr *addrs);
    /* After the last op, while the allocator still stands; not when the run returns an error. */
    plim_status (*end)(void *ctx, plim_allocator *allocator, plim_error *err);
    void *ctx;
} plim_run_listener;

typedef struct plim_run_setup {
    const plim_conf *conf;
    bool is_restored; /* the start as recorded, and driver addresses too while the driver gets the
                         same requests; else the start is requested anew */
    uint64_t capacity_bytes;        /* or PLIM_UNLIMITED */
    uint64_t others_bytes;          /* what others hold of the device, beside the capacity */
    const plim_driver_costs *costs; /* NULL: the default ones */
    /* Events before which the cache is emptied; ascending. */
    const uint64_t *empty_events;
    size_t empty_event_count;
    bool follows_recording; /* what may have been a call of empty_cache is taken for one */
    bool stops_at_failure;  /* at any failing request, also those that failed in the recording */
    plim_replay_progress *progress; /* done and total are events */
    void *progress_ctx;
    const plim_run_listener *listener; /* NULL: no listener, which is much faster */
} plim_run_setup;

/*
 * Runs a program. Any number of threads may run one at once.
 *
 * errors   PLIM_OUT_OF_DEVICE_MEMORY (the start does not fit), PLIM_CANCELLED,
 *          PLIM_OUT_OF_HOST_MEMORY. A request that fails is no error but a result.
 */
plim_status plim_run_program(const plim_program *program, const plim_run_setup *setup,
                             plim_run_result *ret_result, plim_error *err);

/* Finds out whether a program's start can be rebuilt as it lay, and notes it there: files can say
 * what no allocator can have made. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_run_try_start(plim_program *program, plim_error *err);

#endif
