/*
 * axis.h - what growth is measured along: the steps of a device, or the turns of its loop.
 */
#ifndef PLIMSOLL_DIAGNOSE_LEAKS_AXIS_H
#define PLIMSOLL_DIAGNOSE_LEAKS_AXIS_H

#include "diagnose/case/case.h"

/* Runs of events: run i is [first_events[i], first_events[i + 1]); what follows the last one is
 * not looked at. */
typedef struct plim_axis {
    const uint64_t *first_events; /* count + 1 */
    size_t count;                 /* below 2^32 - 1 */
    const plim_step_fact *facts;  /* of each run */
    bool is_turns;                /* no steps were found: runs are turns of a loop */
} plim_axis;

typedef PLIM_VEC(uint64_t) plim_turns;

/*
 * Finds the turns of the outermost loop, where no steps were found: a turn begins with a request
 * that comes again and again, at even distances, through most of the recording, and from outside
 * of any module; without stacks it is known by its size, and each turn gives something back.
 * `turns` gets the beginnings and the end of the last one, or nothing. Linear in events and in
 * frames of stacks. False: no memory.
 */
bool plim_turns_find(const plim_case *one, plim_turns *turns);

/* The run of the axis that an event lies in; `hint` is one that is not after it. Events come in
 * order, so that a walk over all of them is linear. */
size_t plim_axis_step(const plim_axis *axis, size_t hint, uint64_t event);

#endif
