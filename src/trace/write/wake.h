/*
 * wake.h - a sleep of the writer that any thread ends.
 *
 * A semaphore of POSIX would do, but for its time limit: sem_timedwait() follows the wall clock,
 * which is set back at times, and sem_clockwait() needs glibc 2.30.
 */
#ifndef PLIMSOLL_TRACE_WRITE_WAKE_H
#define PLIMSOLL_TRACE_WRITE_WAKE_H

#include <stdint.h>

/* All zero is valid. */
typedef struct plim_wake {
    _Atomic uint32_t calls;
    uint32_t calls_seen; /* the sleeper's own */
} plim_wake;

/* Ends the sleep, or the next one where there is no sleeper. Safe in any thread. */
void plim_wake_call(plim_wake *wake);

/* At most this long; returns at once where a call came since the last sleep. Of one thread. */
void plim_wake_sleep(plim_wake *wake, uint64_t rest_ns);

#endif
