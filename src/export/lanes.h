/*
 * lanes.h - what is open on a track that draws overlapping spans: each on a lane of its own, which
 * it leaves to another when it ends.
 */
#ifndef PLIMSOLL_EXPORT_LANES_H
#define PLIMSOLL_EXPORT_LANES_H

#include "base/map.h"
#include "base/vec.h"

#define PLIM_LANE_FREE SIZE_MAX /* in plim_span_lane.next of no lane */

typedef struct plim_span_lane {
    uint64_t key; /* of what is open on it */
    int64_t begin_us;
    uint64_t value; /* the caller's */
    uint64_t number;
    bool is_open;
    size_t next; /* free: the next free lane. Open: the lane whose key this one hides */
} plim_span_lane;

typedef struct plim_lanes {
    const plim_mem *mem;
    plim_map of_key; /* lane */
    PLIM_VEC(plim_span_lane) all;
    size_t first_free;
    uint64_t opened;
} plim_lanes;

void plim_lanes_init(plim_lanes *lanes, const plim_mem *mem);
void plim_lanes_deinit(plim_lanes *lanes);
/* Opens a span; one that is open under the same key stays open and is closed after this one. */
bool plim_lanes_open(plim_lanes *lanes, uint64_t key, int64_t begin_us, uint64_t value);
/* Closes what was opened last under a key. Returns its lane, which is valid until the next call, or
 * PLIM_LANE_FREE: nothing is open. */
size_t plim_lanes_close(plim_lanes *lanes, uint64_t key);
/* A lane on which nothing was ever drawn, for a span that is known only when it ends; false: no
 * memory. */
bool plim_lanes_fresh(plim_lanes *lanes, size_t *ret_lane);

#endif
