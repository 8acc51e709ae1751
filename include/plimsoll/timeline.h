/*
 * plimsoll/timeline.h - the memory of one device from its first event to its last.
 *
 * A history lists events; a timeline knows what they mean together. It matches each allocation
 * with the event that frees it and the event that gives its block back, reconstructs what was
 * there before the first event, and works out how large each block was. Three questions follow:
 *
 *   which allocation is this event about?    plim_timeline_about(), plim_timeline_allocation()
 *   what is live at this moment?             plim_timeline_live(), plim_live_next()
 *   how much is allocated after each event?  plim_cursor_next(), plim_cursor_figures()
 *
 * The invariant: every allocation has one id, and its life is three moments in order,
 *
 *   born <= freed <= completed      live at m: born <= m < freed     pending: freed <= m <
 * completed
 *
 * A moment is "after event m"; PLIM_AT_START is the moment before event 0. Requested bytes are
 * those of live allocations, allocated bytes their blocks, active bytes also the pending blocks,
 * reserved bytes the segments. Histories contradict themselves: a free of something that is not
 * there changes nothing, and an allocation at an address that is still taken ends what was there.
 * The contradictions are counted (plim_timeline_anomaly_count()).
 *
 * A timeline is read-only after plim_timeline_create(): any number of threads may use one, each
 * with cursors of its own.
 */
#ifndef PLIMSOLL_TIMELINE_H
#define PLIMSOLL_TIMELINE_H

#include "plimsoll/history.h"

PLIM_BEGIN_DECLS

#define PLIM_AT_START      INT64_C(-1) /* the moment before event 0 */
#define PLIM_NEVER         INT64_MAX   /* the moment of what the history does not see happen */
#define PLIM_NO_ALLOCATION UINT64_MAX  /* the id of nothing */

typedef struct plim_timeline plim_timeline;

/* One allocation and its life. */
typedef struct plim_allocation {
    uint64_t id; /* below plim_timeline_id_end() */
    plim_addr addr;
    uint64_t requested_bytes;
    uint64_t block_bytes;       /* of the block that holds it: exact, or an estimate */
    uint64_t block_slack_bytes; /* the estimate is off by so much at most; 0: exact */
    int64_t born;               /* its alloc; PLIM_AT_START: it was there before event 0 */
    int64_t freed;              /* its free, or the alloc that took its place; or PLIM_NEVER.
                                 * PLIM_AT_START: freed before event 0, and pending then */
    int64_t completed;          /* when its block was given back, or PLIM_NEVER */
    uint32_t stack;             /* index into stacks, or PLIM_NONE */
    uint32_t stream;            /* index into streams; PLIM_NONE: no event names it */
    bool is_from_before;        /* older than the recording: born at the start, or of an event that
                                 * stands for it (plim_device_history.earlier_events) */
    bool is_stack_of_free;      /* the alloc was not recorded: the stack is that of the free */
} plim_allocation;

/* Sums at one moment; cut off at 2^64 - 1. */
typedef struct plim_figures {
    uint64_t requested_bytes;       /* live allocations */
    uint64_t allocated_bytes;       /* their blocks */
    uint64_t active_bytes;          /* their blocks and the pending ones */
    uint64_t reserved_bytes;        /* segments */
    uint64_t live_count;            /* allocations */
    uint64_t allocated_slack_bytes; /* allocated_bytes are off by so much at most; 0: exact */
    uint64_t active_slack_bytes;    /* likewise */
} plim_figures;

/*
 * The rule by which the allocator splits blocks. All zero is PyTorch's rule by default: requests
 * are rounded up to whole 512 bytes, and a block of a large segment is cut only where more than 1
 * MiB is left.
 *
 * source  PyTorch 2.11 c10/cuda/CUDACachingAllocator.cpp: round_size(), should_split()
 */
typedef struct plim_block_rule {
    uint64_t (*round)(const void *ctx, uint64_t requested_bytes); /* NULL: whole 512 bytes */
    const void *ctx;
    uint64_t max_split_bytes; /* blocks from this size on are never cut; 0: no such size */
    bool is_other; /* another allocator: sizes are estimates, but for blocks at the end */
    bool is_exact; /* rounded sizes are those of blocks. Set for a source of PLIM_SIZES_OF_BLOCKS,
                    * whatever the rule says */
} plim_block_rule;

