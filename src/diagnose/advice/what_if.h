/*
 * what_if.h - the peak of a history in which some allocations were smaller, or lived at other
 * times.
 *
 *   live    ▁▂▅█▇▅▂▁     as it was, by event
 *   change  ▁▁▂▃▃▁▁▁     added or taken away, by event
 *   peak    the highest of both together: the next highest moment limits what a fix saves
 *
 * One change is a number of bytes over a range of moments. All changes of a technique are added,
 * then the peak is taken, which forgets them.
 */
#ifndef PLIMSOLL_DIAGNOSE_ADVICE_WHAT_IF_H
#define PLIMSOLL_DIAGNOSE_ADVICE_WHAT_IF_H

#include "history/timeline.h"
#include "phases/categories.h"
#include "phases/passes.h"

typedef struct plim_what_if {
    const plim_mem *mem;
    uint64_t *live;   /* requested bytes by moment: [0] at the start, [i + 1] after event i */
    uint64_t *change; /* what each moment adds to the one before, modulo 2^64 */
    size_t moments;   /* events + 1 */
    uint64_t peak_bytes;
    int64_t peak_event; /* the first moment of the peak */
} plim_what_if;

/* 16 bytes an event. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_what_if_init(plim_what_if *ret_what_if, const plim_timeline *timeline,
                              const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_what_if_deinit(plim_what_if *what_if);

/* More or fewer bytes at the moments [from, to); PLIM_AT_START and PLIM_NEVER are moments. An empty
 * range changes nothing. */
void plim_what_if_more(plim_what_if *what_if, uint64_t bytes, int64_t from, int64_t to);
void plim_what_if_less(plim_what_if *what_if, uint64_t bytes, int64_t from, int64_t to);

/* The bytes that the changes save at the peak, 0 where they save nothing. Forgets the changes. */
uint64_t plim_what_if_saves(plim_what_if *what_if);

/* --- what is changed: each allocation, with what is known of it --- */

typedef struct plim_what_if_life {
    uint64_t id;
    int64_t born;  /* or PLIM_AT_START */
    int64_t freed; /* or PLIM_NEVER */
    uint64_t bytes;
    uint32_t stack; /* of its request; PLIM_NONE: not known */
    plim_category category;
    plim_pass_kind pass; /* PLIM_PASS_SETUP before the first event */
} plim_what_if_life;

/* A walk over all allocations: what was there at the start, then by birth. */
typedef struct plim_what_if_walk {
    const plim_timeline *timeline;
    const plim_categories *categories;
    const plim_passes *passes;
    size_t next; /* row: of the start's allocations, then events */
    size_t pass;
} plim_what_if_walk;

plim_what_if_walk plim_what_if_lives(const plim_timeline *timeline,
                                     const plim_categories *categories, const plim_passes *passes);
/* The next one; false after the last. */
bool plim_what_if_next(plim_what_if_walk *walk, plim_what_if_life *ret_life);

#endif
