/*
 * origin.h - which segment each event of a device is about, also where it is gone at the end.
 *
 * A history describes the segments that stand at its end: their pool, and whether they are small.
 * Going through the events from the last to the first, segments that were freed come back and
 * those that were allocated go; the segments at each event show where its address lies. A segment
 * that the end does not know has its pool from its neighbours or from events that name theirs, and
 * counts as small where it serves small requests.
 *
 * Not plim_timeline_segments(): the timeline knows where segments are, by stream; it drops which
 * one an event of the past belongs to, its pool and its size class.
 */
#ifndef PLIMSOLL_TRACE_WRITE_ORIGIN_H
#define PLIMSOLL_TRACE_WRITE_ORIGIN_H

#include "history/spans.h"

typedef struct plim_origin {
    plim_pool_id pool;
    uint32_t stream; /* of the history, as the stack */
    uint32_t stack;
    bool is_small;
    bool is_expandable;
    bool is_sure; /* is_small is no guess */
} plim_origin;

typedef struct plim_origins {
    const plim_mem *mem;
    PLIM_VEC(plim_origin) rows;
    plim_spans at_start; /* at the start; a span's tag is its row */
    uint32_t *of_event;  /* row, or PLIM_NONE: the address lies in no segment that is known */
    uint64_t event_count;
} plim_origins;

/* About n log n. Errors: PLIM_OUT_OF_HOST_MEMORY; deinit is due all the same. */
plim_status plim_origins_init(plim_origins *origins, const plim_history *history,
                              const plim_device_history *device, const plim_mem *mem,
                              plim_error *err);
/* Zeroed ones are allowed. */
void plim_origins_deinit(plim_origins *origins);

#endif
