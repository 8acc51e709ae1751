/*
 * growth.h - how the floors of a group grow: never, once or twice, at first, or without end.
 *
 *   floors      ___/\__      what never comes back: at each step the least of all floors from it
 * on.
 *             _/       \_    A sawtooth has no such growth, a pool that is full has none any more,
 *                            and a leak has it to the end.
 */
#ifndef PLIMSOLL_DIAGNOSE_LEAKS_GROWTH_H
#define PLIMSOLL_DIAGNOSE_LEAKS_GROWTH_H

#include "diagnose/leaks/levels.h"

/* Growth that stays, from one step of the axis to the next. */
typedef struct plim_rise {
    uint32_t step;
    uint64_t amount; /* bytes, or allocations */
} plim_rise;

typedef PLIM_VEC(plim_rise) plim_rises;

typedef enum plim_growth_kind {
    PLIM_GROWTH_NONE,
    PLIM_GROWTH_FEW,     /* rises too few to say whether more will come */
    PLIM_GROWTH_SETTLED, /* it grew, and stopped or slows down */
    PLIM_GROWTH_ENDLESS,
} plim_growth_kind;

typedef struct plim_growth {
    plim_growth_kind kind;
    uint32_t end_step; /* the last step that is judged: after it a sawtooth is in its last tooth */
    double gap;        /* the median distance of rises */
    uint32_t first_step; /* of the rises that go on to the end */
    bool is_saw;
} plim_growth;

/* The rises of a group in bytes or in allocations, in order, and the last step that they speak
 * for. False: no memory. Linear in the group's floors. */
bool plim_rises_of(const plim_levels *levels, uint32_t group, bool by_count, plim_rises *rises,
                   plim_growth *ret_growth);

/* Joins rises of one step, of a list in order of steps; puts a list in order and joins them. */
void plim_rises_join(plim_rises *rises);
void plim_rises_sort(plim_rises *rises);
/* Adds rises that are far smaller than the median to the next one: parts of it that show early.
 * False: no memory. */
bool plim_rises_round(const plim_mem *mem, plim_rises *rises);

/* Completes a growth whose end_step is known. Sorts a copy of n rises. False: no memory. */
bool plim_growth_judge(const plim_mem *mem, const plim_rises *rises, plim_growth *growth);

#endif
