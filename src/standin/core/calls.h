/*
 * calls.h - which functions the program called, told to the stage.
 *
 * The facades count. Their counts are brought to the stage now and then while the program takes
 * memory, and when it exits; so a program that is killed loses the last moments, no more.
 */
#ifndef PLIMSOLL_STANDIN_CORE_CALLS_H
#define PLIMSOLL_STANDIN_CORE_CALLS_H

#include <stdint.h>

void plim_standin_calls_flush(void);
/* The same if the last time was a while ago; cheap enough for every allocation. */
void plim_standin_calls_flush_now_and_then(void);

/* How many calls there were of libraries that compute: it grows when device memory may have. */
uint64_t plim_standin_calls_computing(void);

/* In a forked child: what is counted so far was its parent's. */
void plim_standin_calls_forget(void);

#endif
