/*
 * ring.h - the recorded events of one device: as many as fit, then the newest (class RingBuffer).
 *
 * Appends until it holds max_events, then overwrites slot k, k = 0, 1, …, wrapping at max_events.
 * Lowering max_events keeps what is there and recycles only the slots below it. Memory comes in
 * chunks, so that a huge max_events costs nothing and appending never moves what is there.
 */
#ifndef PLIMSOLL_ALLOC_RING_H
#define PLIMSOLL_ALLOC_RING_H

#include "base/memory.h"
#include "plimsoll/event.h"

/* A plim_event, packed. */
typedef struct plim_ring_event {
    uint64_t ticks; /* base/ticks.h */
    plim_addr addr;
    uint64_t bytes;
    plim_stream stream;
    uint32_t stack; /* id in plim_stacks, or PLIM_NONE */
    uint32_t pool;  /* the caller's number for a pool id */
    uint8_t action; /* plim_action */
} plim_ring_event;

_Static_assert(sizeof(plim_ring_event) == 48, "an event of a ring is three quarters of a line");

typedef struct plim_ring {
    const plim_mem *mem;
    plim_ring_event **chunks;
    size_t chunk_count;
    size_t chunk_capacity;
    uint64_t count;      /* events that are there */
    uint64_t next;       /* slot that is overwritten next, once full */
    uint64_t max_events; /* at least 1 */
    uint64_t lost;       /* events that were overwritten, or dropped for want of memory */
    uint64_t bytes;      /* of all chunks */
} plim_ring;

void plim_ring_init(plim_ring *ring, const plim_mem *mem);
void plim_ring_deinit(plim_ring *ring);
void plim_ring_set_max(plim_ring *ring, uint64_t max_events); /* 0 as 1 */
void plim_ring_clear(plim_ring *ring);
/* For one thread at a time. Without memory the event is dropped and counted as lost. */
void plim_ring_push(plim_ring *ring, const plim_ring_event *event);
/* The event that is `index`th in time, 0 the oldest; index < count. */
const plim_ring_event *plim_ring_at(const plim_ring *ring, uint64_t index);

#endif
