/*
 * scribe.h - writes down what an allocator does, as a history.
 *
 * It listens to the allocator and pushes events as they come: a ring, copied into a history at the
 * end, would hold them twice. What stands at the end is the allocator's own snapshot. Times are
 * the program's, so that they are the same in every run.
 */
#ifndef PLIMSOLL_BENCH_TRACES_SCRIBE_H
#define PLIMSOLL_BENCH_TRACES_SCRIBE_H

#include "base/vec.h"
#include "history/builder.h"
#include "plimsoll/allocator.h"

typedef struct trace_scribe {
    const plim_mem *mem;
    const uint64_t *time_ns;
    plim_history *history;     /* NULL: events are only counted */
    bool has_pools;            /* events name theirs */
    uint64_t skip;             /* the first so many events are not written down */
    uint64_t told;             /* events so far, those too */
    PLIM_VEC(uint32_t) stacks; /* by the allocator's number: the history's */
    plim_status status;        /* the first failure */
    plim_error error;
} trace_scribe;

plim_event_sink trace_scribe_sink(trace_scribe *scribe);
/* A span of the program, START or END. */
void trace_scribe_annotate(trace_scribe *scribe, const char *name, bool is_start);
/* Writes down what stands, and seals the history. capacity: of the ring, 0: it never ends. */
plim_status trace_scribe_finish(trace_scribe *scribe, plim_allocator *allocator,
                                uint64_t capacity_events, plim_error *err);
void trace_scribe_deinit(trace_scribe *scribe); /* not the history */

#endif
