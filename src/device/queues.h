/*
 * queues.h - streams and fences of a device that is not a GPU: counters instead of work.
 *
 * A stream is two counters: how many fences were recorded on it, and how many of them are
 * complete. A fence is complete when its stream has completed as many as there were when it was
 * recorded; one that was never recorded is. Streams need not be created: a history names those of
 * another process. Whoever owns the queues locks them.
 */
#ifndef PLIMSOLL_DEVICE_QUEUES_H
#define PLIMSOLL_DEVICE_QUEUES_H

#include "base/map.h"
#include "base/vec.h"

#include "plimsoll/device.h"

typedef struct plim_queue {
    uint64_t recorded;  /* fences recorded on it so far */
    uint64_t completed; /* of them, how many are complete */
    bool is_capturing;
    bool is_created; /* by plim_queues_create(), and not destroyed */
    bool is_manual;  /* fences wait to be completed */
} plim_queue;

typedef struct plim_queue_fence {
    uint64_t sequence; /* 0: never recorded. In a free slot: the next one */
    uint32_t queue;    /* index */
    uint32_t generation;
    bool is_live;
} plim_queue_fence;

typedef struct plim_queues {
    const plim_mem *mem;
    const char *name; /* of the device, for messages; borrowed */
    bool is_manual;   /* fences wait to be completed: of streams from manual_first on, … */
    plim_stream manual_first;
    uint64_t manual_count; /* … so many handles; 0: of all */
    PLIM_VEC(plim_queue) items;
    plim_map indices; /* a stream's handle -> index */
    plim_stream next_stream;
    PLIM_VEC(plim_queue_fence) fences;
    uint64_t free_fence; /* first of the list, or PLIM_MAP_ABSENT */
} plim_queues;

void plim_queues_init(plim_queues *queues, const plim_mem *mem, const char *name);
void plim_queues_deinit(plim_queues *queues);

/* --- streams --- */

/* A new handle counts as known from now on. NULL: no host memory. */
plim_queue *plim_queues_of(plim_queues *queues, plim_stream stream);
/* NULL: never named. */
plim_queue *plim_queues_find(const plim_queues *queues, plim_stream stream);
plim_status plim_queues_create(plim_queues *queues, plim_stream *ret_stream, plim_error *err);
plim_status plim_queues_destroy(plim_queues *queues, plim_stream stream, plim_error *err);
void plim_queues_complete(plim_queues *queues, plim_stream stream);
/* The first `count`, also those that are yet to be recorded. False: no host memory. */
bool plim_queues_complete_first(plim_queues *queues, plim_stream stream, uint64_t count);
void plim_queues_complete_all(plim_queues *queues);

/* --- fences --- */

plim_status plim_queues_fence_create(plim_queues *queues, plim_fence *ret_fence, plim_error *err);
plim_status plim_queues_fence_destroy(plim_queues *queues, plim_fence fence, plim_error *err);
plim_status plim_queues_fence_record(plim_queues *queues, plim_fence fence, plim_stream stream,
                                     plim_error *err);
plim_status plim_queues_fence_query(const plim_queues *queues, plim_fence fence, bool *ret_complete,
                                    plim_error *err);
/* What was recorded before it on its stream is complete too. */
plim_status plim_queues_fence_complete(plim_queues *queues, plim_fence fence, plim_error *err);

#endif
