/*
 * plimsoll/allocator.h - the caching allocator: PyTorch's behaviour, call for call.
 *
 *      plim_malloc ──► small or large pool of (device, stream) ──► device: malloc, map
 *      plim_free   ──► merged with its neighbours, kept for the stream
 *
 * Under the same settings and requests it makes the same driver calls, in the same order, and
 * hands out the same offsets as the release of PyTorch it names (PLIM_ALLOCATOR_TORCH);
 * tests/oracle shows it against the real library. Functions named beside ours are of that release,
 * c10/cuda/CUDACachingAllocator.cpp.
 *
 * Thread safety: every function may be called from any thread at any time, except destroy.
 * Callbacks run in the thread that called; what each may do stands with it.
 */
#ifndef PLIMSOLL_ALLOCATOR_H
#define PLIMSOLL_ALLOCATOR_H

#include "plimsoll/device.h"
#include "plimsoll/event.h"
#include "plimsoll/history.h"
#include "plimsoll/settings.h"
#include "plimsoll/stats.h"

PLIM_BEGIN_DECLS

#define PLIM_ALLOCATOR_TORCH "2.11.0" /* the release whose behaviour the oracle proves */

/* Requests of this many bytes and more are refused at once, as PyTorch does. */
#define PLIM_REQUEST_BYTES_MAX ((uint64_t)1 << 60)

typedef struct plim_allocator plim_allocator;

/* Checks beyond what is always on (a pointer that was not handed out is always refused). */
typedef enum plim_hardening {
    PLIM_HARDENING_NONE,
    PLIM_HARDENING_CHECKS,   /* all invariants, after every operation: slow */
    PLIM_HARDENING_CANARIES, /* bytes after each request are filled, and compared when it is
                                freed; on devices whose memory the host can read */
    PLIM_HARDENING_POISON,   /* canaries, and freed memory is filled with PLIM_POISON_BYTE */
} plim_hardening;

#define PLIM_CANARY_BYTE 0xCA
#define PLIM_POISON_BYTE 0xDB

/*
 * The rules that choose a free block for a request, and that say what is tried when no block
 * serves it. "torch" is PyTorch's allocator, exactly. The others are sketches to compare it with on
 * the same trace: written from published rules, not tested against those allocators
 * (docs/design/policies.md has rules and sources). In the list: enumerator, name.
 */
#define PLIM_POLICY_LIST(X)                                                                        \
    X(PLIM_POLICY_TORCH, "torch") /* PyTorch's caching allocator */                                \
    X(PLIM_POLICY_NAIVE, "naive") /* every request goes to the driver, every free gives it back */ \
    X(PLIM_POLICY_BFC, "bfc")     /* TensorFlow's best fit with coalescing */                      \
    X(PLIM_POLICY_ASYNC, "async") /* a stream-ordered pool, as cudaMallocAsync */                  \
    X(PLIM_POLICY_ARENA, "arena") /* RAPIDS RMM's arena: superblocks, first fit */

typedef enum plim_policy_kind {
#define PLIM_POLICY_ENUM(code, name) code,
    PLIM_POLICY_LIST(PLIM_POLICY_ENUM)
#undef PLIM_POLICY_ENUM
        PLIM_POLICY_COUNT
} plim_policy_kind;

PLIM_API const char *plim_policy_name(plim_policy_kind policy);

/* All zero but the devices is a valid default. */
typedef struct plim_allocator_options {
    const plim_mem *mem;        /* borrowed; NULL: the C heap */
    const plim_device *devices; /* copied; what they point at is borrowed */
    size_t device_count;        /* device i of the allocator is devices[i] */
    /* Copied. NULL: plim_settings_from_environment(), and PYTORCH_NO_CUDA_MEMORY_CACHING=1 turns
     * caching off. */
    const plim_settings *settings;
    plim_hardening hardening;
    /* Exactness or safety: false is PyTorch's way. True: a mapping that fails half way
     * is taken back, and the request is out of memory (PyTorch issue 188008). */
    bool is_mapping_transactional;
    plim_share expandable_share; /* export type of the handles of expandable segments */
    plim_policy_kind policy;
    uint64_t release_threshold_bytes; /* async: what is kept at a synchronisation */
} plim_allocator_options;

/**
 * Make an allocator over some devices. Nothing is taken from them yet.
 *
 * errors   PLIM_INVALID_ARGUMENT, PLIM_OUT_OF_HOST_MEMORY, those of the settings; PLIM_UNSUPPORTED:
 *          canaries on a device whose memory the host cannot read
 */
