/*
 * segments.h - getting memory from the device and giving it back, a segment at a time.
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_SEGMENTS_H
#define PLIMSOLL_ALLOC_SEGMENTS_H

#include "alloc/core/policy.h"

/* A segment over a range, with one block that covers it, in no set. NULL: no host memory. */
plim_segment_record *plim_segment_add(plim_shelf *shelf, plim_addr addr, uint64_t bytes,
                                      bool is_mapped);
/* Forgets a segment of one block, which is in no set. */
void plim_segment_remove(plim_segment_record *segment);

/* The driver's call with that stack made or grew the segment that begins with this block.
 * PLIM_NONE, or no host memory: it is not noted. */
void plim_segment_set_cause(plim_heap_block *block, uint32_t stack);

/* Counts what the driver gave (positive) or took back. */
void plim_segment_count(plim_shelf *shelf, int64_t bytes);

/* Plain memory of `bytes`: a block that covers it, in no set (alloc_block). */
plim_attempt plim_segment_alloc(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                plim_heap_block **ret_block, plim_error *err);
/* Gives the segment of a free block without neighbours back to the device (release_block). The
 * block is still in its set. */
plim_status plim_segment_release(plim_heap_block *block, uint32_t stack, plim_error *err);

#endif
