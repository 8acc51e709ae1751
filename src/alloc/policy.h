/*
 * policy.h - what a policy decides; everything else about memory is mechanism.
 *
 * The mechanism (place, segments, expandable, streams, release) splits, merges, maps and counts. A
 * policy says which free block serves a request, how much of it, and what is tried, in which
 * order, when none does.
 */
#ifndef PLIMSOLL_ALLOC_POLICY_H
#define PLIMSOLL_ALLOC_POLICY_H

#include "alloc/segments.h"

/* One request on its way. */
typedef struct plim_request {
    plim_heap *heap;
    plim_shelf *shelf; /* where it takes from */
    plim_stream stream;
    uint64_t requested_bytes;
    uint64_t rounded_bytes;
    uint64_t segment_bytes; /* what the device is asked for */
    uint32_t stack;
    bool is_expandable; /* new memory comes from expandable segments */
    bool is_rejected;   /* by throw_on_cudamalloc_oom */
} plim_request;

typedef struct plim_policy {
    /* Fills what follows from the settings: rounded and segment bytes, pool, expandable. */
    plim_status (*prepare)(plim_request *request, plim_error *err);
    /* A free block for the request, taken out of its set; NULL: none fits. */
    plim_heap_block *(*find)(const plim_request *request);
    /* Memory for the request after none was found, released and asked for as need be. The block is
     * in no set. The world is stopped, and stays so. */
    plim_attempt (*obtain)(plim_request *request, plim_heap_block **ret_block, plim_error *err);
    /* How much of the block is handed out; 0: all of it. */
    uint64_t (*split)(const plim_request *request, const plim_heap_block *block);
} plim_policy;

/* PyTorch's, of the release PLIM_ALLOCATOR_TORCH names. */
extern const plim_policy plim_policy_torch;

#endif
