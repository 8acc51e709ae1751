/*
 * plimsoll/event.h - the event: one thing that happened to the memory of a device.
 *
 * The allocator emits events, a recorder writes them, an importer reads them, a history keeps them
 * by column (plim_events in history.h), and all of them mean these fields by these names:
 *
 *   action        alloc      free_*     segment_*      snapshot       oom
 *   addr          of the block          of the range   0              free bytes the driver
 *                                                                     reported, or unknown
 *   bytes         requested             from or to     active bytes   of the request that failed
 *                                       the driver
 *   block_bytes   of the block          0              0              0
 */
#ifndef PLIMSOLL_EVENT_H
#define PLIMSOLL_EVENT_H

#include "plimsoll/addr.h"
#include "plimsoll/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PLIM_BEGIN_DECLS

#define PLIM_TIME_UNKNOWN INT64_MIN          /* in a time, where the source has no clock */
#define PLIM_TIME_US_MAX  (INT64_MAX / 1000) /* events' times end in 2262 */
#define PLIM_SIZE_UNKNOWN UINT64_MAX         /* in a size the source leaves out */
#define PLIM_NONE         UINT32_MAX         /* in any index, where there is nothing to point at */

/*
 * The action of an event. Names are those that PyTorch writes (PyTorch 2.11,
 * torch/csrc/cuda/memory_snapshot.cpp). In every list the order is: enumerator, name in files.
 */
#define PLIM_ACTION_LIST(X)                  \
    X(PLIM_ALLOC, "alloc")                   \
    X(PLIM_FREE_REQUESTED, "free_requested") \
    X(PLIM_FREE_COMPLETED, "free_completed") \
    X(PLIM_SEGMENT_ALLOC, "segment_alloc")   \
    X(PLIM_SEGMENT_FREE, "segment_free")     \
    X(PLIM_SEGMENT_MAP, "segment_map")       \
    X(PLIM_SEGMENT_UNMAP, "segment_unmap")   \
    X(PLIM_SNAPSHOT, "snapshot")             \
    X(PLIM_OOM, "oom")                       \
    X(PLIM_ANNOTATE, "annotate")             \
    X(PLIM_USER_DEFINED, "user_defined")

typedef enum plim_action {
#define PLIM_ACTION_ENUM(code, name) code,
    PLIM_ACTION_LIST(PLIM_ACTION_ENUM)
#undef PLIM_ACTION_ENUM
        PLIM_ACTION_KNOWN_COUNT,
    /* From here on: actions only one history knows; plim_history_action_name() gives the name. */
    PLIM_ACTION_OTHER = PLIM_ACTION_KNOWN_COUNT,
    PLIM_ACTION_MAX = 255
} plim_action;

typedef struct plim_event {
    plim_action action;
    int32_t device; /* PyTorch's index; PLIM_HOST_DEVICE for pinned host memory */
    plim_stream stream;
    plim_addr addr;
    uint64_t bytes;
    /* Of the block that holds the request; 0 where it is not known. The rest of a segment between
     * its blocks is free: so events alone say how it is split. */
    uint64_t block_bytes;
    int64_t time_ns;   /* since the Unix epoch, or PLIM_TIME_UNKNOWN */
    plim_pool_id pool; /* {0,0}: the default pool, and where no pool is named */
    uint32_t stack;    /* the number that its source gave the stack, or PLIM_NONE */
    /* In a history: index into its notes. PLIM_NONE where the event says no more than its pool. */
    uint32_t note;
    bool is_small; /* alloc, free_*, segment_*: of the small pool */
} plim_event;

#define PLIM_HOST_DEVICE (-1)

/** Nanoseconds of a time in microseconds; unknown beyond PLIM_TIME_US_MAX. */
static inline int64_t plim_time_ns(int64_t time_us)
{
    return time_us >= -PLIM_TIME_US_MAX && time_us <= PLIM_TIME_US_MAX ? time_us * 1000
                                                                       : PLIM_TIME_UNKNOWN;
}

/** Microseconds, as files have them, of an event's time. */
static inline int64_t plim_time_us(int64_t time_ns)
{
    return time_ns == PLIM_TIME_UNKNOWN ? PLIM_TIME_UNKNOWN : time_ns / 1000;
}

/* --- sinks --- */

/* One frame of a language the program brings: borrowed during the call. */
typedef struct plim_foreign_frame {
    const char *filename;
    const char *name;
    uint32_t line;
} plim_foreign_frame;

/* A stack when it is met first: return addresses of C frames and frames of the program's own
 * language. Borrowed during the call. */
typedef struct plim_stack_record {
    uint32_t id;
    const uint64_t *addresses;
    size_t address_count;
    const plim_foreign_frame *foreign;
    size_t foreign_count;
} plim_stack_record;

/* Takes events as they happen: alloc … oom, their stacks as ids of a plim_stack_record that came
 * before. Both functions are called with locks held and must be quick: no calls into the
 * allocator. `stack` may be NULL. The events of a device come in order; events of two streams that
 * two threads use at once may come from both threads at once. */
typedef struct plim_event_sink {
    void (*event)(void *ctx, const plim_event *event);
    void (*stack)(void *ctx, const plim_stack_record *stack);
    void *ctx;
} plim_event_sink;

PLIM_END_DECLS

#endif
