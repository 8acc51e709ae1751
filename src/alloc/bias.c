/*
 * bias.c - becoming the owner of a lock, and ending that. See bias.h.
 */
#include "alloc/bias.h"

#include <sched.h>

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

_Thread_local char plim_thread_byte;

#define STREAK_TO_OWN     256u       /* at first */
#define STREAK_TO_OWN_MAX (1u << 24) /* after many ownerships that were ended */

#if CAN_OWN

/* Whether the kernel runs barriers for this process; asked once. */
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
static void end_ownership(plim_bias *bias)
{
    atomic_store_explicit(&bias->owner, 0, memory_order_relaxed);
    barrier_everywhere();
    while (atomic_load_explicit(&bias->is_inside, memory_order_acquire)) {
        (void)sched_yield(); /* sections are short, but their thread may have lost its core */
    }
    bias->streak = 0;
    if (bias->streak_to_own < STREAK_TO_OWN_MAX) {
        bias->streak_to_own *= 4;
    }
}

static void lock(plim_bias *bias, uintptr_t mark)
{
    plim_spin_lock(&bias->lock);
    const uintptr_t owner = atomic_load_explicit(&bias->owner, memory_order_relaxed);
    if (owner != 0 && owner != mark) {
        end_ownership(bias);
    }
}

void plim_bias_lock(plim_bias *bias)
{
    lock(bias, plim_thread_mark());
}

void plim_bias_unlock(plim_bias *bias)
{
    plim_spin_unlock(&bias->lock);
}

void plim_bias_enter_slowly(plim_bias *bias, uintptr_t mark)
{
    lock(bias, mark);
    if (bias->last != mark) {
        bias->last = mark;
        bias->streak = 0;
        return;
    }
    if (bias->streak_to_own == 0) {
        bias->streak_to_own = STREAK_TO_OWN;
    }
    bias->streak++;
    const bool may_own = bias->only_owner == 0 || bias->only_owner == mark;
    if (may_own && bias->streak >= bias->streak_to_own && has_barrier()) {
        bias->only_owner = mark;
        atomic_store_explicit(&bias->owner, mark, memory_order_relaxed);
    }
}
