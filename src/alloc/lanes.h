/*
 * lanes.h - the lanes of a heap, by stream.
 */
#ifndef PLIMSOLL_ALLOC_LANES_H
#define PLIMSOLL_ALLOC_LANES_H

#include "alloc/heap.h"

/* The lane of a stream, or NULL when it has none yet. Any thread, no lock. */
plim_lane *plim_lane_find(const plim_heap *heap, plim_stream stream);
/* The same, made if need be; NULL: no memory. The world is stopped. */
plim_lane *plim_lane_make(plim_heap *heap, plim_stream stream);

#endif
