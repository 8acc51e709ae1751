/*
 * expandable.h - segments that grow and shrink by whole handles of physical memory (PyTorch: struct
 * ExpandableSegment).
 *
 * The world is stopped in all of these.
 */
#ifndef PLIMSOLL_ALLOC_EXPANDABLE_H
#define PLIMSOLL_ALLOC_EXPANDABLE_H

#include "alloc/core/policy.h"
#include "alloc/vm/pages.h"

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
 * any more. They are released, or moved to `kept` (may be NULL), which has room for them. */
plim_status plim_expandable_take(plim_heap_block *block, uint64_t count, plim_pages *kept,
                                 uint32_t stack, plim_error *err);
/* Of the handles that a new expandable segment of a shelf is made of. */
uint64_t plim_expandable_handle_bytes(const plim_shelf *shelf);
/* The bytes of addresses that it reserves. */
uint64_t plim_expandable_range_bytes(const plim_shelf *shelf);
/* A new expandable segment: nothing is mapped, and its one block is in no set. */
plim_status plim_expandable_reserve(plim_shelf *shelf, plim_segment_record **ret_segment,
                                    plim_error *err);
/* Maps whole handles of it that are not mapped; its blocks are left to the caller. What
 * a failure leaves half mapped goes when the segment does. */
plim_status plim_expandable_map(plim_segment_record *segment, plim_addr addr, uint64_t bytes,
                                plim_error *err);
/* The bytes that plim_expandable_release() would give back of a free block. */
uint64_t plim_expandable_releasable(const plim_heap_block *block);
/* Gives the whole handles inside a free block back (unmap_block); the segment too, when nothing of
 * it is left. The block is in its set. */
plim_status plim_expandable_release(plim_heap_block *block, uint32_t stack, plim_error *err);
/* Unmaps all and frees the range, whatever its blocks are: for the end of an allocator. */
void plim_expandable_destroy(plim_segment_record *segment);
/* Lets one more device reach what is mapped. */
plim_status plim_expandable_share(plim_segment_record *segment, int32_t peer, plim_error *err);

#endif
