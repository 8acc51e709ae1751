/*
 * extraction.h - a program while it is extracted from a history. Calls go one way:
 *
 *   program.c      the steps in their order
 *   start.c        what is live at the first op          walk.c    events to ops
 *   extraction.c   slots, streams, pools, ranges, sizes, ops: what both share
 *   queues, releases, scale                              each by itself
 */
#ifndef PLIMSOLL_REPLAY_PROGRAM_EXTRACTION_H
#define PLIMSOLL_REPLAY_PROGRAM_EXTRACTION_H

#include "base/map.h"
#include "phases/categories.h"
#include "replay/program/program.h"
#include "replay/program/queues.h"
#include "replay/program/releases.h"
#include "replay/program/scale.h"

/* An allocation at the first op: live, or freed and waiting. */
typedef struct plim_start_entry {
    plim_addr addr;
    uint64_t requested_bytes; /* as recorded */
    uint64_t block_bytes;
    bool is_estimate;      /* the size of the block */
    uint64_t scaled_bytes; /* requested, scaled */
    plim_addr limit;       /* where the next thing in its segment begins, or the segment ends */
    uint32_t stream;       /* of the history, or PLIM_NONE: its segment's */
    uint32_t stack;
    uint32_t event; /* one that is about it, or PLIM_NONE */
    uint32_t slot;
    uint32_t deferral; /* row, or PLIM_NONE: it is live */
} plim_start_entry;

/* A range of expandable memory, as far as it has shown itself. */
typedef struct plim_range_key {
    plim_pool_id pool;
    uint16_t stream; /* of the program */
    bool is_small;
    plim_addr base; /* the lowest address mapped so far */
    uint64_t mapped_bytes;
} plim_range_key;

/* Events in a row in which memory goes back and frees complete. */
typedef struct plim_release_row {
    uint64_t end;
    uint32_t pool;    /* all that goes back is of this private one; or PLIM_NONE */
    bool has_release; /* not only frees complete */
    bool is_retry;    /* it is done for a request that the driver refused */
    bool has_dropped; /* its pools were given up */
} plim_release_row;

typedef struct plim_extraction {
    plim_program *program;
    plim_timeline timeline;
    plim_scaling scaling;
    plim_categories categories; /* where scales need them */
    plim_deferrals deferrals;
    plim_release_list releases;
    PLIM_VEC(plim_start_entry) at_start;
    uint32_t *slots; /* by id of the timeline */
    PLIM_VEC(uint32_t) spare_slots;
    uint16_t *stream_of;     /* by stream of the history: the program's, or PLIM_NO_STREAM */
    plim_map segment_events; /* by address: the last segment_alloc there; with private pools */
    PLIM_VEC(plim_range_key) ranges;
    uint64_t live_bytes;
    bool has_timeline;
    bool has_pools;    /* requests may belong to private pools */
    bool names_pools;  /* events say which */
    struct {           /* walk.c's own */
        uint32_t pool; /* of requests now */
        uint64_t driver_calls;
        size_t next_release;
        plim_release_row row;
        PLIM_VEC(uint32_t) postponed; /* completions that the next request waits for */
    } walk;
} plim_extraction;

#define PLIM_NO_STREAM UINT16_MAX

/* Each false: no host memory. */
bool plim_extraction_slot(plim_extraction *e, uint32_t *ret_slot);
bool plim_extraction_stream(plim_extraction *e, uint32_t history_stream, uint16_t *ret_stream);
bool plim_extraction_pool(plim_extraction *e, plim_pool_id pool, uint32_t *ret_pool);

/* The pool of an address at an event (or PLIM_NONE: at the end), as far as it is recorded; {0,0}:
 * the default one. */
plim_pool_id plim_extraction_pool_at(const plim_extraction *e, plim_addr addr, uint64_t event);
/* Before the first call of it. False: no host memory. */
bool plim_extraction_note_segments(plim_extraction *e);

/* The segment at the end that holds an address, or NULL. */
const plim_segment *plim_extraction_segment_at_end(const plim_device_history *device,
                                                   plim_addr addr);

/* A mapping of a range: of one known, or the first of another. False: no host memory. */
bool plim_extraction_range(plim_extraction *e, const plim_range_key *key, bool *ret_is_new);
/* Some of a range is unmapped. When nothing of it is left, the allocator gives it up. */
void plim_extraction_unmap(plim_extraction *e, plim_addr addr, uint64_t bytes);

/* start.c: the allocations, segments and blocks at the first op, and the ops of the prologue. */
plim_status plim_extraction_start(plim_extraction *e, plim_error *err);
/* walk.c: the ops. */
plim_status plim_extraction_walk(plim_extraction *e, plim_error *err);

/* The size that an alloc or oom event requests, and that an allocation requested, scaled; 0 for one
 * that no allocator serves. */
uint64_t plim_extraction_event_bytes(const plim_extraction *e, uint64_t event);
uint64_t plim_extraction_bytes(const plim_extraction *e, uint64_t id);

/* Append an op that stands for an event. False: no host memory. */
bool plim_extraction_op(plim_extraction *e, uint64_t event, plim_op op);
/* Live bytes change by a request of so many; peaks are noted after the op appended last. */
void plim_extraction_live(plim_extraction *e, uint64_t bytes);
void plim_extraction_dead(plim_extraction *e, uint64_t bytes);

#endif
