/*
 * signals.h - those that would end this process, held while a folder must not be left behind or an
 * answer must not be lost: INT, TERM, HUP and QUIT.
 */
#ifndef PLIMSOLL_REHEARSE_SIGNALS_H
#define PLIMSOLL_REHEARSE_SIGNALS_H

#include <stdbool.h>

/* One bit for each of the four. */
typedef struct plim_held_signals {
    unsigned held;        /* not ignored */
    unsigned was_blocked; /* before */
} plim_held_signals;

/* True if a program's exit status, as plim_launched has it, is that of one of them. */
bool plim_signals_ended(int exit_status);

plim_held_signals plim_signals_hold(void);
/* True if one of them waits. */
bool plim_signals_wait(plim_held_signals signals);
/* Takes those that wait: they never come. True if there was one. */
bool plim_signals_drop(plim_held_signals signals);
/* Those that wait come now. */
void plim_signals_release(plim_held_signals signals);

#endif
