/*
 * steps.h - the three ways to find steps, for steps.c.
 *
 * Each adds to `bounds` where steps begin, and after the last one where it ends; nothing when
 * it finds none.
 */
#ifndef PLIMSOLL_PHASES_STEPS_H
#define PLIMSOLL_PHASES_STEPS_H

#include "base/vec.h"
#include "phases/marks.h"
#include "phases/stack_kinds.h"
#include "plimsoll/phases.h"

typedef PLIM_VEC(uint64_t) plim_bounds;

/* The input of all of them. */
typedef struct plim_steps_search {
    const plim_mem *mem;
    const plim_history *history;
    const plim_events *events;
    uint8_t free_action; /* what ends allocations in this file */
    plim_stack_kinds kinds;
    plim_marks marks;
} plim_steps_search;

/* Each is false when there is no memory. */
bool plim_steps_from_marks(const plim_steps_search *search, plim_bounds *bounds);
bool plim_steps_from_optimizer(const plim_steps_search *search, plim_bounds *bounds);
bool plim_steps_from_period(const plim_steps_search *search, plim_bounds *bounds);

/* Turns ends of steps (events after the last one of each, ascending) into bounds, in place. */
bool plim_steps_from_ends(const plim_steps_search *search, plim_bounds *bounds);

static inline plim_stack_kind plim_search_kind(const plim_steps_search *search, uint64_t event)
{
    return plim_stack_kind_of(&search->kinds, search->events->stack[event]);
}

#endif