PLIM_API PLIM_MUST_USE plim_status plim_allocator_create(const plim_allocator_options *options,
                                                         plim_allocator **ret_allocator,
                                                         plim_error *err);

/** Give everything back to the devices, blocks still held included. NULL is allowed. */
PLIM_API void plim_allocator_destroy(plim_allocator *allocator);

/* --- memory --- */

/**
 * Memory of a device, for work on a stream.
 *
 * bytes      0 gives address 0 and no bookkeeping
 * ret_addr   512-byte aligned (bfc and arena: 256) where the device's own addresses are
 * errors     PLIM_OUT_OF_DEVICE_MEMORY (an ordinary answer: plim_allocator_last_oom() has the
 *            facts; err has one line), PLIM_INVALID_ARGUMENT (no such device),
 *            PLIM_OUT_OF_HOST_MEMORY, PLIM_IO (the driver failed otherwise)
 */
PLIM_API PLIM_MUST_USE plim_status plim_malloc(plim_allocator *allocator, int32_t device,
                                               uint64_t bytes, plim_stream stream,
                                               plim_addr *ret_addr, plim_error *err);

/**
 * Give memory back: to the stream it was allocated on at once, and where other streams were
 * recorded, after their work so far. 0 is allowed and does nothing.
 *
 * errors   PLIM_INVALID_ARGUMENT: the address is not live: never handed out, freed already, or
 *          inside a block (the message says which). After any other error the memory is given back
 *          all the same, and must not be freed again: PLIM_CORRUPT (a canary is damaged), PLIM_IO
 *          (an event could not be recorded: the block waits until one can). Only with caching off
 *          does PLIM_IO leave it live
 */
PLIM_API plim_status plim_free(plim_allocator *allocator, plim_addr addr, plim_error *err);

/** Another stream uses this memory: after plim_free() it waits for that stream's work. */
PLIM_API plim_status plim_record_stream(plim_allocator *allocator, plim_addr addr,
                                        plim_stream stream, plim_error *err);

/** The bytes of the block at a live address, and of its request. Either ret_ may be NULL. */
PLIM_API plim_status plim_block_bytes(plim_allocator *allocator, plim_addr addr,
                                      uint64_t *ret_block_bytes, uint64_t *ret_requested_bytes,
                                      plim_error *err);

/** The driver's allocation, or the mapped run, that a live address lies in. */
PLIM_API plim_status plim_base_allocation(plim_allocator *allocator, plim_addr addr,
                                          plim_addr *ret_base, uint64_t *ret_bytes,
                                          plim_error *err);

/** Release what is cached and wholly free, on all devices; of one private pool if `pool` is given
 * (NULL: as {0,0}). Waits for streams that blocks wait for (release_cached_blocks). */
PLIM_API plim_status plim_empty_cache(plim_allocator *allocator, const plim_pool_id *pool,
                                      plim_error *err);

/** The largest block a request could get without new memory, or at least `*largest_bytes`; from
 * the driver's free bytes when that is 0 (cacheInfo). */
PLIM_API plim_status plim_cache_info(plim_allocator *allocator, int32_t device,
                                     uint64_t *largest_bytes, plim_error *err);

/* --- limits and settings --- */

/** Limit a device to a fraction of its memory; 1 means no limit. */
PLIM_API plim_status plim_set_memory_fraction(plim_allocator *allocator, int32_t device,
                                              double fraction, plim_error *err);
PLIM_API double plim_memory_fraction(plim_allocator *allocator, int32_t device);

/** Change settings while running: a string over those in force (plim_settings_parse()). */
PLIM_API plim_status plim_allocator_configure(plim_allocator *allocator, const char *text,
                                              plim_error *err);
PLIM_API void plim_allocator_settings(plim_allocator *allocator, plim_settings *ret_settings);

/** With caching off, requests go straight to the device and no statistics change. */
PLIM_API void plim_set_caching(plim_allocator *allocator, bool enabled);

/** Let `device` reach the memory of `owner`: expandable segments there are mapped for it too. */
PLIM_API plim_status plim_enable_peer_access(plim_allocator *allocator, int32_t device,
                                             int32_t owner, plim_error *err);

/* The physical memory of a block of an expandable segment, for other processes to map
 * (shareIpcHandle). */