/* All zero is a valid default. */
typedef struct plim_timeline_options {
    const plim_mem *mem; /* borrowed until destroy; NULL: the C heap */
    plim_block_rule rule;
} plim_timeline_options;

/**
 * Work out the timeline of one device.
 *
 * history       borrowed: it must outlive the timeline
 * device        index, below plim_history_device_count()
 * ret_timeline  the caller's, until plim_timeline_destroy()
 * errors        PLIM_OUT_OF_HOST_MEMORY; PLIM_LIMIT (a device of 2^32 events)
 * time          linear in events, n log n in segment events
 * memory        4 bytes an event, 6 to 13 an address while it is created, 64 an allocation from
 *               before event 0, 16 a block that is not as large as its rounded request
 */
PLIM_API PLIM_MUST_USE plim_status plim_timeline_create(const plim_history *history, size_t device,
                                                        const plim_timeline_options *options,
                                                        plim_timeline **ret_timeline,
                                                        plim_error *err);
/** Free a timeline; its cursors must be gone. NULL is allowed. */
PLIM_API void plim_timeline_destroy(plim_timeline *timeline);

/** Times the history contradicts itself in this way, as far as its events and blocks show it. */
PLIM_API uint64_t plim_timeline_anomaly_count(const plim_timeline *timeline, plim_anomaly anomaly);

/** One above the highest id: tables by allocation have so many rows. Not every id is in use. */
PLIM_API uint64_t plim_timeline_id_end(const plim_timeline *timeline);

/**
 * The allocation that an event begins, frees or completes.
 *
 * returns  its id; PLIM_NO_ALLOCATION for other events and for frees of what is not there
 */
PLIM_API uint64_t plim_timeline_about(const plim_timeline *timeline, uint64_t event);

/**
 * The allocation whose place an alloc takes though nothing ended it.
 *
 * returns  its id, or PLIM_NO_ALLOCATION: almost always
 */
PLIM_API uint64_t plim_timeline_displaced(const plim_timeline *timeline, uint64_t event);

/** An allocation by an id that plim_timeline_about() or a walk returned. */
PLIM_API plim_allocation plim_timeline_allocation(const plim_timeline *timeline, uint64_t id);

/* A walk over what is live at a moment; plain data, to be copied at will. */
typedef struct plim_live {
    const plim_timeline *timeline;
    int64_t moment;
    uint64_t next_id;
    bool with_pending;
} plim_live;

/**
 * Begin a walk over the allocations that are live at a moment.
 *
 * moment        after this event, or PLIM_AT_START
 * with_pending  also those whose block is not given back yet: freed <= moment < completed
 * order         what was there before event 0, then by birth
 * time          of the whole walk: linear in events up to the moment
 */
PLIM_API plim_live plim_timeline_live(const plim_timeline *timeline, int64_t moment,
                                      bool with_pending);
/** The next one; false after the last, and `ret_allocation` is untouched. */
PLIM_API bool plim_live_next(plim_live *live, plim_allocation *ret_allocation);

typedef struct plim_cursor plim_cursor;

/**
 * A cursor at PLIM_AT_START, which keeps the figures while it moves from event to event.
 *
 * timeline    borrowed until plim_cursor_destroy()
 * ret_cursor  the caller's
 * errors      PLIM_OUT_OF_HOST_MEMORY
 * threads     one at a time
 */
PLIM_API PLIM_MUST_USE plim_status plim_cursor_create(const plim_timeline *timeline,
                                                      plim_cursor **ret_cursor, plim_error *err);
PLIM_API void plim_cursor_destroy(plim_cursor *cursor);

/** Move past the next event; false after the last. */
PLIM_API bool plim_cursor_next(plim_cursor *cursor);
/** The event that the cursor has passed last, or PLIM_AT_START. */
PLIM_API int64_t plim_cursor_moment(const plim_cursor *cursor);
/** The sums at that moment. */
PLIM_API plim_figures plim_cursor_figures(const plim_cursor *cursor);

PLIM_END_DECLS

#endif
