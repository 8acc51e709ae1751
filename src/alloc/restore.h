/*
 * restore.h - putting an allocator into a state that was recorded: segments and blocks as they
 * lay, live blocks handed out, free ones in their sets.
 */
#ifndef PLIMSOLL_ALLOC_RESTORE_H
#define PLIMSOLL_ALLOC_RESTORE_H

#include "plimsoll/allocator.h"

/*
 * What stood. Segments are disjoint and in order of addresses; the blocks of each tile it, live
 * (PLIM_BLOCK_ACTIVE_ALLOCATED) or free (PLIM_BLOCK_INACTIVE). Expandable segments of one stream,
 * pool and size class that follow each other become one range where they fit it: mapped runs,
 * multiples of the handles' size apart. Free neighbours become one block.
 */
typedef struct plim_heap_state {
    const plim_segment *segments;
    size_t segment_count;
    const plim_block *blocks;
    size_t block_count;
    const plim_stream *streams; /* what plim_segment.stream means */
    /* Called before the device is asked for each piece: it is wanted there. May be NULL. A range
     * begins below its first run where it would not end before the next segment otherwise. */
    void (*place)(void *ctx, plim_addr addr);
    void *place_ctx;
} plim_heap_state;

/*
 * Restores a device of an allocator that nothing was requested of yet. Private pools are made and
 * have one user each. No event is emitted; statistics are as if all was just allocated, with peaks
 * and sums of that alone. On failure nothing has changed. Nobody else uses the allocator meanwhile.
 *
 * ret_addrs   room for block_count: where each live block is now. Elsewhere than recorded when
 *             the device placed its segment elsewhere
 * errors      PLIM_OUT_OF_DEVICE_MEMORY (of the device, or by a memory fraction),
 *             PLIM_INVALID_ARGUMENT (blocks that do not tile, a state that is not empty),
 *             PLIM_UNSUPPORTED (an expandable segment, and the device cannot map, or its runs are
 *             no whole handles, or longer than a range; canaries), PLIM_OUT_OF_HOST_MEMORY
 * time        n log n in blocks
 */
plim_status plim_allocator_restore(plim_allocator *allocator, int32_t device,
                                   const plim_heap_state *state, plim_addr *ret_addrs,
                                   plim_error *err);

#endif
