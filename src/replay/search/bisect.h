/*
 * bisect.h - the smallest capacity something survives with, found with few tries.
 *
 *      floor        low             hint      high
 *   ─────┼───────────┼───────────────┼─────────┼──────►  steps of capacity
 *        impossible  fails           needed    survives
 *        do with     (tried)         there     (tried, or concluded from what a run used)
 *        less
 *
 * The caller asks what to try next and reports what came of it. A try that fails ends where it
 * fails and says what it would have needed; one that survives goes on to the end. So the next try
 * is closer to `low` than to `high` where failures come early.
 *
 * Promised at the end: it survives with `high`, and fails with one step less. What survives need
 * not survive with more, so there may be a smaller capacity that would do: the one that is found
 * depends on nothing but the answers.
 */
#ifndef PLIMSOLL_REPLAY_SEARCH_BISECT_H
#define PLIMSOLL_REPLAY_SEARCH_BISECT_H

#include <stdbool.h>
#include <stdint.h>

#define PLIM_STEPS_UNKNOWN UINT64_MAX
#define PLIM_STEPS_MAX     (UINT64_C(1) << 42) /* of 2 MiB: 2^63 bytes; as good as no limit */

typedef struct plim_bisect {
    uint64_t floor; /* steps, as all but the last two */
    uint64_t low;
    uint64_t high;     /* PLIM_STEPS_UNKNOWN: nothing survived yet */
    uint64_t tried;    /* the fewest that were tried and survived, or PLIM_STEPS_UNKNOWN */
    uint64_t hint;     /* 0: none */
    uint64_t growth;   /* how far the next try is at least, while nothing survived */
    bool is_high_sure; /* tried, or concluded where that is certain */
    double reach;      /* how much of a whole run the last failure took, 0 to 1 */
} plim_bisect;

/* Nothing is tried yet; it needs `floor` at least, at least one. */
plim_bisect plim_bisect_start(uint64_t floor);

/* The next capacity to try, above 0; 0: `high` is the answer, or PLIM_STEPS_UNKNOWN: nothing is
 * enough. */
uint64_t plim_bisect_next(const plim_bisect *bisect);

/*
 * A try survived.
 *
 * steps     PLIM_STEPS_MAX: without a limit, which says nothing of what it needs
 * used      of the steps it had; with these the same would have happened
 * is_sure   … without a doubt: nothing but what it may take depends on the capacity
 */
void plim_bisect_survived(plim_bisect *bisect, uint64_t steps, uint64_t used, bool is_sure);

/*
 * A try failed.
 *
 * needed   what it would have taken to get past there; 0: unknown; from PLIM_STEPS_MAX on:
 *          nothing is enough
 */
void plim_bisect_failed(plim_bisect *bisect, uint64_t steps, uint64_t needed, double reach);

#endif
