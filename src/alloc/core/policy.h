/*
 * policy.h - what a policy decides; everything else about memory is mechanism.
 *
 * The mechanism (core, vm) splits, merges, maps and counts. A policy says which free block serves a
 * request, how much of it, and what is tried, in which order, when none does; and what becomes of a
 * block when it is free.
 *
 *   fast path   round to unit_bytes ──► fit ──► handed out              (lane.c, under a lane's
 * lock) slow path   prepare ──► find ──► (callbacks) ──► obtain ──► split ──► handed out frees
 * freed ──► (the events it waits for) ──► take_back
 *
 * Private pools are served as PyTorch serves them, whatever the policy: what a graph or a program
 * keeps there must stay where it is. docs/design/policies.md has each policy's rules and sources.
 */
#ifndef PLIMSOLL_ALLOC_POLICY_H
#define PLIMSOLL_ALLOC_POLICY_H

#include "alloc/core/heap.h"

struct plim_policy;

/* The end of an attempt to get memory. */
typedef enum plim_attempt {
    PLIM_ATTEMPT_DONE,
    PLIM_ATTEMPT_NO_MEMORY, /* the device, or the limit, has no more */
    PLIM_ATTEMPT_FAILED,    /* anything else: err says what */
} plim_attempt;

/* One request on its way. */
typedef struct plim_request {
    const struct plim_policy *policy; /* that serves it */
    plim_heap *heap;
    plim_shelf *shelf; /* where it takes from */
    plim_stream stream;
    uint64_t requested_bytes;
    uint64_t wanted_bytes; /* with the room that hardening adds */
    uint64_t rounded_bytes;
    uint64_t segment_bytes; /* what the device is asked for */
    uint32_t stack;
    bool is_expandable; /* new memory comes from expandable segments */
    bool is_rejected;   /* by throw_on_cudamalloc_oom */
} plim_request;

/* The world is stopped in all of these. What may be NULL is done then as PyTorch does it. */
typedef struct plim_policy {
    /* Fills what follows from the settings: rounded and segment bytes, shelf, expandable. */
    plim_status (*prepare)(plim_request *request, plim_error *err);
    /* A free block for the request, taken out of its set; NULL: none fits. */
    plim_heap_block *(*find)(const plim_request *request);
    /* Memory for the request after none was found, released and requested as need be. The block is
     * in no set. */
    plim_attempt (*obtain)(plim_request *request, plim_heap_block **ret_block, plim_error *err);
    /* The bytes of the block to hand out; 0: all of it. */
    uint64_t (*split)(const plim_request *request, const plim_heap_block *block);

    /* A free block in no set that is not handed out after all. May be NULL. */
    void (*put_back)(plim_heap_block *block);
    /* A live block was given back; `home` is the stream it was handed out on. Here it may get
     * something more to wait for. May be NULL. */
    plim_status (*freed)(plim_heap *heap, plim_heap_block *block, plim_stream home,
                         plim_error *err);
    /* Nothing waits for the block any more: it becomes free, or leaves, whatever is returned. May
     * be NULL. */
    plim_status (*take_back)(plim_heap *heap, plim_heap_block *block, plim_stream home,
                             plim_error *err);
    /* The host has seen that work of a stream is done. May be NULL. */
    plim_status (*synchronized)(plim_heap *heap, plim_error *err);
    /* True if a free block and the free one before it may stay apart. May be NULL: never. */
    bool (*is_border)(const plim_heap_block *block);
    /* State of its own in heap->policy_state; init finds it NULL. May be NULL. */
    plim_status (*init)(plim_heap *heap, plim_error *err);
    void (*deinit)(plim_heap *heap);
    /* Invariants of that state. May be NULL. */
    plim_status (*check)(const plim_heap *heap, plim_error *err);

    bool keeps_all; /* emptying the cache releases nothing of the default pool */

    /* --- the fast path, under the lock of one lane; it has no other rules than these --- */

    /* The free block of a settled shelf that serves a rounded size, still in its set (leaf NULL:
     * none), and how much of it is handed out (0: all). A function of the shelf and the settings
     * alone: the same shelf gives the same answer, on which parking rests. NULL: no lane is ever
     * opened. A policy that has it leaves take_back NULL: blocks merge and go to their set. */
    plim_free_cursor (*fit)(const plim_shelf *shelf, uint64_t rounded_bytes,
                            uint64_t *ret_split_bytes);
    uint64_t unit_bytes;      /* sizes are rounded up to multiples of it, a power of two */
    uint64_t small_bytes_max; /* rounded sizes above are of the large class; 0: all are */
    bool has_divisions;       /* the settings' roundup_power2_divisions hold */
    /* False: this lane stays closed for now. The world is stopped. May be NULL: never. */
    bool (*may_open)(const plim_lane *lane);
    /* An open lane took back `count` blocks, at least one. The world is stopped. May be NULL. */
    void (*lane_freed)(const plim_lane *lane, uint64_t count);
} plim_policy;

#endif
