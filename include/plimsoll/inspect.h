/*
 * plimsoll/inspect.h - where did the memory go: the plain facts of a history.
 *
 * An allocation is live from its alloc to its free_requested; where a history has only
 * free_completed, to that. Requested bytes are what the program requested, allocated bytes the
 * blocks that hold them, active bytes also count blocks whose free waits for a stream, reserved
 * bytes are all the segments. Fragmentation is 1 - allocated/reserved.
 *
 * "start" is the moment before the first event, "end" what the segments and blocks of the source
 * say, "peak" the first moment at which requested bytes are highest.
 */
#ifndef PLIMSOLL_INSPECT_H
#define PLIMSOLL_INSPECT_H

#include "plimsoll/history.h"
#include "plimsoll/phases.h"
#include "plimsoll/verdict.h"

PLIM_BEGIN_DECLS

/* Live allocations that share a stack. */
typedef struct plim_stack_group {
    uint64_t bytes;      /* requested */
    uint64_t count;      /* allocations */
    uint32_t stack;      /* index into the history's stacks, or PLIM_NONE */
    uint32_t user_frame; /* which of the stack's frames is the innermost of the user's own code
                          * (not of PyTorch, Python or C++), or PLIM_NONE */
    /* Of those, what was allocated before the first event, */
    uint64_t before_recording_bytes;
    uint64_t before_recording_count;
    /* and of that, where the stack is that of the free, as the alloc was not recorded. */
    uint64_t stack_of_free_count;
    /* Events of the first and the last alloc among them, or -1: all were there before. */
    int64_t first_born;
    int64_t last_born;
} plim_stack_group;

/* Live allocations of one category. */
typedef struct plim_category_total {
    uint64_t bytes; /* requested */
    uint64_t count;
} plim_category_total;

/* The memory of a device at one moment. */
typedef struct plim_moment {
    int64_t event;            /* index of the event after which it holds; -1: before the first */
    int64_t time_us;          /* of that event, or PLIM_TIME_UNKNOWN */
    uint64_t requested_bytes; /* live allocations */
    uint64_t allocated_bytes; /* their blocks */
    uint64_t allocated_slack_bytes; /* these are off by so much at most, as the sizes of some
                                     * blocks are estimates; 0: exact */
    uint64_t active_bytes;          /* allocated_bytes and blocks freed but pending */
    uint64_t active_slack_bytes;    /* likewise */
    uint64_t reserved_bytes;        /* segments */
    uint64_t live_count;            /* allocations */
    double fragmentation;           /* 1 - allocated/reserved; 0 when nothing is reserved */
    const plim_stack_group *groups; /* largest first; their bytes add up to grouped_bytes */
    size_t group_count;
    uint64_t grouped_bytes; /* requested_bytes; with a filter by stack, those that it lets pass */
    uint64_t grouped_count; /* likewise of live_count */
    bool is_filtered;
    const plim_category_total *categories; /* of what is grouped: PLIM_CATEGORY_COUNT of them, by
                                            * plim_category; NULL: they were not wanted */
} plim_moment;

/* --- a moment of one's choice --- */

typedef enum plim_moment_kind {
    PLIM_MOMENT_PEAK,      /* requested bytes are highest */
    PLIM_MOMENT_START,     /* before the first event */
    PLIM_MOMENT_END,       /* after the last */
    PLIM_MOMENT_EVENT,     /* after event `number` */
    PLIM_MOMENT_STEP_PEAK, /* requested bytes are highest within step `number` */
    PLIM_MOMENT_STEP_END,  /* after the last event of step `number` */
    PLIM_MOMENT_OOM,       /* when failure `number` happened */
} plim_moment_kind;

typedef struct plim_moment_choice {
    plim_moment_kind kind;
    uint64_t number; /* from 0 */
} plim_moment_choice;

/**
 * Read the name of a moment: "peak", "start", "end", "event:120" or "120", "step:7" (its highest
 * moment), "step:7:end", "oom" (the first failure), "oom:2".
 *
 * returns  false: it names none, and `ret_choice` is untouched
 */
PLIM_API bool plim_moment_parse(const char *text, plim_moment_choice *ret_choice);

#define PLIM_MOMENT_TEXT_BYTES 32

/** The name of a moment, as plim_moment_parse() reads it. */
PLIM_API void plim_moment_text(plim_moment_choice choice, char text[PLIM_MOMENT_TEXT_BYTES]);

/*
 * Groups of an oom's moment are worked out for the first so many ooms of a device: a program that
 * runs out again and again would otherwise cost the square of its length. Figures are there for
 * all of them; moment.group_count is 0 beyond these.
 */
#define PLIM_OOM_GROUPS_MAX 16

/* A request that failed, as compact as its event; plim_oom_request() makes of it what the judge
 * takes. */
typedef struct plim_oom_moment {
    uint64_t event;             /* index in the device's trace */
    uint64_t requested_bytes;   /* of the request that failed (rounded, as PyTorch records it) */
    uint64_t segment_bytes;     /* requested of the device, by PyTorch's rule: a segment */
    uint64_t device_free_bytes; /* what the driver reported as free */
    bool has_device_free;
    uint32_t stack;      /* of the request: index into the history's stacks, or PLIM_NONE */
    uint32_t user_frame; /* as in plim_stack_group */
    plim_moment moment;  /* the sums when it happened */
} plim_oom_moment;