typedef struct plim_export {
    plim_addr addr; /* where the first handle starts; the block starts at or after it */
    uint64_t handle_bytes;
    uint64_t handle_count;
    plim_share share; /* as plim_allocator_options.expandable_share: 4 or 64 bytes a handle */
} plim_export;

/**
 * Export the handles a live block lies on. They must outlive their use elsewhere: do not free the
 * block before.
 *
 * data      handle_count entries of 4 bytes (file descriptors, the caller's to close) or 64; NULL:
 *           only ret_export is filled
 * bytes     room in data
 * errors    PLIM_UNSUPPORTED (plain memory; or the allocator was made without expandable_share),
 *           PLIM_LIMIT (no room), PLIM_INVALID_ARGUMENT (no such block), those of the device
 */
PLIM_API plim_status plim_export_block(plim_allocator *allocator, plim_addr addr, void *data,
                                       size_t bytes, plim_export *ret_export, plim_error *err);

/* --- private pools and captures --- */

/* True if an allocation on this stream belongs to the pool. Called with locks held: no calls
 * into the allocator. */
typedef bool plim_stream_filter(void *ctx, plim_stream stream);

/* The source of whole segments of a private pool instead of the device's plain memory. `alloc`
 * gives 0 when it has none. Called with locks held: no calls into the allocator. */
typedef struct plim_segment_source {
    plim_addr (*alloc)(void *ctx, uint64_t bytes, int32_t device, plim_stream stream);
    void (*free)(void *ctx, plim_addr addr, uint64_t bytes, int32_t device, plim_stream stream);
    void *ctx;
} plim_segment_source;

/** A fresh id: {0,n} for a program's pool, {n,0} for a capture's. */
PLIM_API plim_pool_id plim_new_pool_id(plim_allocator *allocator, bool is_capture);

/** Make the pool on a device, or count one more user of it. `source` may be NULL and is copied. */
PLIM_API plim_status plim_pool_retain(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                      const plim_segment_source *source, plim_error *err);
/** One user less; without users its memory may be released by plim_empty_cache(). */
PLIM_API plim_status plim_pool_release(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                       plim_error *err);
/** Users of a pool; 0 for one that is not there. */
PLIM_API int64_t plim_pool_use_count(plim_allocator *allocator, int32_t device, plim_pool_id pool);
/** From now on allocations whose stream the filter accepts (NULL: every stream) come from the
 * pool, which is made if it is not there. Nested routings: the newest wins. */
PLIM_API plim_status plim_pool_begin(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                     plim_stream_filter *filter, void *filter_ctx, plim_error *err);
PLIM_API plim_status plim_pool_end(plim_allocator *allocator, int32_t device, plim_pool_id pool,
                                   plim_error *err);
/** Requests of the default pool may take the pool's free blocks before they fail. */
PLIM_API plim_status plim_pool_set_use_on_oom(plim_allocator *allocator, int32_t device,
                                              plim_pool_id pool, bool use, plim_error *err);
/** Blocks of the pool are never split. */
PLIM_API plim_status plim_pool_set_no_split(plim_allocator *allocator, int32_t device,
                                            plim_pool_id pool, plim_error *err);
/* Some addresses, in any order; borrowed. */
typedef struct plim_addr_list {
    const plim_addr *items;
    size_t count;
} plim_addr_list;

/** True if exactly these addresses are allocated in the pool. */
PLIM_API plim_status plim_pool_holds_exactly(plim_allocator *allocator, int32_t device,
                                             plim_pool_id pool, plim_addr_list addrs,
                                             bool *ret_holds, plim_error *err);

/* --- observers and sinks --- */

/* Called when no cached block fits, before the device is asked: may free memory through this
 * allocator. Returns whether it did. */
typedef bool plim_free_memory_callback(void *ctx, plim_allocator *allocator);
PLIM_API plim_status plim_add_free_memory_callback(plim_allocator *allocator,
                                                   plim_free_memory_callback *callback, void *ctx,
                                                   plim_error *err);

/* Called before a request fails, without locks held; is_rejection marks refusals by
 * throw_on_cudamalloc_oom. */
typedef void plim_oom_observer(void *ctx, const plim_oom_facts *facts);
PLIM_API plim_status plim_add_oom_observer(plim_allocator *allocator, plim_oom_observer *observer,
                                           void *ctx, plim_error *err);

