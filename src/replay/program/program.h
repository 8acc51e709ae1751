/*
 * program.h - what a program asked of one device, taken out of a history.
 *
 *   history   alloc A  request A  complete A  segment_free  segment_alloc  alloc B  oom
 *   program   alloc 0  free 0                 empty cache                  alloc 0  try
 *
 * Ops are what the program did; what the allocator did (segments, places) is left out. A live
 * allocation has a slot, and slots are used again, so that who runs a program needs a table as
 * large as the most allocations that live at once.
 */
#ifndef PLIMSOLL_REPLAY_PROGRAM_PROGRAM_H
#define PLIMSOLL_REPLAY_PROGRAM_PROGRAM_H

#include "base/vec.h"
#include "history/timeline.h"
#include "plimsoll/replay.h"

typedef enum plim_op_kind {
    PLIM_OP_ALLOC,       /* slot <- bytes, on stream */
    PLIM_OP_FREE,        /* slot, which can be used again at once */
    PLIM_OP_DEFER,       /* the free of slot, which waits in queue `stream` */
    PLIM_OP_COMPLETE,    /* queue `stream` is done up to its bytes-th entry, from 1 */
    PLIM_OP_TRY,         /* bytes, on stream: a request that failed in the recording; slot:
                          * PLIM_TRY_… */
    PLIM_OP_EMPTY_CACHE, /* the program gave its cache back; slot: PLIM_RELEASE_…; bytes: of
                          * one pool only, its index + 1 */
    PLIM_OP_POOL,        /* requests go to pool `slot` from now on; PLIM_NONE: the default one */
    PLIM_OP_POOL_DROP,   /* pool `slot` is not used any more */
} plim_op_kind;

typedef struct plim_op {
    uint64_t bytes;
    uint32_t slot;
    uint16_t stream; /* index into streams, or a queue */
    uint8_t kind;    /* plim_op_kind */
    uint8_t unused;
} plim_op;

_Static_assert(sizeof(plim_op) == 16, "four ops to a cache line");

#define PLIM_TRY_RELEASES 0u
#define PLIM_TRY_KEEPS    1u /* nothing was given back for it: perhaps something was routed */

#define PLIM_RELEASE_SURE     0u
#define PLIM_RELEASE_DOUBTFUL 1u /* or the driver refused the request after it at first */

/* Frees that wait do so in queues: completed in the order they came in. A queue is a stream of
 * the device that is none of the program's. */
#define PLIM_QUEUE_STREAM (UINT64_C(0x51) << 56) /* handle of queue 0; the others follow */

/* An allocation from before the first op. */
typedef struct plim_start_block {
    plim_addr addr; /* as recorded */
    uint64_t requested_bytes;
    uint32_t slot;
    uint32_t pool;   /* index into pools, or PLIM_NONE */
    uint16_t stream; /* index into streams */
    bool is_outside; /* in no segment: requested, however the start is rebuilt */
    uint32_t stack;  /* index into the history's stacks, or PLIM_NONE */
} plim_start_block;

/* The state before the first op. */
typedef struct plim_program_start {
    /* As recorded: segments by address, tiled by blocks. plim_segment.stream is an index into the
     * program's streams. */
    PLIM_VEC(plim_segment) segments;
    PLIM_VEC(plim_block) blocks;
    PLIM_VEC(uint32_t) block_slots;         /* by block: the slot it holds, or PLIM_NONE */
    PLIM_VEC(plim_start_block) allocations; /* by address */
} plim_program_start;

/* Where the driver put memory in the recording, for a run that asks for the same: plain memory, and
 * the first mapping in a range of expandable memory. */
typedef struct plim_recorded_segment {
    plim_addr addr;
    uint64_t bytes; /* of plain memory */
    uint64_t op;    /* during which it happened */
    bool is_range;
} plim_recorded_segment;

typedef struct plim_program {
    const plim_mem *mem;
    const plim_history *history;       /* borrowed */
    const plim_device_history *device; /* borrowed */
    uint64_t from_event;               /* of the device's events, [from, to) are in the program */
    uint64_t to_event;

    PLIM_VEC(plim_op) ops;
    PLIM_VEC(uint32_t) op_events;  /* by op: the event it stands for, or comes before */
    uint64_t prologue;             /* the first so many ops bring pending frees of the start about;
                                    * they stand for no event */
    PLIM_VEC(plim_stream) streams; /* handles */
    PLIM_VEC(plim_pool_id) pools;  /* private ones */
    uint32_t slot_count;
    uint32_t queue_count;
    plim_program_start start;
    PLIM_VEC(plim_recorded_segment) recorded_segments; /* in order of ops */
    uint64_t range_bytes_max; /* of address space an expandable segment had at most, by the
                               * distances of these; PLIM_UNLIMITED: unknown */
    uint64_t peak_op;         /* after it, live requests (in units of 512 bytes) are highest */
    uint64_t peak_live_bytes;
    uint64_t caveats[PLIM_CAVEAT_COUNT];
    bool is_restorable; /* the start can be rebuilt as it lay */
    plim_replay_facts facts;
} plim_program;

#define PLIM_NO_OP UINT64_MAX

typedef struct plim_program_options {
    uint64_t from_event;
    uint64_t to_event; /* 0: all */
    const plim_scale *scales;
    size_t scale_count;
} plim_program_options;

/* Takes the program of one device out of a history. */
plim_status plim_program_init(plim_program *program, const plim_history *history,
                              const plim_device_history *device,
                              const plim_program_options *options, const plim_mem *mem,
                              plim_error *err);
/* A zeroed one is allowed. */
void plim_program_deinit(plim_program *program);

/* The event an op stands for or comes before. */
static inline uint64_t plim_program_event(const plim_program *program, uint64_t op)
{
    return op < program->ops.count ? program->op_events.items[op] : program->to_event;
}

#endif
