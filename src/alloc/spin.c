/*
 * spin.c - waiting for a lock that somebody holds. See spin.h.
 */
#include "alloc/spin.h"

#include <sched.h>
#include <time.h>

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
