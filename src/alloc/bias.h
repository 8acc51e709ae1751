/*
 * bias.h - a lock that belongs to the thread that keeps taking it.
 *
 * Nearly always one thread works on a stream. After it has taken the lock many times in a row it
 * owns it, and enters with two plain memory accesses, no atomic exchange. Somebody else who wants
 * in takes the ordinary lock, ends the ownership, and has the kernel run a memory barrier on every
 * core (membarrier(2)): from then on either the owner is seen to be inside, and is waited for, or
 * the owner sees that it owns nothing. The more often that happens, the later the next ownership.
 *
 * Only one thread ever owns a lock. One that owned it may have been stopped between two of its
 * accesses for any time, and would then write over what another owner wrote.
 *
 * Without membarrier(2), and under ThreadSanitizer, which does not know it, nobody ever owns.
 */
#ifndef PLIMSOLL_ALLOC_BIAS_H
#define PLIMSOLL_ALLOC_BIAS_H

#include "alloc/spin.h"

#include <stdint.h>

typedef struct plim_bias {
    plim_spin lock;
    atomic_bool is_inside;  /* the owner, without the lock; written by that thread alone */
    atomic_uintptr_t owner; /* plim_thread_mark() of a thread, or 0 */
    uintptr_t only_owner;   /* under the lock: who owned it first, or 0; */
    uintptr_t last;         /* … who took it last, */
    uint32_t streak;        /* … how often in a row, */
    uint32_t streak_to_own; /* … and how often is enough; 0: never taken yet */
} plim_bias;

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
void plim_bias_lock(plim_bias *bias);
void plim_bias_unlock(plim_bias *bias);

/* Slow path of plim_bias_enter(): the ordinary lock, and perhaps ownership. */
void plim_bias_enter_slowly(plim_bias *bias, uintptr_t mark);

/* The same for short sections. Returns how it was entered, for plim_bias_leave(). */
static inline bool plim_bias_enter(plim_bias *bias)
{
    const uintptr_t mark = plim_thread_mark();
    if (atomic_load_explicit(&bias->owner, memory_order_relaxed) == mark) {
        atomic_store_explicit(&bias->is_inside, true, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the other side makes it a real one */
        if (atomic_load_explicit(&bias->owner, memory_order_relaxed) == mark) {
            return true;
        }
        atomic_store_explicit(&bias->is_inside, false, memory_order_release);
    }
    plim_bias_enter_slowly(bias, mark);
    return false;
}

static inline void plim_bias_leave(plim_bias *bias, bool as_owner)
{
    if (as_owner) {
        atomic_store_explicit(&bias->is_inside, false, memory_order_release);
    } else {
        plim_spin_unlock(&bias->lock);
    }
}

#endif
