/*
 * driver.h - the device of a run: a sim device, and what a recording adds to it.
 *
 * Memory is the sim's, where the recording's driver had it if the run asks for that. Fences belong
 * to queues of frees (program.h) and complete when the recording says so. Calls are counted and
 * cost what they are said to cost.
 */
#ifndef PLIMSOLL_REPLAY_DRIVER_H
#define PLIMSOLL_REPLAY_DRIVER_H

#include "plimsoll/device.h"
#include "replay/program.h"

typedef struct plim_driver_queue {
    uint64_t entered;   /* frees that wait or waited in it */
    uint64_t completed; /* of them, the first so many are done */
} plim_driver_queue;

typedef struct plim_driver_fence {
    uint32_t queue; /* or PLIM_NONE: on a stream that is no queue, and done at once */
    uint64_t entry; /* in it, from 1 */
} plim_driver_fence;

typedef struct plim_driver {
    const plim_mem *mem;
    plim_device sim;
    plim_driver_costs costs;
    uint64_t calls[PLIM_DEVICE_CALL_COUNT];
    double time_us;
    uint64_t refusals; /* calls for which there was no memory, of the whole run */
    plim_driver_queue *queues;
    uint32_t queue_count;
    bool frees_wait;                    /* memory_free waits for the frees in all queues */
    PLIM_VEC(plim_driver_fence) fences; /* of plim_fence - 1 */
    /* Where the recording's driver put memory, from the next on; none: the sim decides. */
    const plim_recorded_segment *recorded;
    size_t recorded_count;
    const plim_recorded_segment *range; /* the last of them that was reserved, or NULL */
    uint64_t range_op;
    uint64_t op; /* the run is at this one */
} plim_driver;

/* What a device has: all of it is to be had but what others hold. */
typedef struct plim_driver_size {
    uint64_t total_bytes;
    uint64_t others_bytes;
} plim_driver_size;

/* The driver must stay where it is. */
plim_status plim_driver_init(plim_driver *driver, plim_driver_size size, uint32_t queue_count,
                             const plim_driver_costs *costs, const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_driver_deinit(plim_driver *driver);
/* The device, for an allocator; borrowed until deinit. */
plim_device plim_driver_device(plim_driver *driver);

/* What the recording's driver gave before this op cannot be asked for any more. */
static inline void plim_driver_at_op(plim_driver *driver, uint64_t op)
{
    while (driver->recorded_count > 0 && driver->recorded->op < op) {
        driver->recorded++;
        driver->recorded_count--;
    }
    driver->op = op;
}

/* The first `entry` frees of a queue are done. */
void plim_driver_complete(plim_driver *driver, uint32_t queue, uint64_t entry);
/* Forget what was counted so far. */
void plim_driver_reset_counts(plim_driver *driver);

#endif
