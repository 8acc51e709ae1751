/*
 * ranges.h - address ranges that do not overlap, sorted by address.
 *
 * The one data structure of the stand-ins: device allocations, reservations,
 * mappings and pinned host memory are each such a set. Not locked; whoever owns
 * a set locks it.
 */
#ifndef PLIMSOLL_STANDIN_CORE_RANGES_H
#define PLIMSOLL_STANDIN_CORE_RANGES_H

#include "standin/core/windows.h"

#include <stddef.h>

typedef struct plim_standin_range {
    uint64_t base;
    uint64_t bytes;
    uint64_t handle; /* whatever the owner of the set wants to find again */
    int device;
} plim_standin_range;

typedef struct plim_standin_ranges {
    plim_standin_range *items; /* sorted by base; owned */
    size_t count;
    size_t capacity;
} plim_standin_ranges;

/*
 * Put a range of range->bytes at the lowest free address of the window that is
 * a multiple of `alignment` (a power of two). First fit, so that addresses are
 * used again, as a driver does, and a recording repeats itself. Ranges of the
 * set lie inside the window or outside of it, not across its edge.
 * Writes range->base. False: no room.
 */
bool plim_standin_ranges_place(plim_standin_ranges *set, plim_standin_window window,
                               uint64_t alignment, plim_standin_range *range);

/* Add a range whose base is known. False: it overlaps another, or host memory ran out. */
bool plim_standin_ranges_insert(plim_standin_ranges *set, plim_standin_range range);

/* Take out the range that starts at `base`. False: there is none, *ret_range untouched. */
bool plim_standin_ranges_remove(plim_standin_ranges *set, uint64_t base,
                                plim_standin_range *ret_range);

/* The range that holds `address`, or NULL. Valid until the set changes. */
const plim_standin_range *plim_standin_ranges_find(const plim_standin_ranges *set,
                                                   uint64_t address);

/* The first range that holds `address` or lies behind it, or NULL. Valid until the set changes. */
const plim_standin_range *plim_standin_ranges_from(const plim_standin_ranges *set,
                                                   uint64_t address);
/* The place behind the last range; NULL where there is none. */
const plim_standin_range *plim_standin_ranges_end(const plim_standin_ranges *ranges);

#endif