/** The facts of a device's last failure. returns false: none so far, *ret_facts untouched */
PLIM_API bool plim_allocator_last_oom(plim_allocator *allocator, int32_t device,
                                      plim_oom_facts *ret_facts);

/* Writes up to `capacity` frames of the calling thread, innermost first; returns how many. Must
 * not call into the allocator. */
typedef size_t plim_foreign_frames(void *ctx, plim_foreign_frame *frames, size_t capacity);

/** Send every event to a sink from now on, whether or not history is kept. Copied. */
PLIM_API plim_status plim_add_event_sink(plim_allocator *allocator, const plim_event_sink *sink,
                                         plim_error *err);
/** Remove the sink with this ctx; when it returns, none of its calls is under way. */
PLIM_API void plim_remove_event_sink(plim_allocator *allocator, const void *ctx);

/* --- history, as torch.cuda.memory._record_memory_history() keeps it --- */

/* When stacks are taken: on malloc from STATE on, on free and empty_cache at ALL. Events keep
 * them from ALLOC on. */
typedef enum plim_stack_level {
    PLIM_STACKS_NEVER,
    PLIM_STACKS_STATE,
    PLIM_STACKS_ALLOC,
    PLIM_STACKS_ALL,
} plim_stack_level;

/* All zero turns recording off and forgets what was recorded. */
typedef struct plim_record_options {
    bool is_enabled;
    plim_stack_level stacks;
    uint64_t max_events; /* of each device's ring; 0: 1 event, as PyTorch's "state" */
    bool has_c_frames;   /* take the C stack too */
    plim_foreign_frames *foreign_frames; /* may be NULL */
    void *foreign_ctx;
    uint32_t skip_actions; /* bit per plim_action: not kept, still emitted to sinks */
    bool clears;           /* forget what was recorded so far */
} plim_record_options;

PLIM_API plim_status plim_record_history(plim_allocator *allocator,
                                         const plim_record_options *options, plim_error *err);
PLIM_API bool plim_is_recording(plim_allocator *allocator);

/**
 * The present state and the recorded events, as a history; plim_snapshot_save() writes it as
 * PyTorch's snapshot. Each device's trace gets a `snapshot` event after it was copied, as PyTorch
 * does.
 *
 * pool          NULL or {0,0}: everything; else the segments of one private pool
 * ret_history   the caller's, until plim_history_destroy()
 */
PLIM_API PLIM_MUST_USE plim_status plim_allocator_snapshot(plim_allocator *allocator,
                                                           const plim_pool_id *pool,
                                                           bool has_traces,
                                                           plim_history **ret_history,
                                                           plim_error *err);

/* --- counters --- */

PLIM_API plim_status plim_allocator_stats(plim_allocator *allocator, int32_t device,
                                          plim_device_stats *ret_stats, plim_error *err);
PLIM_API void plim_allocator_reset_peak_stats(plim_allocator *allocator, int32_t device);
PLIM_API void plim_allocator_reset_accumulated_stats(plim_allocator *allocator, int32_t device);

/** The reserved bytes of a private pool (PyTorch 2.13: reserved_bytes_by_private_pools).
 * errors   PLIM_INVALID_ARGUMENT: no such pool */
PLIM_API plim_status plim_pool_reserved(plim_allocator *allocator, int32_t device,
                                        plim_pool_id pool, plim_stat ret_stats[PLIM_SLOT_COUNT],
                                        plim_error *err);

/* Host memory of the allocator itself. */
typedef struct plim_metadata {
    uint64_t blocks;         /* that exist: live, free and unmapped */
    uint64_t block_bytes;    /* host bytes of their records */
    uint64_t index_bytes;    /* … of what finds a block by its address */
    uint64_t free_set_bytes; /* … of what finds a free block by its size */
    uint64_t segment_bytes;  /* … of segments, handles, pools */
    uint64_t history_bytes;  /* … of recorded events and stacks */
    uint64_t total_bytes;    /* all that was taken from plim_mem */
} plim_metadata;

PLIM_API void plim_allocator_metadata(plim_allocator *allocator, plim_metadata *ret_metadata);

/**
 * Check every invariant of the heap: blocks tile their segments, free sets and indices agree with
 * the blocks, statistics with the heap.
 *
 * errors   PLIM_CORRUPT: the message says what does not hold
 */
PLIM_API plim_status plim_allocator_check(plim_allocator *allocator, plim_error *err);

PLIM_END_DECLS

#endif
