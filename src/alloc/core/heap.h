/*
 * heap.h - the inside of an allocator: what holds what, and under which lock.
 *
 *   plim_allocator ── one for the program: settings, directory of addresses, listeners
 *     └ plim_heap ── one per device; `lock` is taken by everything but the fast path
 *         ├ plim_lane ── one per stream that uses the default pool: its two shelves
 *         ├ plim_private_pool ── captures and programs' pools: shelves of their own
 *         │    └ plim_shelf ── free blocks of one (pool, size class, stream)
 *         │         └ plim_segment_record ── a range from the driver ── plim_heap_block …
 *         └ statistics, ring of events, blocks that wait for other streams
 *
 * Locking. A thread that has a heap's `lock` and the locks of all its open lanes has the world
 * stopped (world.h) and may do anything. A thread that has only the lock of an open lane may hand
 * out and take back cached blocks of its two shelves (lane.c). Order: allocator, heaps by index,
 * lanes by stream; the locks of slabs, ring and stacks are innermost.
 */
#ifndef PLIMSOLL_ALLOC_HEAP_H
#define PLIMSOLL_ALLOC_HEAP_H

#include "alloc/core/free_set.h"
#include "alloc/core/index.h"
#include "alloc/core/ledger.h"
#include "alloc/core/lock.h"
#include "alloc/core/ring.h"
#include "alloc/core/stacks.h"
#include "base/map.h"
#include "base/shared_table.h"
#include "base/vec.h"
#include "plimsoll/allocator.h"

#include <pthread.h>

/* Another stream that uses a block; becomes the event the block waits for. */
typedef struct plim_use {
    struct plim_use *next;          /* of the block's uses; of the stream's queue; spare */
    struct plim_use *made_before;   /* all of the heap's, to be freed with it */
    struct plim_use *next_deferred; /* on the first use of a deferred block */
    plim_heap_block *block;
    plim_stream stream;
    plim_fence fence;
    bool is_of_capture; /* recorded while something was captured */
    bool is_of_policy;  /* the policy's own: the program recorded nothing */
} plim_use;

/* Fences recorded on one stream, oldest first. */
typedef struct plim_fence_queue {
    plim_stream stream;
    plim_use *first;
    plim_use *last;
} plim_fence_queue;

/* One size class of the default pool or of a private one. */
typedef struct plim_pool {
    struct plim_private_pool *owner;  /* NULL: the default pool */
    const struct plim_policy *policy; /* the allocator's; PyTorch's in private pools */
    struct plim_pages *pages;         /* of a policy that maps whole pages (vm/pages.h), or NULL */
    bool is_small;
    uint64_t lookups;                      /* get_free_blocks_call_count */
    PLIM_VEC(struct plim_shelf *) shelves; /* by stream, as unsigned numbers */
} plim_pool;

typedef struct plim_shelf {
    plim_free_set blocks;   /* free and mapped */
    plim_free_set unmapped; /* address ranges without memory, by address */
    plim_pool *pool;
    struct plim_lane *lane; /* NULL in private pools */
    struct plim_heap *heap;
    plim_stream stream;
    bool had_expandable; /* some block is or was of an expandable segment */
} plim_shelf;

/* An expandable segment's physical memory: whole handles, mapped where they are needed. */
typedef struct plim_expandable {
    uint64_t handle_bytes;
    uint64_t handle_count; /* that fit the range */
    plim_handle *handles;  /* 0: none mapped there */
    uint64_t mapped_bytes;
} plim_expandable;

#define PLIM_CAUSES_MAX 127u /* of a segment at a time: what plim_heap_block.cause can name */

typedef struct plim_segment_record {
    plim_addr addr;
    uint64_t bytes;
    _Atomic(plim_shelf *) shelf;      /* NULL: the record is spare */
    _Atomic(struct plim_heap *) heap; /* these two outlive the segment */
    _Atomic(struct plim_lane *) lane; /* NULL: of a private pool */
    plim_heap_block *head;
    plim_page_index pages;
    plim_expandable *expandable;      /* NULL: plain memory */
    struct plim_segment_record *prev; /* of the heap's segments; spare: next */
    struct plim_segment_record *next;
    /*
     * Stacks of the driver's calls that made or grew it: of blocks with cause 1, 2, … It is a block
     * that has one, as in PyTorch (context_when_segment_allocated): the rest of a split keeps it, a
     * block takes over that of the one before when it joins it, and drops that of the next. So a
     * segment may come to have none that its first block shows.
     */
    PLIM_VEC(uint32_t) causes;
} plim_segment_record;