/* The sums of the segments and blocks of the source. */
typedef struct plim_end_state {
    uint64_t requested_bytes;      /* requested in active_allocated blocks */
    uint64_t allocated_bytes;      /* active_allocated blocks */
    uint64_t active_bytes;         /* and active_pending_free ones */
    uint64_t pending_free_bytes;   /* the latter alone */
    uint64_t reserved_bytes;       /* segments */
    uint64_t inactive_split_bytes; /* free blocks in segments that are partly used */
    uint64_t releasable_bytes;     /* segments without an active block */
    uint64_t largest_free_block_bytes;
    uint64_t segments;
    uint64_t blocks;
    double fragmentation;
} plim_end_state;

/* One pool: the segments of one stream, private pool and size class. */
typedef struct plim_pool_state {
    uint64_t stream; /* handle; 0 is the default stream */
    plim_pool_id pool;
    bool is_large;
    bool is_expandable;
    plim_end_state state;
} plim_pool_state;

/* One column of the chart over time: the extremes of a run of events. */
typedef struct plim_timeline_bin {
    uint64_t event_first;
    uint64_t allocated_bytes_max;
    uint64_t reserved_bytes_max;
} plim_timeline_bin;

typedef struct plim_action_count {
    const char *action; /* the name in the file; belongs to the history */
    uint64_t count;
} plim_action_count;

/* Allocations of the recording that it does not see freed, though perhaps they are later. */
typedef struct plim_never_freed {
    uint64_t bytes; /* requested; with a filter by stack, those that it lets pass */
    uint64_t count;
    const plim_stack_group *groups; /* largest first */
    size_t group_count;
    uint64_t before_bytes; /* live at the end as well, but older than the recording: not in them */
    uint64_t before_count;
} plim_never_freed;

typedef struct plim_device_inspection {
    int32_t device; /* PLIM_HOST_DEVICE for pinned host memory */
    uint64_t events;
    const plim_action_count *actions; /* in order of first appearance */
    size_t action_count;
    bool has_times;
    uint64_t duration_us; /* from the first to the last event; 0 without times */

    bool truncated;                /* the ring buffer wrapped: earlier events are lost; of a .plim
                                      file: events are missing somewhere */
    const char *truncated_because; /* half a sentence of evidence, or NULL */
    bool late_start;               /* memory was live before the first event, yet nothing wrapped */
    uint64_t events_without_stack; /* among alloc and free events */

    uint64_t start_requested_bytes;
    uint64_t start_live_count;
    uint64_t start_reserved_bytes;
    plim_end_state end;
    plim_moment peak;
    const plim_oom_moment *ooms;
    size_t oom_count;
    plim_moment end_live; /* after the last event, as the events have it */
    plim_never_freed never_freed;

    plim_moment chosen;   /* the moment of plim_inspect_options.at */
    uint64_t chosen_step; /* it lies in this step, or PLIM_NO_STEP */
    bool has_chosen;
    const char *no_chosen_because; /* the device has no such moment: why; else NULL */

    const plim_pool_state *pools; /* by stream, pool, size class */
    size_t pool_count;
    const plim_timeline_bin *timeline;
    size_t timeline_count;
} plim_device_inspection;

typedef struct plim_inspection plim_inspection;

/* All zero is a valid default. */
typedef struct plim_inspect_options {
    const plim_mem *mem;          /* borrowed until destroy; NULL: the C heap */
    uint32_t timeline_bins;       /* 0 means 256 */
    const plim_moment_choice *at; /* a moment beside peak, failures and end; NULL: no other */
    const char *stack_pattern;    /* group only allocations with a frame whose function or file it
                                   * is part of; with * or ? it is a pattern of the whole function,
                                   * or of whole last parts of the path; "gpt.py:50" names a line.
                                   * NULL: all */
    bool with_categories;         /* work out moment.categories, which costs as much again */
} plim_inspect_options;

/**
 * Work out the facts of every device of a history.
 *
 * history         borrowed: it must outlive the inspection
 * ret_inspection  the caller's, until plim_inspection_destroy()
 * errors          PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT (a device of 2^32 events)
 * threads         any number may inspect one history
 * time            linear in events
 * memory          4 bytes an event, 6 to 13 an address, 40 an allocation of the start and 16 a
 *                 block of the end, freed but for the facts when it returns
 */
PLIM_API PLIM_MUST_USE plim_status plim_inspect(const plim_history *history,
                                                const plim_inspect_options *options,
                                                plim_inspection **ret_inspection, plim_error *err);
PLIM_API void plim_inspection_destroy(plim_inspection *inspection);

PLIM_API size_t plim_inspection_device_count(const plim_inspection *inspection);
PLIM_API const plim_device_inspection *plim_inspection_device(const plim_inspection *inspection,
                                                              size_t index);

/**
 * The failed request of a device's oom, for plim_judge(). A history does not have the size of the
 * device. Where nothing was recorded after the failure, the blocks at the end are those of its
 * moment, and their figures are there too.
 *
 * index  below oom_count
 */
PLIM_API plim_failed_request plim_oom_request(const plim_device_inspection *device, size_t index);
/** Times an anomaly was seen, on import and by the inspection, over all devices. */
PLIM_API uint64_t plim_inspection_anomaly_count(const plim_inspection *inspection,
                                                plim_anomaly anomaly);

PLIM_END_DECLS

#endif
