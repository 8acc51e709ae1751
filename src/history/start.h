/*
 * start.h - what stood before the first event of a device, reconstructed.
 *
 * A recording rarely begins with the program. What was live before it shows itself twice: as a
 * free of something the trace never allocated, and as a block that is allocated at the end
 * though no event names its address. Segments are undone from the end (undo.h). The same table
 * of lifetimes (lifetimes.h) that reconstructs the start serves every later walk over the events,
 * so it stays here, with the blocks whose size is known because they still stand at the end.
 *
 * An address holds one thing at a time. So a block that is allocated at the end counts as live
 * from the start only when the trace neither allocates nor frees at its address; where it does,
 * the free shows what was there, and the block is PLIM_ANOMALY_ACTIVE_NOT_LIVE.
 */
#ifndef PLIMSOLL_HISTORY_START_H
#define PLIMSOLL_HISTORY_START_H

#include "history/lifetimes.h"
#include "history/undo.h"

/* An allocation from before the first event. */
typedef struct plim_start_allocation {
    plim_addr addr;
    uint64_t requested_bytes;
    uint64_t block_bytes; /* where has_block; else blocks.h fills it in */
    uint64_t slack_bytes; /* by how much that may be wrong */
    uint32_t stack;       /* of its block, or of the free that ends it */
    uint32_t ended_by;    /* event, or PLIM_NONE: it stands at the end */
    bool has_block;       /* a block at the end still holds it, live or pending */
    bool stack_of_free;   /* that free has a stack of its own, which is not its alloc's */
} plim_start_allocation;

/* A block whose free was requested before the first event and completes later or never. */
typedef struct plim_start_pending {
    plim_addr addr;
    uint64_t requested_bytes;
    uint64_t block_bytes; /* as of an allocation */
    uint64_t slack_bytes;
    uint32_t completed_by; /* event, or PLIM_NONE: it is pending at the end */
    bool has_block;
} plim_start_pending;

/* The block of an alloc, which still stands at the end. */
typedef struct plim_known_block {
    uint64_t bytes;
    uint32_t alloc; /* event */
} plim_known_block;

typedef struct plim_start {
    const plim_mem *mem;
    plim_lifetimes lifetimes; /* without its addresses */
    plim_undone undone;
    /* First those that the trace ends, in the order of these events. */
    PLIM_VEC(plim_start_allocation) allocations;
    PLIM_VEC(plim_start_pending) pending;
    PLIM_VEC(plim_known_block) known; /* by event, one each */
    plim_event_list pending_requests; /* frees whose blocks are pending at the end; by event */
    uint64_t anomalies[PLIM_ANOMALY_COUNT];
} plim_start;

/*
 * Works out the start of a device.
 *
 * halves  of the file the device is from: devices of one file record the same
 * errors  PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT
 * memory  what lifetimes.h says, and 48 bytes for each allocation of the start, 16 for each
 *         block that stands at the end
 */
plim_status plim_start_init(plim_start *start, const plim_device_history *device,
                            plim_free_halves halves, const plim_mem *mem, plim_error *err);
/* Zeroed ones are allowed. */
void plim_start_deinit(plim_start *start);

#endif
