/*
 * mirror.h - segments and blocks as events change them: the segments and blocks at the end of a
 * recording.
 *
 * Between the live blocks of a segment everything is free, so that blocks need not be recorded when
 * they are split and merged. Events that contradict what stands are believed: the newer one wins.
 *
 * Where events are missing, contradictions say which. A block that was live before the gap and in
 * whose place something else stands after it was freed in the gap; what is freed after the gap and
 * was never allocated was allocated in it. These events are put down as lost ones, to be inserted
 * where the gap is, so that every reader of the history sees each block begin and end.
 *
 * Not a plim_timeline: that reads a sealed history, whose end is known. The mirror makes that end,
 * and the events that are missing, while the history is still being written.
 */
#ifndef PLIMSOLL_TRACE_READ_MIRROR_H
#define PLIMSOLL_TRACE_READ_MIRROR_H

#include "history/builder.h"
#include "history/spans.h"

#define PLIM_NO_GAP UINT64_MAX

typedef struct plim_mirror_block {
    uint64_t requested_bytes;
    uint64_t born; /* events before and including its alloc; 0: it stood at the start */
    plim_stream stream;
    plim_pool_id pool;
    uint32_t stack;
    bool is_small;
    bool is_pending;
} plim_mirror_block;

typedef struct plim_mirror_segment {
    plim_stream stream;
    plim_pool_id pool;
    uint32_t stack;
    bool is_small;
    bool is_expandable;
    uint64_t born; /* as a block's */
} plim_mirror_segment;

/* The order of lost events within a gap: what ends, then what begins. */
typedef enum plim_lost_order {
    PLIM_LOST_REQUEST,
    PLIM_LOST_COMPLETION,
    PLIM_LOST_SEGMENT_END,
    PLIM_LOST_SEGMENT_BEGIN,
    PLIM_LOST_ALLOC,
    PLIM_LOST_OWN_REQUEST, /* of what was allocated in the same gap */
} plim_lost_order;

/* An event that is missing, worked out; `at` events come before it. */
typedef struct plim_lost_event {
    uint64_t at;
    plim_lost_order order;
    plim_event event;
} plim_lost_event;

typedef struct plim_mirror {
    const plim_mem *mem;
    /* A span's tag is the row of what it is. */
    plim_spans block_spans;
    plim_spans segment_spans;
    PLIM_VEC(plim_mirror_block) blocks;
    PLIM_VEC(uint32_t) free_rows; /* of blocks */
    PLIM_VEC(plim_mirror_segment) segments;
    PLIM_VEC(plim_lost_event) lost;
    uint64_t gap; /* events before the last gap, or PLIM_NO_GAP */
    int64_t gap_time_ns;
} plim_mirror;

void plim_mirror_init(plim_mirror *mirror, const plim_mem *mem);
/* Zeroed ones are allowed. */
void plim_mirror_deinit(plim_mirror *mirror);

/* Segments and blocks of the start; one that overlaps replaces. False, as below: no memory. */
bool plim_mirror_add_segment(plim_mirror *mirror, plim_addr addr, uint64_t bytes,
                             const plim_mirror_segment *segment);
bool plim_mirror_add_block(plim_mirror *mirror, plim_addr addr, uint64_t bytes,
                           const plim_mirror_block *block);

/* Events are missing after the first `at`. */
void plim_mirror_gap(plim_mirror *mirror, uint64_t at, int64_t time_ns);
/* `number`: events before and including this one. Its stack is one of the history's. */
bool plim_mirror_apply(plim_mirror *mirror, const plim_event *event, uint64_t number);

/* Sorts the lost events by place and order. */
void plim_mirror_sort_lost(plim_mirror *mirror);

/* Counts of rows that plim_mirror_push() pushed and made up. */
typedef struct plim_mirror_report {
    uint64_t segments;
    uint64_t blocks;
    uint64_t made_up_segments;   /* for blocks in segments that are not recorded */
    uint64_t stretched_segments; /* because blocks reach beyond what was recorded */
} plim_mirror_report;

/* Pushes the segments and blocks that stand. */
plim_status plim_mirror_push(const plim_mirror *mirror, plim_history *history,
                             plim_mirror_report *ret_report, plim_error *err);

#endif
