/*
 * levels.h - the least that each group of allocations had live in each step.
 *
 *   step        0    1    2    3    4
 *   live       /\_  /\_  /\_  /\_  /\_      a group: one stack and stream; without a stack, one
 *   floor      0    1    2    3    4        size and stream; rare sizes are one group
 *
 * Things that a step makes and gives back do not show in floors; those that it leaves do. A floor
 * is recorded where it differs from the one before, so that a group that does not move costs
 * nothing.
 */
#ifndef PLIMSOLL_DIAGNOSE_LEAKS_LEVELS_H
#define PLIMSOLL_DIAGNOSE_LEAKS_LEVELS_H

#include "base/map.h"
#include "diagnose/leaks/axis.h"

/* Holds from its step up to the next one that is recorded. */
typedef struct plim_floor {
    uint64_t bytes;
    uint32_t count;  /* allocations */
    uint32_t step;   /* of the axis */
    uint32_t before; /* the group's last one before it, or PLIM_NONE */
} plim_floor;

typedef struct plim_level {
    uint64_t bytes; /* live now */
    uint64_t floor_bytes;
    uint32_t count;
    uint32_t floor_count;
    uint32_t touched;    /* step in which something happened to it last, + 1 */
    uint32_t last_floor; /* index into floors, or PLIM_NONE */
    bool has_stack;
    bool is_rare; /* all sizes that are rare */
} plim_level;

typedef struct plim_levels {
    const plim_case *one; /* borrowed */
    plim_axis axis;       /* borrowed */
    PLIM_VEC(plim_level) groups;
    PLIM_VEC(plim_floor) floors;
    uint32_t *of_stack; /* by stack: group + 1; further groups of a stack are in of_other */
    plim_map of_other;
    plim_map sizes;     /* requests without a stack, by size: how many */
    uint64_t rare;      /* sizes that come less often share one group */
    uint64_t end_event; /* the walk ends there */
} plim_levels;

/* Linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY; plim_levels_deinit() is allowed after them. */
plim_status plim_levels_init(plim_levels *levels, const plim_case *one, plim_axis axis,
                             plim_error *err);
/* Zeroed ones are allowed. */
void plim_levels_deinit(plim_levels *levels);

/* The group of an alloc that the walk has passed. */
uint32_t plim_levels_group(const plim_levels *levels, uint64_t event);

/* True if nothing frees what an alloc began before the last request: what is freed after it is
 * freed by the program's end. */
bool plim_levels_stays(const plim_levels *levels, uint64_t event);

#endif
