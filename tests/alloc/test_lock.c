/*
 * test_lock.c - a lock that has an owner: who owns it, and that sections still exclude each other.
 */
#include "alloc/core/lock.h"

#include "harness.h"

#include <pthread.h>

#define OFTEN 100000u

/* Enters until the calling thread owns the lock; false: it never does (no membarrier, TSan). */
static bool become_owner(plim_biased_lock *bias)
{
    for (uint32_t i = 0; i < OFTEN; i++) {
        const bool as_owner = plim_biased_enter(bias);
        plim_biased_leave(bias, as_owner);
        if (as_owner) {
            return true;
        }
    }
    return false;
}

static void who_enters_often_owns_it_and_keeps_it(void)
{
    plim_biased_lock bias = { .streak = 0 };
    if (!become_owner(&bias)) {
        T_SKIP("no thread owns locks here: no membarrier(2), or ThreadSanitizer");
    }
    for (int i = 0; i < 1000; i++) { /* its own slow sections do not end it */
        plim_biased_acquire(&bias);
        plim_biased_release(&bias);
        const bool as_owner = plim_biased_enter(&bias);
        plim_biased_leave(&bias, as_owner);
        T_TRUE(as_owner);
    }
}

static void *lock_once(void *ctx)
{
    plim_biased_lock *bias = ctx;
    plim_biased_acquire(bias);
    plim_biased_release(bias);
    return NULL;
}

static void another_thread_ends_ownership_and_it_comes_back_later(void)
{
    plim_biased_lock bias = { .streak = 0 };
    if (!become_owner(&bias)) {
        T_SKIP("no thread owns locks here: no membarrier(2), or ThreadSanitizer");
    }
    const uint32_t wanted = bias.streak_to_own;
    pthread_t thread;
    T_EQ_U64(pthread_create(&thread, NULL, lock_once, &bias), 0);
    T_EQ_U64(pthread_join(thread, NULL), 0);
    const bool as_owner = plim_biased_enter(&bias);
    plim_biased_leave(&bias, as_owner);
    T_FALSE(as_owner);
    T_EQ_U64(bias.streak_to_own, wanted * 4);
    T_TRUE(become_owner(&bias));
}

/* What the sections write: two counts that are equal outside of them. */
typedef struct shared {
    plim_biased_lock bias;
    uint64_t first;
    uint64_t second;
    bool has_failed;
} shared;

#define ROUNDS 300000u

static void *often(void *ctx)
{
    shared *it = ctx;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const bool as_owner = plim_biased_enter(&it->bias);
        it->first++;
        it->has_failed |= it->first != it->second + 1;
        it->second++;
        plim_biased_leave(&it->bias, as_owner);
    }
    return NULL;
}

static void *seldom(void *ctx)
{
    shared *it = ctx;
    for (uint32_t i = 0; i < ROUNDS / 100; i++) {
        plim_biased_acquire(&it->bias);
        it->first++;
        it->has_failed |= it->first != it->second + 1;
        it->second++;
        if (it->bias.streak_to_own > 8) {
            it->bias.streak_to_own = 8; /* so that it changes hands all the time */
        }
        plim_biased_release(&it->bias);
        for (uint32_t pause = i % 7 * 500; pause > 0; pause--) {
            atomic_signal_fence(memory_order_seq_cst);
        }
    }
    return NULL;
}

static void sections_exclude_each_other(void)
{
    shared it = { .first = 0 };
    pthread_t threads[3]; /* two that might own it, and one that keeps ending that */
    T_EQ_U64(pthread_create(&threads[0], NULL, often, &it), 0);
    T_EQ_U64(pthread_create(&threads[1], NULL, often, &it), 0);
    T_EQ_U64(pthread_create(&threads[2], NULL, seldom, &it), 0);
    for (size_t i = 0; i < T_COUNT(threads); i++) {
        T_EQ_U64(pthread_join(threads[i], NULL), 0);
    }
    T_FALSE(it.has_failed);
    T_EQ_U64(it.first, 2 * ROUNDS + ROUNDS / 100);
    T_EQ_U64(it.second, it.first);
}

T_MAIN(T_TEST(who_enters_often_owns_it_and_keeps_it),
       T_TEST(another_thread_ends_ownership_and_it_comes_back_later),
       T_TEST(sections_exclude_each_other))
