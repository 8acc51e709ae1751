/*
 * heap_model.h - an allocator seen from outside: what its events and its devices' calls add up to.
 *
 * The model listens to both, keeps plain lists, and looks everything up by going through them. It
 * shares no rule with the allocator: only what must hold whichever block is chosen.
 *
 *   - no two blocks that are active overlap; each lies in one segment or in mapped memory
 *   - segments and mapped runs lie in what the device gave, and all the device gave lies in them
 *   - the statistics are what the events add up to, peaks and totals included
 *
 * The first thing that does not hold is kept in `fault`; nothing is asserted, so that listeners
 * can find faults while locks are held.
 */
#ifndef PLIMSOLL_TESTS_ALLOC_HEAP_MODEL_H
#define PLIMSOLL_TESTS_ALLOC_HEAP_MODEL_H

#include "plimsoll/allocator.h"

#define T_MODEL_DEVICES 2
#define T_MODEL_BLOCKS  3072
#define T_MODEL_SPANS   2048
/* Families whose values follow from events: all but the two of inactive splits. */
#define T_MODEL_IS_KEPT(f) \
    ((f) != PLIM_STAT_INACTIVE_SPLIT && (f) != PLIM_STAT_INACTIVE_SPLIT_BYTES)

/* A block from its alloc to its free_completed. */
typedef struct t_active {
    plim_addr addr;
    uint64_t bytes;
    uint64_t requested;
    plim_stream stream;
    plim_pool_id pool;
    bool is_small;
    bool is_freed; /* free_requested */
} t_active;

typedef struct t_span {
    plim_addr addr;
    uint64_t bytes;
    bool is_small;
} t_span;

typedef struct t_spans {
    t_span rows[T_MODEL_SPANS];
    size_t count;
} t_spans;

typedef struct t_side {
    t_active blocks[T_MODEL_BLOCKS];
    size_t block_count;
    t_spans segments; /* of plain memory, or of a pool's own source */
    t_spans mapped;   /* of expandable segments */
    t_spans taken;    /* what the device says */
    t_spans uncached; /* handed out while caching was off */
    plim_stat stats[PLIM_STAT_COUNT][PLIM_SLOT_COUNT];
    int64_t split_peak; /* the most inactive splits that were seen */
    int64_t device_allocs;
    int64_t device_frees;
} t_side;

typedef struct t_model {
    t_side sides[T_MODEL_DEVICES];
    bool has_uncertain_device; /* a device failed to take something back: it may hold more */
    bool is_blind;             /* … and the events told of it all the same: nothing is compared */
    uint64_t event_count;
    uint64_t event_hash; /* of all events, in order, times left out */
    char fault[256];     /* "" while everything holds */
} t_model;

void t_model_init(t_model *model);
/* To be added to the allocator before anything is allocated. */
plim_event_sink t_model_sink(t_model *model);
/* For plim_sim_options.on_call, with the model as its ctx; the ordinal is the device. */
void t_model_on_call(void *ctx, const plim_device_record *record);

/* What a pool's own source gave or took back. */
void t_model_source(t_model *model, int32_t device, plim_addr addr, uint64_t bytes, bool is_given);
/* What was handed out, or given back, while caching was off. */
void t_model_uncached(t_model *model, int32_t device, plim_addr addr, uint64_t bytes,
                      bool is_given);
void t_model_reset_peaks(t_model *model, int32_t device);
void t_model_reset_accumulated(t_model *model, int32_t device);

/* The active block at an address, or NULL. */
const t_active *t_model_find(const t_model *model, int32_t device, plim_addr addr);
/* Holds the statistics of a device against the model. */
void t_model_compare_stats(t_model *model, int32_t device, const plim_device_stats *stats);
/* Holds segments and blocks of a snapshot against the model. */
void t_model_compare_snapshot(t_model *model, const plim_history *history);
/* True if the device holds what the model's segments and mapped runs do. */
void t_model_compare_device(t_model *model, int32_t device);
/* Keeps the first fault. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void t_model_fail(t_model *model, const char *format, ...);

#endif
