/*
 * steps.h - the ways to find steps, for steps.c.
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

/* A call of backward: its first request, and the line of the program that calls it. */
typedef struct plim_backward_call {
    uint64_t event;
    uint32_t frame;
} plim_backward_call;

typedef struct plim_backward_calls {
    plim_backward_call *items;
    size_t count;
    size_t capacity;
    uint32_t head; /* the line with whose calls steps end, or PLIM_NONE: with each */
} plim_backward_calls;

/* Both are false when there is no memory. */
bool plim_backward_calls_find(const plim_steps_search *search, plim_backward_calls *ret_calls);
bool plim_steps_from_backward(const plim_steps_search *search, const plim_backward_calls *calls,
                              plim_bounds *bounds);
void plim_backward_calls_deinit(const plim_steps_search *search, plim_backward_calls *calls);
/* Joins steps of several optimizers into those that have a call of the head. */
void plim_steps_join(const plim_backward_calls *calls, plim_bounds *bounds);
/* True unless steps hold ever other numbers of calls. */
bool plim_steps_are_regular(const plim_backward_calls *calls, const plim_bounds *bounds);

/* Turns ends of steps (events after the last one of each, ascending) into bounds, in place. */
bool plim_steps_from_ends(const plim_steps_search *search, plim_bounds *bounds);

static inline plim_stack_kind plim_search_kind(const plim_steps_search *search, uint64_t event)
{
    return plim_stack_kind_of(&search->kinds, search->events->stack[event]);
}

#endif
