/*
 * ranges.h - the addresses that stand for device memory, and ranges in them that do not overlap.
 *
 * The one data structure of the stand-ins: device allocations, reservations,
 * mappings and pinned host memory are each such a set. Not locked; the owner of
 * a set locks it.
 */
#ifndef PLIMSOLL_STANDIN_CORE_RANGES_H
#define PLIMSOLL_STANDIN_CORE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- windows --------------------------------------------------------------------------------- */

/*
 *   0x700000000000  reservations of all devices: 10 TiB, over a hundred expandable segments, each
 *                   9/8 of a device's memory
 *   0x7a0000000000  allocations, a window for each device, so that what one does leaves the
 *                   addresses of the others alone; from 0x200000000000 on where that is too little
 *
 * All lie below where Linux places libraries and stacks, look like what a driver hands out, and
 * are those that Plimsoll's simulated device uses (plimsoll/device.h). They are mapped without
 * access at first use: a stray touch of "device memory" by the host faults at once.
 */

typedef struct plim_standin_window {
    uint64_t base;
    uint64_t bytes;
} plim_standin_window;

/* Not locked: each is requested under the lock of its user. */
plim_standin_window plim_standin_window_of_reservations(void);
plim_standin_window plim_standin_window_of_device(int device);

/* The device whose allocations the address is for, or -1. */
int plim_standin_window_device(uint64_t address);

/* Is this an address only a device could use? True also where nothing is allocated. */
bool plim_standin_is_device_address(uint64_t address);

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

/* Take out the range that starts at `base`. False without one; *ret_range is untouched. */
bool plim_standin_ranges_remove(plim_standin_ranges *set, uint64_t base,
                                plim_standin_range *ret_range);

/* The range that holds `address`, or NULL. Valid until the set changes. */
const plim_standin_range *plim_standin_ranges_find(const plim_standin_ranges *set,
                                                   uint64_t address);

/* The first range that holds `address` or lies above it, or NULL. Valid until the set changes. */
const plim_standin_range *plim_standin_ranges_from(const plim_standin_ranges *set,
                                                   uint64_t address);
/* The end of the last range; NULL without ranges. */
const plim_standin_range *plim_standin_ranges_end(const plim_standin_ranges *ranges);

#endif
