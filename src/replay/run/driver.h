/*
 * driver.h - the device of a run: a sim device, which gives memory where the recording's driver
 * gave it, if the run asks for that. Fences on the streams of queues (program.h) complete when the
 * recording says so.
 */
#ifndef PLIMSOLL_REPLAY_RUN_DRIVER_H
#define PLIMSOLL_REPLAY_RUN_DRIVER_H

#include "plimsoll/device.h"
#include "replay/program/program.h"

/* Segments of the recording that can still be requested, in order. */
typedef struct plim_recorded_places {
    const plim_recorded_segment *next;
    size_t count;
} plim_recorded_places;

typedef struct plim_driver {
    plim_device sim;
    plim_recorded_places places;        /* none: the sim decides */
    plim_recorded_places before;        /* the last that was requested */
    const plim_recorded_segment *range; /* the last of them that was reserved, or NULL */
    uint64_t range_op;
    uint64_t op; /* the run is at this one */
} plim_driver;

/* The size of a device, and the part that others hold. */
typedef struct plim_driver_size {
    uint64_t total_bytes;
    uint64_t others_bytes;
} plim_driver_size;

/* The driver must stay where it is. */
plim_status plim_driver_init(plim_driver *driver, plim_driver_size size, uint32_t queue_count,
                             const plim_driver_costs *costs, const plim_mem *mem, plim_error *err);

/* Drops the places that the recording's driver gave before this op. */
static inline void plim_driver_at_op(plim_driver *driver, uint64_t op)
{
    while (driver->places.count > 0 && driver->places.next->op < op) {
        driver->places.next++;
        driver->places.count--;
    }
    driver->op = op;
}

#endif
