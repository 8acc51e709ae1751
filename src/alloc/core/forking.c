/*
 * forking.c - all locks of all allocators, taken before a fork and let go after it. See forking.h.
 *
 * With the world stopped no thread is inside but the caller. That holds for closed lanes too: a
 * thread may own the lock of one and be about to see that it is closed, and in a child it never
 * would.
 */
#include "alloc/core/forking.h"

#include "alloc/core/world.h"
#include "base/forks.h"

/* A fork concerns the process: the one mutable global of this room. */
static struct {
    pthread_mutex_t lock;
    plim_allocator *first;
} list = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Of lanes that are not open, which stopping the world leaves alone. */
static void each_closed_lane(const plim_heap *heap, void (*call)(plim_biased_lock *lock))
{
    size_t at = 0;
    for (plim_lane *lane = plim_shared_next(&heap->lanes, &at); lane != NULL;
         lane = plim_shared_next(&heap->lanes, &at)) {
        if (!lane->is_open) {
            call(&lane->lock);
        }
    }
}

static void hold(plim_allocator *allocator)
{
    (void)pthread_mutex_lock(&allocator->lock);
    plim_worlds_stop(allocator);
    for (size_t i = 0; i < allocator->heap_count; i++) {
        each_closed_lane(&allocator->heaps[i], plim_biased_acquire);
    }
    plim_stacks_hold(allocator->stacks);
}

static void let_go(plim_allocator *allocator)
{
    plim_stacks_let_go(allocator->stacks);
    for (size_t i = 0; i < allocator->heap_count; i++) {
        each_closed_lane(&allocator->heaps[i], plim_biased_release);
    }
    plim_worlds_resume(allocator);
    (void)pthread_mutex_unlock(&allocator->lock);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&list.lock);
    for (plim_allocator *one = list.first; one != NULL; one = one->listed_next) {
        hold(one);
    }
}

static void after_fork(void)
{
    for (plim_allocator *one = list.first; one != NULL; one = one->listed_next) {
        let_go(one);
    }
    (void)pthread_mutex_unlock(&list.lock);
}

bool plim_forking_enter(plim_allocator *allocator)
{
    static const plim_fork_calls calls = { before_fork, after_fork, after_fork };
    if (!plim_forks_add(PLIM_FORK_ALLOCATORS, &calls)) {
        return false;
    }
    (void)pthread_mutex_lock(&list.lock);
    allocator->listed_next = list.first;
    allocator->listed_link = &list.first;
    if (list.first != NULL) {
        list.first->listed_link = &allocator->listed_next;
    }
    list.first = allocator;
    (void)pthread_mutex_unlock(&list.lock);
    return true;
}

void plim_forking_leave(plim_allocator *allocator)
{
    (void)pthread_mutex_lock(&list.lock);
    if (allocator->listed_link != NULL) {
        *allocator->listed_link = allocator->listed_next;
    }
    if (allocator->listed_next != NULL) {
        allocator->listed_next->listed_link = allocator->listed_link;
    }
    (void)pthread_mutex_unlock(&list.lock);
}
