/*
 * threads.c - the list of recorders, and what happens to it when threads end and processes fork.
 *
 * These are the only mutable globals of this room: the system reports the end of a thread
 * alone, and a fork likewise, with nothing handed in.
 */
#include "trace/write/threads.h"

#include "base/forks.h"

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    plim_listed *first;
    pthread_key_t key; /* not NULL in threads that hold queues: calls end_of_thread() */
    bool has_key;
} list = { .once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER };

static _Atomic uint64_t numbers = 1; /* the next of a thread or a recorder */

_Thread_local plim_seat plim_threads_seat;
static _Thread_local uint64_t thread_number;

static uint64_t next_number(void)
{
    return atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
}

/* Gives up the queues of the thread that ends, for others to go on with. */
static void end_of_thread(void *value)
{
    (void)value;
    (void)pthread_mutex_lock(&list.lock);
    for (plim_listed *listed = list.first; listed != NULL; listed = listed->next) {
        plim_event_queue *queue = atomic_load_explicit(&listed->queues, memory_order_acquire);
        for (; queue != NULL; queue = queue->other) {
            uint64_t owner = thread_number;
            /* Release: who takes it over sees the tail. */
            (void)atomic_compare_exchange_strong_explicit(
                &queue->owner, &owner, 0, memory_order_release, memory_order_relaxed);
        }
    }
    (void)pthread_mutex_unlock(&list.lock);
    plim_threads_seat = (plim_seat){ 0 };
}

/* The list's lock first, then those of the recorders: never the other way round. */
static void before_fork(void)
{
    (void)pthread_mutex_lock(&list.lock);
    for (const plim_listed *listed = list.first; listed != NULL; listed = listed->next) {
        (void)pthread_mutex_lock(listed->lock);
    }
}

static void after_fork(void)
{
    for (const plim_listed *listed = list.first; listed != NULL; listed = listed->next) {
        (void)pthread_mutex_unlock(listed->lock);
    }
    (void)pthread_mutex_unlock(&list.lock);
}

static void after_fork_in_child(void)
{
    for (plim_listed *listed = list.first; listed != NULL; listed = listed->next) {
        atomic_store_explicit(&listed->number, 0, memory_order_relaxed);
        listed->is_child = true;
    }
    after_fork();
}

static void start(void)
{
    static const plim_fork_calls calls = { before_fork, after_fork, after_fork_in_child };
    list.has_key = pthread_key_create(&list.key, end_of_thread) == 0 &&
                   plim_forks_add(PLIM_FORK_RECORDERS, &calls);
}

bool plim_threads_enter(plim_listed *listed)
{
    (void)pthread_once(&list.once, start);
    if (!list.has_key) {
        return false;
    }
    (void)pthread_mutex_lock(&list.lock);
    listed->next = list.first;
    listed->link = &list.first;
    if (list.first != NULL) {
        list.first->link = &listed->next;
    }
    list.first = listed;
    atomic_store_explicit(&listed->number, next_number(), memory_order_relaxed);
    (void)pthread_mutex_unlock(&list.lock);
    return true;
}

void plim_threads_leave(plim_listed *listed)
{
    (void)pthread_mutex_lock(&list.lock);
    *listed->link = listed->next;
    if (listed->next != NULL) {
        listed->next->link = listed->link;
    }
    (void)pthread_mutex_unlock(&list.lock);
}

static void remember(const plim_listed *listed, plim_event_queue *queue)
{
    /* Without memory for the key's value the queue is not given up when the thread ends, and
     * freed with the recorder all the same. */
    (void)pthread_setspecific(list.key, &list);
    plim_threads_seat.number = atomic_load_explicit(&listed->number, memory_order_relaxed);
    plim_threads_seat.queue = queue;
}

plim_event_queue *plim_threads_find(plim_listed *listed)
{
    if (atomic_load_explicit(&listed->number, memory_order_relaxed) == 0) {
        return NULL;
    }
    if (thread_number == 0) {
        thread_number = next_number();
    }
    plim_event_queue *free_queue = NULL;
    plim_event_queue *queue = atomic_load_explicit(&listed->queues, memory_order_acquire);
    for (; queue != NULL; queue = queue->other) {
        const uint64_t owner = atomic_load_explicit(&queue->owner, memory_order_relaxed);
        if (owner == thread_number) {
            remember(listed, queue);
            return queue;
        }
        free_queue = owner == 0 && free_queue == NULL ? queue : free_queue;
    }
    uint64_t nobody = 0;
    if (free_queue != NULL &&
        atomic_compare_exchange_strong_explicit(&free_queue->owner, &nobody, thread_number,
                                                memory_order_acquire, memory_order_relaxed)) {
        remember(listed, free_queue);
        return free_queue;
    }
    queue = plim_event_queue_create(listed->queue_slots, thread_number, listed->mem);
    if (queue == NULL) {
        return NULL;
    }
    queue->other = atomic_load_explicit(&listed->queues, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&listed->queues, &queue->other, queue,
                                                  memory_order_release, memory_order_relaxed)) {
    }
    remember(listed, queue);
    return queue;
}
