/*
 * queues.h - frees that waited for other streams, sorted into queues.
 *
 *   request A   request B   complete A   request C   complete C   complete B
 *   queue 0     queue 1                  queue 0
 *
 * A stream's events complete in order, so frees that one stream held up complete in the order they
 * were requested. No recording has the stream: the frees are dealt to as few queues as
 * have that order, which are at most the streams there were.
 */
#ifndef PLIMSOLL_REPLAY_PROGRAM_QUEUES_H
#define PLIMSOLL_REPLAY_PROGRAM_QUEUES_H

#include "base/vec.h"
#include "plimsoll/history.h"

#define PLIM_QUEUES_MAX 4096u /* more than any program has streams */

/* A free that did not complete at once. */
typedef struct plim_deferral {
    uint32_t request;   /* event; of the start: PLIM_NONE */
    uint32_t completed; /* event, or PLIM_NONE: never */
    uint32_t queue;     /* or PLIM_NONE: too many queues; it is freed when it completes */
    uint32_t entry;     /* in its queue, from 1 */
} plim_deferral;

typedef struct plim_deferrals {
    const plim_mem *mem;
    PLIM_VEC(plim_deferral) rows; /* of the start first, then by request */
    size_t of_start;              /* the first so many */
    uint32_t queue_count;
} plim_deferrals;

/* Deals the rows, which are in order, to queues. False: no host memory. */
bool plim_deferrals_deal(plim_deferrals *deferrals);
void plim_deferrals_deinit(plim_deferrals *deferrals);

/* The row of a request in the events, or NULL: it completed at once. */
const plim_deferral *plim_deferrals_find(const plim_deferrals *deferrals, uint32_t request);
/* The row of the start that an event completes, or NULL; these are in order of completion. */
const plim_deferral *plim_deferrals_find_start(const plim_deferrals *deferrals, uint32_t completed);

#endif
