/*
 * windows.h - the addresses that stand for device memory.
 *
 *   0x700000000000  reservations of all devices: 10 TiB, over a hundred expandable segments, each
 *                   9/8 of a device's memory
 *   0x7a0000000000  allocations, a window for each device, so that what one does leaves the
 *                   addresses of the others alone; from 0x200000000000 on where that is too little
 *
 * All lie below where Linux places libraries and stacks, look like what a driver hands out, and
 * are those that Plimsoll's simulated device uses (plimsoll/device.h). They are mapped without
 * access at first use: a stray touch of "device memory" by the host faults at once.
 */
#ifndef PLIMSOLL_STANDIN_CORE_WINDOWS_H
#define PLIMSOLL_STANDIN_CORE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plim_standin_window {
    uint64_t base;
    uint64_t bytes;
} plim_standin_window;

/* Not locked: each is asked for under the lock of its user. */
plim_standin_window plim_standin_window_of_reservations(void);
plim_standin_window plim_standin_window_of_device(int device);

/* The device whose allocations the address is for, or -1. */
int plim_standin_window_device(uint64_t address);

/* Is this an address only a device could use? True also where nothing is allocated. */
bool plim_standin_is_device_address(uint64_t address);

#endif
