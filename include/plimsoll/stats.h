/*
 * plimsoll/stats.h - what the allocator counts, under the names torch.cuda.memory_stats() has.
 *
 * Each changes at the moments at which it does in PyTorch 2.11 (c10/cuda/CUDACachingAllocator.cpp;
 * tests/oracle compares them). Bytes unless the name says otherwise.
 */
#ifndef PLIMSOLL_STATS_H
#define PLIMSOLL_STATS_H

#include "plimsoll/addr.h"
#include "plimsoll/device.h"
#include "plimsoll/release.h"
#include "plimsoll/status.h"
#include "plimsoll/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

/* Families that are kept in all, for the small and for the large pools. */
#define PLIM_STAT_LIST(X)                                     \
    X(PLIM_STAT_ALLOCATION, "allocation")                     \
    X(PLIM_STAT_ALLOCATED_BYTES, "allocated_bytes")           \
    X(PLIM_STAT_ACTIVE, "active")                             \
    X(PLIM_STAT_ACTIVE_BYTES, "active_bytes")                 \
    X(PLIM_STAT_REQUESTED_BYTES, "requested_bytes")           \
    X(PLIM_STAT_INACTIVE_SPLIT, "inactive_split")             \
    X(PLIM_STAT_INACTIVE_SPLIT_BYTES, "inactive_split_bytes") \
    X(PLIM_STAT_SEGMENT, "segment")                           \
    X(PLIM_STAT_RESERVED_BYTES, "reserved_bytes")

typedef enum plim_stat_family {
#define PLIM_STAT_ENUM(code, name) code,
    PLIM_STAT_LIST(PLIM_STAT_ENUM)
#undef PLIM_STAT_ENUM
        PLIM_STAT_COUNT
} plim_stat_family;

typedef enum plim_stat_slot {
    PLIM_SLOT_ALL,
    PLIM_SLOT_SMALL,
    PLIM_SLOT_LARGE,
    PLIM_SLOT_COUNT
} plim_stat_slot;

typedef struct plim_stat {
    int64_t current;
    int64_t peak;
    int64_t allocated; /* all that was ever added */
    int64_t freed;     /* all that was ever taken away */
} plim_stat;

typedef struct plim_device_stats {
    plim_stat families[PLIM_STAT_COUNT][PLIM_SLOT_COUNT];
    plim_stat oversize_allocations;
    plim_stat oversize_segments;
    int64_t num_alloc_retries;
    int64_t num_ooms;
    int64_t num_sync_all_streams;
    int64_t num_device_alloc;
    int64_t num_device_free;
    int64_t num_oom_rejections;
    int64_t max_split_size; /* as it was when the allocator was made; -1: unlimited */
} plim_device_stats;

/**
 * The statistics as names and numbers, sorted by name as memory_stats() sorts them:
 * "active.all.allocated", …, "segment.small_pool.peak".
 *
 * plim_stats_name    a constant; NULL from plim_stats_count() on
 */
PLIM_API size_t plim_stats_count(void);
PLIM_API const char *plim_stats_name(size_t index);
PLIM_API int64_t plim_stats_value(const plim_device_stats *stats, size_t index);
/** The value under a name. returns false: no such name, *ret_value untouched */
PLIM_API bool plim_stats_find(const plim_device_stats *stats, const char *name, int64_t *ret_value);

/** peak = current everywhere; allocated = freed = 0 and counters 0 everywhere, as resetPeakStats
 * and resetAccumulatedStats do. */
PLIM_API void plim_stats_reset_peak(plim_device_stats *stats);
PLIM_API void plim_stats_reset_accumulated(plim_device_stats *stats);

/*
 * Room that holds any text of the functions below, with the zero after it. Each writes at most
 * `bytes`, ends the text with a zero, and returns the length of the whole text, as snprintf().
 */
#define PLIM_SUMMARY_BYTES    6144
#define PLIM_OOM_TEXT_BYTES   4096
#define PLIM_OOM_ADVICE_BYTES 2048

/** The table torch.cuda.memory_summary() prints, to the character
 * (PyTorch 2.11, torch/cuda/memory.py). returns its length */
PLIM_API size_t plim_memory_summary(const plim_device_stats *stats, int32_t device,
                                    bool is_abbreviated, char *text, size_t bytes);

/* --- out of memory --- */

#define PLIM_OOM_PROCESSES_MAX 32

/* The state of the device when a request failed, and what would have satisfied it. */
typedef struct plim_oom_facts {
    int32_t device;
    plim_stream stream;
    plim_pool_id pool;
    bool is_small;                /* the request belongs to the small pool */
    bool is_rejection;            /* refused by throw_on_cudamalloc_oom, the driver was not asked */
    bool has_expandable_segments; /* the setting was on */
    uint64_t requested_bytes;     /* as the program requested it */
    uint64_t rounded_bytes;
    uint64_t segment_bytes; /* requested of the driver: "Tried to allocate" */
    uint64_t handle_bytes;  /* of the pages an expandable segment would map for it; 0: none would,
                               or unknown */
    uint64_t device_total_bytes;
    uint64_t device_free_bytes;
    uint64_t allowed_bytes; /* the limit set by a fraction, or PLIM_UNLIMITED */
    uint64_t allocated_bytes;
    uint64_t reserved_bytes;
    uint64_t private_pools_free_bytes; /* cached in private pools */
    int64_t pid;                       /* ours */
    plim_device_process processes[PLIM_OOM_PROCESSES_MAX];
    size_t process_count;

    /* --- computed from the heap, at the moment of failing --- */
    uint64_t free_bytes;     /* cached and free, in all pools and streams */
    uint64_t free_own_bytes; /* of it, where this request may take from: its pool, stream */
    uint64_t free_other_stream_bytes; /* of it, in the same pool of other streams */
    uint64_t largest_hole_bytes;      /* the largest free block this request may take from */
    uint64_t largest_hole_anywhere_bytes;
    uint64_t releasable_bytes;      /* wholly free segments and pages that can still go back */
    uint64_t pending_bytes;         /* freed, waiting for another stream */
    uint64_t pinned_by_split_bytes; /* free, in segments that are partly used: stays reserved */
    /* Bytes that expandable segments would leave reserved for live blocks, per stream and pool in
     * whole pages: reserved_bytes - this could have been joined into one range. */
    uint64_t expandable_reserved_bytes;
} plim_oom_facts;

/* Texts changed with releases (docs/oom-text.md); any release from 1.0 to 2.13 may be named. */
#define PLIM_TORCH_NEWEST PLIM_TORCH(2, 13)

/** The error text as a release of PyTorch writes it, one line. returns its length */
PLIM_API size_t plim_oom_text(const plim_oom_facts *facts, uint32_t torch, char *text,
                              size_t bytes);
/**
 * The failed request of the facts, for plim_judge(): the figures that PyTorch's text has, counted
 * as it counts them, and those that only the allocator knows.
 *
 * processes  the request borrows it
 */
PLIM_API plim_failed_request plim_oom_facts_request(
    const plim_oom_facts *facts, plim_process_figure processes[PLIM_OOM_PROCESSES_MAX]);
/** Our own paragraph: why it failed, in the judge's two sentences (verdict.h), and what would have
 * satisfied it. returns its length */
PLIM_API size_t plim_oom_advice(const plim_oom_facts *facts, char *text, size_t bytes);

PLIM_END_DECLS

#endif
