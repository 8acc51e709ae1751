/*
 * segments.h - getting memory from the device and giving it back, a segment at a time.
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_SEGMENTS_H
#define PLIMSOLL_ALLOC_SEGMENTS_H

#include "alloc/heap.h"

/* A segment over a range, with one block that covers it, in no set. NULL: no host memory. */
plim_segment_record *plim_segment_add(plim_shelf *shelf, plim_addr addr, uint64_t bytes,
                                      bool is_mapped);
/* Forgets a segment of one block, which is in no set. */
void plim_segment_remove(plim_segment_record *segment);

/* How an attempt to get memory ended. */
typedef enum plim_attempt {
    PLIM_ATTEMPT_DONE,
    PLIM_ATTEMPT_NO_MEMORY, /* the device, or the limit, has no more */
    PLIM_ATTEMPT_FAILED,    /* anything else: err says what */
} plim_attempt;

/* Counts what the driver gave (positive) or took back. */
void plim_segment_count(plim_shelf *shelf, int64_t bytes);

/* Plain memory of `bytes`: a block that covers it, in no set (alloc_block). */
plim_attempt plim_segment_alloc(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                plim_heap_block **ret_block, plim_error *err);
/* Gives the segment of a free block without neighbours back to the device (release_block). The
 * block is still in its set. */
plim_status plim_segment_release(plim_heap_block *block, uint32_t stack, plim_error *err);

/* --- expandable segments (expandable.c) --- */

/* At least `bytes` in one free, mapped block, in no set, mapping what is missing
 * (try_allocate_expandable_block). */
plim_attempt plim_expandable_alloc(plim_shelf *shelf, uint64_t bytes, uint32_t stack,
                                   plim_heap_block **ret_block, plim_error *err);
/* Its two parts: where that would be, which may be a new range (a free block, in its set; what
 * follows it adds up to `bytes`) … */
plim_attempt plim_expandable_room(plim_shelf *shelf, uint64_t bytes, plim_heap_block **ret_block,
                                  plim_error *err);
/* … and mapping what is missing there. */
plim_attempt plim_expandable_fill(plim_heap_block *block, uint64_t bytes, uint32_t stack,
                                  plim_heap_block **ret_block, plim_error *err);
/* Maps at least `bytes` from the start of an unmapped block, and merges it with nothing: it is
 * free, in its set. */
plim_attempt plim_expandable_map_apart(plim_heap_block *block, uint64_t bytes, uint32_t stack,
                                       plim_error *err);
/* Unmaps the last `count` whole handles inside a free block, which is in its set and nowhere used
 * any more. They are released, or kept in heap->pages, which has room for them. */
plim_status plim_expandable_take(plim_heap_block *block, uint64_t count, bool keeps, uint32_t stack,
                                 plim_error *err);
/* Of the handles that a new expandable segment of a shelf is made of. */
uint64_t plim_expandable_handle_bytes(const plim_shelf *shelf);
/* How many addresses it reserves. */
uint64_t plim_expandable_range_bytes(const plim_shelf *shelf);
/* A new expandable segment: nothing is mapped, and its one block is in no set. */
plim_status plim_expandable_reserve(plim_shelf *shelf, plim_segment_record **ret_segment,
                                    plim_error *err);
/* Memory behind whole handles of it, where there is none; its blocks are left to the caller. What
 * a failure leaves half mapped goes when the segment does. */
plim_status plim_expandable_map(plim_segment_record *segment, plim_addr addr, uint64_t bytes,
                                plim_error *err);
/* What plim_expandable_release() would give back of a free block. */
uint64_t plim_expandable_releasable(const plim_heap_block *block);
/* Gives the whole handles inside a free block back (unmap_block); the segment too, when nothing of
 * it is left. The block is in its set. */
plim_status plim_expandable_release(plim_heap_block *block, uint32_t stack, plim_error *err);
/* Unmaps all and frees the range, whatever its blocks are: for the end of an allocator. */
void plim_expandable_destroy(plim_segment_record *segment);
/* Lets one more device reach what is mapped. */
plim_status plim_expandable_share(plim_segment_record *segment, int32_t peer, plim_error *err);

#endif