typedef struct plim_private_pool {
    plim_pool_id id;
    int64_t use_count;
    int64_t driver_allocations; /* cudaMalloc_count */
    uint64_t segment_count;
    plim_stat reserved[PLIM_SLOT_COUNT];
    bool has_source;
    bool is_use_on_oom;
    bool is_no_split;
    plim_segment_source source;
    plim_pool small;
    plim_pool large;
} plim_private_pool;

typedef struct plim_routing {
    plim_pool_id id;
    plim_private_pool *pool;
    plim_stream_filter *filter;
    void *filter_ctx;
} plim_routing;

/* A block that the fast path handed out, and what that changed. */
typedef struct plim_undo_entry {
    plim_heap_block *block;
    uint64_t rounded_bytes;
    uint64_t cycles; /* frees and requests of it, one after the other, not counted yet */
    bool is_counted; /* parked: the statistics still have it as it was when it was live */
    plim_ledger_change change;
} plim_undo_entry;

#define PLIM_UNDO_MAX 16

/*
 * The last blocks handed out from a shelf, if nothing else has changed it since: freeing the
 * newest takes the shelf back to what it was before, so a request of the same size would get the
 * same block again. Such a block is parked: freed for all to see, but neither merged
 * nor put back yet (lane.c).
 *
 *   entries   [ live, oldest first … | parked, newest last … ]
 *             0                      live                    count
 */
typedef struct plim_undo {
    plim_undo_entry entries[PLIM_UNDO_MAX];
    uint32_t live;
    uint32_t count;
} plim_undo;

#define PLIM_LINE_BYTES 64 /* what two cores must not share when both write */

/* The default pool on one stream. */
typedef struct plim_lane {
    unsigned char padding_before[PLIM_LINE_BYTES];
    plim_biased_lock lock;
    bool is_open; /* the fast path may use it; changed with the world stopped */
    plim_stream stream;
    struct plim_heap *heap;
    plim_ledger ledger;
    plim_slab_list spare; /* block records */
    plim_shelf small;
    plim_shelf large;
    plim_undo undo[2];  /* of the large shelf, of the small one */
    bool has_uncounted; /* some entry has cycles or is parked and counted */
    unsigned char padding_after[PLIM_LINE_BYTES];
} plim_lane;

typedef struct plim_heap {
    plim_spin lock;
    struct plim_allocator *allocator;
    plim_device device;
    plim_device_properties properties;
    int32_t index;

    plim_shared_table lanes;          /* plim_lane; see lanes.c */
    PLIM_VEC(plim_lane *) open_lanes; /* by stream */
    plim_pool small;
    plim_pool large;
    PLIM_VEC(plim_private_pool *) private_pools; /* by id */
    PLIM_VEC(plim_routing) routings;             /* the newest last */
    plim_segment_record *segments;               /* in the order they were made */
    plim_segment_record *segments_last;
    uint64_t segment_count;

    uint64_t limit_bytes;    /* allowed_memory_maximum, or PLIM_UNLIMITED */
    uint64_t reserved_bytes; /* total_allocated_memory */
    plim_device_stats stats;
    plim_ledger ledger;   /* of the stopped world */
    plim_slab_list spare; /* block records of the stopped world */

    PLIM_VEC(plim_fence_queue) queues;
    uint64_t queued_events;
    plim_use *deferred; /* blocks freed while something was captured, oldest first */
    plim_use *deferred_last;
    plim_use *spare_uses;
    plim_use *made_uses;
    PLIM_VEC(plim_fence) fences; /* free to be recorded again */
    size_t fence_count;          /* that were made: fences has room for all */
    PLIM_VEC(int32_t) peers;     /* devices that reach our expandable segments */

    plim_spin ring_lock;
    plim_ring ring;
    PLIM_VEC(plim_pool_id) pool_names; /* what ring events call pools: index + 1 */
    bool has_oom;
    plim_oom_facts last_oom;

    /* --- of policies other than PyTorch's --- */
    void *policy_state;
    plim_map homes;     /* by address: the stream of a held block, not its shelf's */
    bool has_seen_work; /* fences of the program completed, and the policy was not notified */
} plim_heap;

