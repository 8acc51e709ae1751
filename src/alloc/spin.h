/*
 * spin.h - a lock for sections of a few dozen instructions that are nearly always uncontended.
 *
 * Taking it is one atomic exchange, releasing it a plain store. Who finds it taken spins a little,
 * then gives way to other threads, then sleeps: a holder may be in the middle of a driver call.
 */
#ifndef PLIMSOLL_ALLOC_SPIN_H
#define PLIMSOLL_ALLOC_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>

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

#endif
