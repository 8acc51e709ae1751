/*
 * lock.c - waiting for a spin lock; becoming the owner of a biased lock, and losing it. See lock.h.
 */
#include "alloc/core/lock.h"

#include <sched.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__)
#define CAN_OWN 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAN_OWN 0
#endif
#endif
#if !defined(CAN_OWN) && defined(__linux__)
#define CAN_OWN 1
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif !defined(CAN_OWN)
#define CAN_OWN 0
#endif

/* --- the spin lock --- */

#define SPINS     64  /* a section is over within these, unless its thread lost its core */
#define GIVES_WAY 256 /* … or it calls a driver */
#define SLEEP_NS  50000

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void plim_spin_wait(plim_spin *spin)
{
    for (unsigned turn = 0;; turn++) {
        if (!atomic_load_explicit(&spin->is_taken, memory_order_relaxed) && plim_spin_try(spin)) {
            return;
        }
        if (turn < SPINS) {
            pause_briefly();
        } else if (turn < GIVES_WAY) {
            (void)sched_yield();
        } else {
            (void)nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
        }
    }
}

/* --- the biased lock --- */

_Thread_local char plim_thread_byte;

#define STREAK_TO_OWN     256u       /* at first */
#define STREAK_TO_OWN_MAX (1u << 24) /* after many ownerships that were ended */

#if CAN_OWN

/* True if the kernel runs barriers for this process; asked once. */
static bool has_barrier(void)
{
    enum { UNKNOWN, YES, NO };
    static atomic_int known;
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (is == UNKNOWN) {
        is = syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 ? YES
                                                                                            : NO;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == YES;
}

static void barrier_everywhere(void)
{
    (void)syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

#else

static bool has_barrier(void)
{
    return false;
}

static void barrier_everywhere(void) {}

#endif

/* The lock is held. */
static void end_ownership(plim_biased_lock *lock)
{
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    barrier_everywhere();
    while (atomic_load_explicit(&lock->is_inside, memory_order_acquire)) {
        (void)sched_yield(); /* sections are short, but their thread may have lost its core */
    }
    lock->streak = 0;
    if (lock->streak_to_own < STREAK_TO_OWN_MAX) {
        lock->streak_to_own *= 4;
    }
}

static void acquire(plim_biased_lock *lock, uintptr_t mark)
{
    plim_spin_lock(&lock->lock);
    const uintptr_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
    if (owner != 0 && owner != mark) {
        end_ownership(lock);
    }
}

void plim_biased_acquire(plim_biased_lock *lock)
{
    acquire(lock, plim_thread_mark());
}

void plim_biased_release(plim_biased_lock *lock)
{
    plim_spin_unlock(&lock->lock);
}

void plim_biased_enter_slowly(plim_biased_lock *lock, uintptr_t mark)
{
    acquire(lock, mark);
    if (lock->last != mark) {
        lock->last = mark;
        lock->streak = 0;
        return;
    }
    if (lock->streak_to_own == 0) {
        lock->streak_to_own = STREAK_TO_OWN;
    }
    lock->streak++;
    const bool may_own = lock->only_owner == 0 || lock->only_owner == mark;
    if (may_own && lock->streak >= lock->streak_to_own && has_barrier()) {
        lock->only_owner = mark;
        atomic_store_explicit(&lock->owner, mark, memory_order_relaxed);
    }
}
