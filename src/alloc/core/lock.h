/*
 * lock.h - two locks for sections of a few dozen instructions that are nearly always uncontended.
 *
 * The spin lock: one atomic exchange to take, a plain store to release. A thread that finds it
 * taken spins a little, then yields its core, then sleeps: the holder may be in a driver call.
 *
 * The biased lock belongs to the thread that keeps taking it: nearly always one thread works on a
 * stream. After it has taken the lock many times in a row it owns it, and enters with two plain
 * memory accesses, no atomic exchange. Another thread takes the spin lock inside, ends the
 * ownership, and has the kernel run a memory barrier on every core (membarrier(2)): from then on
 * either the owner is seen to be inside, and is waited for, or the owner sees that it owns nothing.
 * The more often that happens, the later the next ownership.
 *
 * Invariant: only one thread ever owns a lock. One that owned it may have been stopped between two
 * of its accesses for any time, and would then write over what another owner wrote.
 *
 * Without membarrier(2), and under ThreadSanitizer, which does not model it, no thread ever owns.
 */
#ifndef PLIMSOLL_ALLOC_LOCK_H
#define PLIMSOLL_ALLOC_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* --- the spin lock --- */

typedef struct plim_spin {
    atomic_bool is_taken;
} plim_spin;

/* Slow path of plim_spin_lock(). */
void plim_spin_wait(plim_spin *spin);

static inline bool plim_spin_try(plim_spin *spin)
{
    return !atomic_exchange_explicit(&spin->is_taken, true, memory_order_acquire);
}

static inline void plim_spin_lock(plim_spin *spin)
{
    if (!plim_spin_try(spin)) {
        plim_spin_wait(spin);
    }
}

static inline void plim_spin_unlock(plim_spin *spin)
{
    atomic_store_explicit(&spin->is_taken, false, memory_order_release);
}

/* --- the biased lock --- */

typedef struct plim_biased_lock {
    plim_spin lock;
    atomic_bool is_inside;  /* the owner, without the lock; written by that thread alone */
    atomic_uintptr_t owner; /* plim_thread_mark() of a thread, or 0 */
    uintptr_t only_owner;   /* under the lock: the first owner, or 0; */
    uintptr_t last;         /* … the thread that took it last, */
    uint32_t streak;        /* … how often in a row, */
    uint32_t streak_to_own; /* … and how often is enough; 0: never taken yet */
} plim_biased_lock;

/* One in each thread, for its address; the same in every file. */
#if defined(__GNUC__)
__attribute__((tls_model("initial-exec")))
#endif
extern _Thread_local char plim_thread_byte;

/* A number no other living thread has. */
static inline uintptr_t plim_thread_mark(void)
{
    return (uintptr_t)&plim_thread_byte;
}

/* For any thread, whatever it holds of it before: waits for the owner, who stays the owner only if
 * it is the caller. */
void plim_biased_acquire(plim_biased_lock *lock);
void plim_biased_release(plim_biased_lock *lock);

/* Slow path of plim_biased_enter(): the ordinary lock, and perhaps ownership. */
void plim_biased_enter_slowly(plim_biased_lock *lock, uintptr_t mark);

/* The same for short sections. Returns how it was entered, for plim_biased_leave(). */
static inline bool plim_biased_enter(plim_biased_lock *lock)
{
    const uintptr_t mark = plim_thread_mark();
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == mark) {
        atomic_store_explicit(&lock->is_inside, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the other side makes it a real one */
        if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == mark) {
            return true;
        }
        atomic_store_explicit(&lock->is_inside, false, memory_order_release);
    }
    plim_biased_enter_slowly(lock, mark);
    return false;
}

static inline void plim_biased_leave(plim_biased_lock *lock, bool as_owner)
{
    if (as_owner) {
        atomic_store_explicit(&lock->is_inside, false, memory_order_release);
    } else {
        plim_spin_unlock(&lock->lock);
    }
}

#endif
