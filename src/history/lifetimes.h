/*
 * lifetimes.h - which event ends which allocation: a device's events, matched by address.
 *
 *   event     0 alloc A   1 alloc B   2 request A   3 complete A   4 alloc A
 *   partner       2         none          0              2           none
 *
 * The partner of an alloc is what ends it: its free, or the alloc that takes its address while
 * it is still live. The partner of a free is its alloc; where frees have two halves, that of the
 * completing half is the requesting one. An event without one has PLIM_NONE, and four lists say
 * what else those were. Everything later works on this table and hashes no address again.
 */
#ifndef PLIMSOLL_HISTORY_LIFETIMES_H
#define PLIMSOLL_HISTORY_LIFETIMES_H

#include "base/vec.h"
#include "plimsoll/history.h"

/* Events of a device that can be matched: a few indices stand for states. */
#define PLIM_MATCHED_EVENTS_MAX ((uint64_t)UINT32_MAX - 16)

/*
 * Which halves of a free a file records. An allocation ends when its free is requested; in a
 * file without any free_requested, when it is completed.
 */
typedef struct plim_free_halves {
    bool requested;
    bool completed;
} plim_free_halves;

/*
 * Which halves of frees the file of this device records. All devices of a file are recorded by
 * one switch, so they are asked together; pinned host memory has a recording of its own.
 */
plim_free_halves plim_free_halves_of(const plim_history *history, int32_t device);

/* An alloc that takes an address whose live allocation, or pending free, nothing has ended. */
typedef struct plim_displacement {
    uint32_t event;
    uint32_t displaced; /* the alloc that was live, or the free_requested that was pending */
} plim_displacement;

/* A free whose block is given back later than in the next event. */
typedef struct plim_late_completion {
    uint32_t request;
    uint32_t completed; /* the free_completed, or the alloc that took the address */
} plim_late_completion;

typedef PLIM_VEC(uint32_t) plim_event_list;

/* Which event last changed what is at an address: lifetimes.c. */
typedef struct plim_address_table {
    uint32_t *slots; /* event + 1, or 0 for an empty slot */
    size_t mask;     /* slots - 1; 0 slots before the first address */
    size_t count;
    uint64_t hash_key;
} plim_address_table;

typedef struct plim_lifetimes {
    const plim_mem *mem;
    const plim_events *events; /* borrowed */
    uint32_t *partner;         /* by event */
    plim_free_halves halves;
    plim_address_table addresses;

    /* In order of events: */
    plim_event_list start_frees;       /* end an allocation from before the first event */
    plim_event_list start_completions; /* complete a free requested before the first event */
    PLIM_VEC(plim_displacement) displacements;
    PLIM_VEC(plim_late_completion) late; /* by request */

    uint64_t live_count_end;
    uint64_t double_frees;
    uint64_t allocs_over_live;
    uint64_t size_mismatches;
    uint64_t unrequested_completions;
} plim_lifetimes;

/* The state of an address after the events. */
typedef enum plim_address_outcome {
    PLIM_ADDRESS_UNTOUCHED, /* no event names it */
    PLIM_ADDRESS_LIVE,      /* event: its alloc */
    PLIM_ADDRESS_PENDING,   /* event: its free_requested, which nothing completed */
    PLIM_ADDRESS_FREE,
} plim_address_outcome;

typedef struct plim_address_end {
    plim_address_outcome outcome;
    uint32_t event; /* or PLIM_NONE */
} plim_address_end;

/*
 * Matches the events of a device, which are borrowed. Linear; takes 4 bytes an event and 6 to 13
 * an address.
 * Errors: PLIM_OUT_OF_HOST_MEMORY, PLIM_LIMIT beyond PLIM_MATCHED_EVENTS_MAX.
 */
plim_status plim_lifetimes_init(plim_lifetimes *lifetimes, const plim_events *events,
                                plim_free_halves halves, const plim_mem *mem, plim_error *err);
/* Zeroed ones are allowed. */
void plim_lifetimes_deinit(plim_lifetimes *lifetimes);

plim_address_end plim_lifetimes_at(const plim_lifetimes *lifetimes, plim_addr addr);
/* Frees the table that plim_lifetimes_at() asks; it is not to be called afterwards. */
void plim_lifetimes_forget_addresses(plim_lifetimes *lifetimes);

/* The event that completes a free_requested, or PLIM_NONE. */
uint32_t plim_lifetimes_completion(const plim_lifetimes *lifetimes, uint32_t request);

/* True if this kind of event ends allocations in this file. */
static inline bool plim_ends_allocation(plim_free_halves halves, uint8_t action)
{
    return action == (halves.requested ? PLIM_FREE_REQUESTED : PLIM_FREE_COMPLETED);
}

#endif
