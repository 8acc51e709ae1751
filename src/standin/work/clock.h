/*
 * clock.h - how late work on streams may end.
 *
 * Work here is over as soon as it is submitted. On a GPU it ends later: at the latest when the
 * host waits for it, or for work that waited for it, or when the stream's queue is full. A clock
 * counts what a stream was given and how much of it has to be over by now, so that it can be said
 * of an event whether it could still be ahead.
 *
 * PyTorch asks this when it frees a block that another stream used: until all events are over the
 * block stays reserved and cannot be had.
 *
 * All functions want the lock of state.h held. A clock of NULL, without memory, is never late.
 */
#ifndef PLIMSOLL_STANDIN_WORK_CLOCK_H
#define PLIMSOLL_STANDIN_WORK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_standin_clock plim_standin_clock;

/* For a new stream of a device; and back, when it goes: its work counts as over. */
plim_standin_clock *plim_standin_clock_take(int device);
void plim_standin_clock_give(plim_standin_clock *clock);
/* That of a device's legacy stream. */
plim_standin_clock *plim_standin_clock_of_legacy(int device);

/* One more piece of work: its number, from 1. */
uint64_t plim_standin_clock_tick(plim_standin_clock *clock);
/* The next work waits for another stream's work of that number. */
void plim_standin_clock_follow(plim_standin_clock *clock, plim_standin_clock *other,
                               uint64_t number);
/* Work up to that number is over, and what it waited for. */
void plim_standin_clock_finish(plim_standin_clock *clock, uint64_t number);
void plim_standin_clock_finish_all(plim_standin_clock *clock);
void plim_standin_clock_finish_device(int device);
bool plim_standin_clock_is_over(const plim_standin_clock *clock, uint64_t number);
/* A freed block waits for work of that number, which is not over. Returns how many could wait at
 * once now, on all streams of the device. */
uint64_t plim_standin_clock_hold(plim_standin_clock *clock, uint64_t number);

#endif
