/*
 * signals.c - see signals.h.
 */
#include "rehearse/signals.h"

#include "plimsoll/launch.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#define DEADLY_COUNT (sizeof(deadly) / sizeof(deadly[0]))

static sigset_t set_of(unsigned bits)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        if ((bits & 1u << i) != 0) {
            sigaddset(&set, deadly[i]);
        }
    }
    return set;
}

static unsigned bits_of(const sigset_t *set)
{
    unsigned bits = 0;
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        bits |= sigismember(set, deadly[i]) == 1 ? 1u << i : 0;
    }
    return bits;
}

bool plim_signals_ended(int exit_status)
{
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        if (exit_status == PLIM_LAUNCH_SIGNALLED + deadly[i]) {
            return true;
        }
    }
    return false;
}

plim_held_signals plim_signals_hold(void)
{
    plim_held_signals signals = { 0 };
    for (size_t i = 0; i < DEADLY_COUNT; i++) {
        struct sigaction now;
        if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
            signals.held |= 1u << i;
        }
    }
    const sigset_t set = set_of(signals.held);
    sigset_t before;
    sigprocmask(SIG_BLOCK, &set, &before);
    signals.was_blocked = bits_of(&before);
    return signals;
}

bool plim_signals_wait(plim_held_signals signals)
{
    sigset_t waiting;
    sigpending(&waiting);
    return (bits_of(&waiting) & signals.held) != 0;
}

bool plim_signals_drop(plim_held_signals signals)
{
    static const struct timespec now = { 0 };
    const sigset_t set = set_of(signals.held);
    bool was_one = false;
    while (signals.held != 0 && sigtimedwait(&set, NULL, &now) > 0) {
        was_one = true;
    }
    return was_one;
}

void plim_signals_release(plim_held_signals signals)
{
    const sigset_t set = set_of(signals.held & ~signals.was_blocked);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
