/*
 * ending.h - a rehearsal leaves no process: what the program started and did not end is ended with
 * its worker, which adopts it.
 */
#ifndef PLIMSOLL_FIT_ENDING_H
#define PLIMSOLL_FIT_ENDING_H

#include <sys/types.h>

/* From now on processes below this one whose parent ends become its own children. */
void plim_fit_adopt_orphans(void);
/* Ends all children of this process, and theirs: SIGTERM, then SIGKILL. For workers: they have
 * no others. */
void plim_fit_end_orphans(void);
void plim_fit_signal_children(pid_t parent, int signal);

#endif
