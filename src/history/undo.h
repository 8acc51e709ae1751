/*
 * undo.h - the segments that stood before the first event: those at the end, with the segment
 * events taken back from the last to the first.
 *
 *   segment_alloc, segment_map     take a segment, or a part of a run, away again
 *   segment_free, segment_unmap    put one back; mapped runs that touch are joined
 *
 * An event that does not fit what stands is counted and changes nothing. Reserved bytes are
 * undone by size alone, so that they follow the events even where the addresses contradict.
 */
#ifndef PLIMSOLL_HISTORY_UNDO_H
#define PLIMSOLL_HISTORY_UNDO_H

#include "base/total.h"
#include "history/spans.h"

/* Bytes that could not be taken back at a segment_alloc or map: so much more was not there. */
typedef struct plim_shortfall {
    uint64_t event;
    uint64_t bytes;
} plim_shortfall;

typedef struct plim_undone {
    const plim_mem *mem;
    plim_spans segments;                 /* at the start */
    plim_total reserved;                 /* bytes at the start */
    PLIM_VEC(plim_shortfall) shortfalls; /* last event first */
    uint64_t contradictions;             /* events that do not fit the segments around them */
    uint64_t overlaps;                   /* segments at the end that overlap another */
    uint64_t outside;                    /* allocations in no segment that stood then */
} plim_undone;

/* About n log n in segment events. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_undone_init(plim_undone *undone, const plim_device_history *device,
                             const plim_mem *mem, plim_error *err);
/* Zeroed ones are allowed. */
void plim_undone_deinit(plim_undone *undone);

/* What a driver call does to the segments before it: the other direction. What does not fit
 * changes nothing. */
plim_spans_result plim_segments_follow(plim_spans *segments, const plim_events *events,
                                       uint64_t event);

#endif
