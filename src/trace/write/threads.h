/*
 * threads.h - which queue a thread pushes to.
 *
 * A thread gets a queue of a recorder with its first event, and gives it up when it ends:
 * then the next new thread goes on with it. Threads have numbers that are never used twice, and
 * so have recorders: a thread remembers the last pair of recorder and queue, and what it remembers
 * of a recorder that is gone matches no other.
 *
 * The recorders of the process are in a list, which is the one thing here under a lock: threads
 * that end and forks walk it. After a fork the child's recorders have the number 0 and take
 * nothing: the writer thread and the file belong to the parent.
 */
#ifndef PLIMSOLL_TRACE_WRITE_THREADS_H
#define PLIMSOLL_TRACE_WRITE_THREADS_H

#include "trace/write/queue.h"

#include <pthread.h>

/* The part of a recorder that is in the list. */
typedef struct plim_listed plim_listed;
struct plim_listed {
    _Atomic uint64_t number;            /* 0: not listed, or a child's copy */
    _Atomic(plim_event_queue *) queues; /* grows at the front, never shrinks */
    uint64_t queue_slots;
    const plim_mem *mem;
    pthread_mutex_t *lock; /* held across forks, so that a child finds all whole */
    plim_listed *next;
    plim_listed **link; /* what points at this one */
    bool is_child;
};

/* Puts a recorder into the list; false when the process has no thread key left. */
bool plim_threads_enter(plim_listed *listed);
/* Takes it out again; afterwards its queues may be destroyed. */
void plim_threads_leave(plim_listed *listed);

/* The slow way to a thread's queue; NULL: no memory, or a child. */
plim_event_queue *plim_threads_find(plim_listed *listed);

typedef struct plim_seat {
    uint64_t number; /* of the recorder */
    plim_event_queue *queue;
} plim_seat;

/* State of the calling thread. In the part of thread memory that needs no call to reach. */
extern _Thread_local plim_seat plim_threads_seat __attribute__((tls_model("initial-exec")));

static inline plim_event_queue *plim_threads_queue(plim_listed *listed)
{
    const uint64_t number = atomic_load_explicit(&listed->number, memory_order_relaxed);
    if (plim_threads_seat.number == number && number != 0) {
        return plim_threads_seat.queue;
    }
    return plim_threads_find(listed);
}

#endif
