/*
 * queue.h - the events of one thread that the writer has not taken yet.
 *
 *   one thread pushes at the tail ──►  [slot slot slot …]  ──► the writer takes at the head
 *
 * A ring of slots of 64 bytes: no lock, and no waiting on either side. All the queues of a
 * recorder share one counter: each slot takes the next number of it when there is room for the
 * slot, so that numbers have no holes and the writer can put the slots of all queues in order. The
 * counter is one atomic variable, so whatever happened after an event has a higher number.
 */
#ifndef PLIMSOLL_TRACE_WRITE_QUEUE_H
#define PLIMSOLL_TRACE_WRITE_QUEUE_H

#include "base/memory.h"
#include "plimsoll/event.h"

#include <stdatomic.h>

/* Kinds of slots besides actions. The first two are as in rows.h. */
#define PLIM_SLOT_ANNOTATION 11u /* addr: a plim_queued_name */
#define PLIM_SLOT_LOST       12u /* bytes: how many events of the device are missing here */
#define PLIM_SLOT_POOL       14u /* addr, bytes: the pool of the slot that follows */
#define PLIM_SLOT_CODE_MASK  0x0fu
#define PLIM_SLOT_IS_SMALL   0x10u
#define PLIM_SLOT_KIND_BITS  8

typedef struct plim_slot {
    uint64_t mark; /* number << PLIM_SLOT_KIND_BITS | kind */
    uint64_t addr;
    uint64_t bytes;
    uint64_t block_bytes;
    int64_t time_ns;
    uint64_t stream;
    uint32_t pool[2]; /* where both fit; else a PLIM_SLOT_POOL comes before */
    uint32_t stack;
    int32_t device;
} plim_slot;

_Static_assert(sizeof(plim_slot) == 64, "a slot is a line of the cache");

/* True if the numbers of a pool need a PLIM_SLOT_POOL. */
static inline bool plim_pool_is_wide(plim_pool_id pool)
{
    return (pool.a | pool.b) > UINT32_MAX;
}

/* An event as a slot; of a wide pool the half that fits. */
static inline void plim_slot_pack(plim_slot *slot, uint64_t number, const plim_event *event)
{
    const uint64_t kind = (uint64_t)event->action | (event->is_small ? PLIM_SLOT_IS_SMALL : 0);
    slot->mark = number << PLIM_SLOT_KIND_BITS | kind;
    slot->addr = event->addr;
    slot->bytes = event->bytes;
    slot->block_bytes = event->block_bytes;
    slot->time_ns = event->time_ns;
    slot->stream = event->stream;
    slot->pool[0] = (uint32_t)event->pool.a;
    slot->pool[1] = (uint32_t)event->pool.b;
    slot->stack = event->stack;
    slot->device = event->device;
}

static inline plim_event plim_slot_unpack(const plim_slot *slot)
{
    return (plim_event){ .action = (plim_action)(slot->mark & PLIM_SLOT_CODE_MASK),
                         .device = slot->device,
                         .stream = slot->stream,
                         .addr = slot->addr,
                         .bytes = slot->bytes,
                         .block_bytes = slot->block_bytes,
                         .time_ns = slot->time_ns,
                         .pool = { slot->pool[0], slot->pool[1] },
                         .stack = slot->stack,
                         .is_small = (slot->mark & PLIM_SLOT_IS_SMALL) != 0 };
}

#define PLIM_CACHE_LINE 64

typedef struct plim_event_queue plim_event_queue;
struct plim_event_queue {
    /* The thread's own. */
    _Atomic uint64_t tail; /* slots ever pushed */
    uint64_t head_seen;    /* head when the thread looked last */
    _Atomic uint64_t events;
    uint8_t apart[PLIM_CACHE_LINE];

    /* The writer's own. */
    _Atomic uint64_t head; /* slots ever taken */
    uint64_t next;         /* the slot it looks at next; head follows */
    uint64_t limit;        /* tail when the round began */
    plim_pool_id pool;     /* of a PLIM_SLOT_POOL just taken */
    uint8_t apart_too[PLIM_CACHE_LINE];

    /* Set once, but for the owner. */
    _Atomic uint64_t owner;  /* number of a thread (threads.h), or 0 */
    plim_event_queue *other; /* the next one of the recorder */
    plim_slot *slots;
    uint64_t mask;
    void *memory;
    size_t memory_bytes;
};

/* `slots` is a power of two. NULL when there is no memory. */
plim_event_queue *plim_event_queue_create(uint64_t slots, uint64_t owner, const plim_mem *mem);
void plim_event_queue_destroy(plim_event_queue *queue, const plim_mem *mem);

/* True if `wanted` more slots fit. For the queue's thread. */
static inline bool plim_event_queue_has_room(plim_event_queue *queue, uint64_t wanted)
{
    const uint64_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    if (tail + wanted - queue->head_seen <= queue->mask + 1) {
        return true;
    }
    queue->head_seen = atomic_load_explicit(&queue->head, memory_order_acquire);
    return tail + wanted - queue->head_seen <= queue->mask + 1;
}

#endif
