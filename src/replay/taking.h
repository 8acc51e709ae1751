/*
 * taking.h - a program while it is taken out of a history; for the files that do it.
 *
 *   start_state   what stood before the first op
 *   walk          the events, one by one
 */
#ifndef PLIMSOLL_REPLAY_TAKING_H
#define PLIMSOLL_REPLAY_TAKING_H

#include "base/map.h"
#include "phases/categories.h"
#include "replay/program.h"
#include "replay/queues.h"
#include "replay/releases.h"
#include "replay/scale.h"

/* Something that stands at the first op: live, or given back and waiting. */
typedef struct plim_standing {
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
} plim_standing;

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

typedef struct plim_taking {
    plim_program *program;
    plim_timeline timeline;
    plim_scaling scaling;
    plim_categories categories; /* where scales need them */
    plim_deferrals deferrals;
    plim_release_list releases;
    PLIM_VEC(plim_standing) standing;
    uint32_t *slots; /* by id of the timeline */
    PLIM_VEC(uint32_t) spare_slots;
    uint16_t *stream_of; /* by stream of the history: the program's, or PLIM_NO_STREAM */
    uint64_t live_bytes;
    size_t next_release;
    plim_release_row row;
    PLIM_VEC(uint32_t) postponed; /* completions that the next request waits for */
    plim_map segment_events;      /* by address: the last segment_alloc there; with private pools */
    PLIM_VEC(plim_range_key) ranges;
    uint64_t driver_calls;
    uint32_t pool; /* where requests go now */
    bool has_timeline;
    bool has_pools;   /* requests may belong to private pools */
    bool names_pools; /* events say which */
} plim_taking;

#define PLIM_NO_STREAM UINT16_MAX

/* Each false: no host memory. */
bool plim_taking_slot(plim_taking *taking, uint32_t *ret_slot);
bool plim_taking_stream(plim_taking *taking, uint32_t history_stream, uint16_t *ret_stream);
bool plim_taking_pool(plim_taking *taking, plim_pool_id pool, uint32_t *ret_pool);

/* The pool of what is at an address at an event (or PLIM_NONE: at the end), as far as the recording
 * tells; {0,0}: the default one. */
plim_pool_id plim_taking_pool_at(const plim_taking *taking, plim_addr addr, uint64_t event);
/* What that needs to know. */
bool plim_taking_note_segments(plim_taking *taking);

/* A mapping of a range: of one known, or the first of another. False: no host memory. */
bool plim_taking_range(plim_taking *taking, const plim_range_key *key, bool *ret_is_new);
/* Some of a range is unmapped. When nothing of it is left, the allocator gives it up. */
void plim_taking_unmap(plim_taking *taking, plim_addr addr, uint64_t bytes);

/* What stood: gathers `standing` and deals the deferrals; standing.c. */
plim_status plim_taking_gather(plim_taking *taking, plim_error *err);
/* Where it stood: segments, blocks, allocations, and the ops of the prologue; start_state.c. */
plim_status plim_taking_place(plim_taking *taking, plim_error *err);
/* Whether a row, whose limit is set, can be a block where it is. */
bool plim_standing_is_placeable(const plim_standing *row);
/* The ops; walk.c. */
plim_status plim_taking_walk(plim_taking *taking, plim_error *err);

/* What an alloc or oom event asks for, and what an allocation did, scaled. More than any request
 * can have been given is nonsense, and nothing is asked for. */
uint64_t plim_taking_event_bytes(const plim_taking *taking, uint64_t event);
uint64_t plim_taking_bytes(const plim_taking *taking, uint64_t id);

/* Append an op that stands for an event. False: no host memory. */
bool plim_taking_op(plim_taking *taking, uint64_t event, plim_op op);
/* Live bytes change by a request of so many; peaks are noted after the op appended last. */
void plim_taking_live(plim_taking *taking, uint64_t bytes);
void plim_taking_dead(plim_taking *taking, uint64_t bytes);

#endif