/* The options of plim_record_history(). Replaced as a whole, for readers without a lock. */
typedef struct plim_recording {
    plim_record_options options;
    struct plim_recording *older; /* kept: a reader may be looking */
} plim_recording;

typedef struct plim_allocator {
    const plim_mem *mem; /* what everything is taken from: &counting */
    plim_mem counting;   /* counts total_bytes */
    const plim_mem *mem_below;
    atomic_uint_fast64_t total_bytes;
    plim_settings settings;
    plim_hardening hardening;
    bool is_mapping_transactional;
    plim_share expandable_share;
    plim_heap *heaps;
    size_t heap_count;

    pthread_mutex_t lock;     /* settings, listeners, callbacks */
    plim_spin directory_lock; /* of those that change it */
    plim_directory directory;
    plim_slab blocks;
    plim_slab nodes;
    plim_spin segment_lock;
    plim_segment_record *spare_segments;
    PLIM_VEC(plim_segment_record *) segment_records; /* all that were ever made */
    uint64_t serial;                          /* no other allocator of this process has or had it */
    bool has_divisions;                       /* of the settings: plim_rounding */
    const struct plim_policy *policy;         /* of the default pools */
    const struct plim_policy *private_policy; /* of private pools */
    uint64_t unit_mask;                       /* policy->unit_bytes - 1 */
    uint64_t small_bytes_max;                 /* of the policy */
    PLIM_VEC(struct plim_uncached_row) uncached; /* handed out while caching was off */
    atomic_bool is_caching;
    atomic_uint_fast64_t pool_ids[2]; /* programs', captures' */

    /* --- recording and observers --- */
    atomic_bool is_listening; /* a ring or a sink wants events */
    _Atomic(const plim_recording *) recording;
    atomic_bool has_causes; /* some block has or had one; set with a world stopped, for good */
    plim_stacks *stacks;
    PLIM_VEC(plim_event_sink) sinks;
    PLIM_VEC(struct plim_callback_row) free_callbacks;
    bool has_free_callbacks; /* changed with the worlds stopped */
    PLIM_VEC(struct plim_observer_row) observers;

    uint64_t release_threshold_bytes;

    struct plim_allocator *listed_next; /* of all in this process: forking.c */
    struct plim_allocator **listed_link;
} plim_allocator;

typedef struct plim_uncached_row {
    plim_addr addr;
    plim_heap *heap;
} plim_uncached_row;

typedef struct plim_callback_row {
    plim_free_memory_callback *callback;
    void *ctx;
} plim_callback_row;

typedef struct plim_observer_row {
    plim_oom_observer *observer;
    void *ctx;
} plim_observer_row;

static inline const plim_recording *plim_recording_of(const plim_allocator *allocator)
{
    return atomic_load_explicit(&allocator->recording, memory_order_acquire);
}

/* Atomic for those that ask with no lock yet which lock to take. */
static inline plim_shelf *plim_shelf_of_segment(const plim_segment_record *segment)
{
    return atomic_load_explicit(&segment->shelf, memory_order_relaxed);
}

static inline plim_shelf *plim_shelf_of(const plim_heap_block *block)
{
    return plim_shelf_of_segment(block->segment);
}

/* The stream that a held block was handed out on. */
static inline plim_stream plim_home_of(const plim_heap *heap, const plim_heap_block *block)
{
    const plim_stream own = plim_shelf_of(block)->stream;
    if (heap->homes.count == 0) {
        return own;
    }
    const uint64_t home = plim_map_get(&heap->homes, block->addr);
    return home != PLIM_MAP_ABSENT ? home : own;
}

/* The stack of its segment that a block has, or PLIM_NONE. */
static inline uint32_t plim_cause_of(const plim_heap_block *block)
{
    return block->cause != 0 ? block->segment->causes.items[block->cause - 1] : PLIM_NONE;
}

static inline bool plim_block_is_expandable(const plim_heap_block *block)
{
    return block->segment->expandable != NULL;
}

/* Free to be merged with, or to grow into. */
static inline bool plim_block_is_free(const plim_heap_block *block)
{
    return block != NULL && block->state == PLIM_BLOCK_IS_FREE;
}

#endif
