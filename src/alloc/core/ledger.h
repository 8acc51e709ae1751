/*
 * ledger.h - one statistic (struct Stat of PyTorch 2.11, c10/core/CachingDeviceAllocator.h), and
 * ledgers: statistics that several lanes keep at once, exactly, peaks included.
 *
 * A ledger counts by how much a count has changed since it was opened (net), and how much it went
 * up and down for that (gross). Its limit says how far net may rise before a peak would be passed.
 * The limits of all open ledgers never add up to more than the distance from the current value to
 * the peak, so no peak can be passed unseen:
 *
 *   sole     one ledger has all the room; when it runs out, the ledger raises the peak itself
 *   shared   several have a part each; one that runs out has to stop the world, where all are
 *            folded into the statistics and opened anew
 */
#ifndef PLIMSOLL_ALLOC_LEDGER_H
#define PLIMSOLL_ALLOC_LEDGER_H

#include "plimsoll/stats.h"

#include <stdbool.h>
#include <stdint.h>

/* --- one statistic. Amounts are not negative; sums wrap rather than trap, since a simulated device
 * may hand out any number of bytes in its life --- */

static inline int64_t plim_stat_wrapping_sum(int64_t a, int64_t b)
{
    int64_t sum = 0;
    (void)__builtin_add_overflow(a, b, &sum);
    return sum;
}

static inline int64_t plim_stat_wrapping_difference(int64_t a, int64_t b)
{
    int64_t difference = 0;
    (void)__builtin_sub_overflow(a, b, &difference);
    return difference;
}

static inline void plim_stat_increase(plim_stat *stat, int64_t n)
{
    stat->current = plim_stat_wrapping_sum(stat->current, n);
    stat->peak = stat->current > stat->peak ? stat->current : stat->peak;
    stat->allocated = plim_stat_wrapping_sum(stat->allocated, n);
}

static inline void plim_stat_decrease(plim_stat *stat, int64_t n)
{
    stat->current = plim_stat_wrapping_difference(stat->current, n);
    stat->freed = plim_stat_wrapping_sum(stat->freed, n);
}

static inline plim_stat_slot plim_slot_of(bool is_small)
{
    return is_small ? PLIM_SLOT_SMALL : PLIM_SLOT_LARGE;
}

/* In all pools, and in those of the class the block belongs to. */
static inline void plim_stats_increase(plim_device_stats *stats, plim_stat_family family,
                                       bool is_small, int64_t n)
{
    plim_stat_increase(&stats->families[family][PLIM_SLOT_ALL], n);
    plim_stat_increase(&stats->families[family][plim_slot_of(is_small)], n);
}

static inline void plim_stats_decrease(plim_device_stats *stats, plim_stat_family family,
                                       bool is_small, int64_t n)
{
    plim_stat_decrease(&stats->families[family][PLIM_SLOT_ALL], n);
    plim_stat_decrease(&stats->families[family][plim_slot_of(is_small)], n);
}

/* --- a ledger --- */

/* The families a ledger keeps: those that change on cached hits. */
#define PLIM_LEDGER_FAMILIES (PLIM_STAT_INACTIVE_SPLIT_BYTES + 1)

typedef struct plim_ledger {
    int64_t net[2][PLIM_LEDGER_FAMILIES]; /* by class: 0 large, 1 small */
    int64_t gross[2][PLIM_LEDGER_FAMILIES];
    int64_t limit[PLIM_SLOT_COUNT][PLIM_LEDGER_FAMILIES];
    bool is_sole;
} plim_ledger;

/* The signed change of each family by one operation. */
typedef struct plim_ledger_change {
    int64_t by[PLIM_LEDGER_FAMILIES];
} plim_ledger_change;

/* Opens an empty ledger with one part in `parts` of the room there is; sole if that is all. */
void plim_ledger_open(plim_ledger *ledger, const plim_device_stats *stats, int64_t parts);
/* Adds a ledger to the statistics it was opened from; it is closed then. */
void plim_ledger_fold(const plim_ledger *ledger, plim_device_stats *stats);
/* True if anything was counted since it was opened. */
bool plim_ledger_is_used(const plim_ledger *ledger);
/* The number of blocks that became free since then. */
uint64_t plim_ledger_frees(const plim_ledger *ledger);

/* True if a change may be counted: always, in a sole ledger. */
bool plim_ledger_has_room(const plim_ledger *ledger, bool is_small,
                          const plim_ledger_change *change);
/* Counts a change. */
void plim_ledger_count(plim_ledger *ledger, bool is_small, const plim_ledger_change *change);
/* Counts that a change was taken back and made again, `times` times: no room is used. */
void plim_ledger_cycle(plim_ledger *ledger, bool is_small, const plim_ledger_change *change,
                       uint64_t times);

/*
 * A change that is taken back now and counted later (defer), or made again before it was counted
 * (undefer). What may rise by that, inactive_split, is counted at once: the next one that is taken
 * back has to see how much room is left.
 *
 * returns  false: a peak would be passed, in a sole ledger too, and nothing changed
 */
bool plim_ledger_defer(plim_ledger *ledger, bool is_small, const plim_ledger_change *change);
bool plim_ledger_undefer(plim_ledger *ledger, bool is_small, const plim_ledger_change *change);
/* Counts the rest of what was deferred. */
void plim_ledger_count_deferred(plim_ledger *ledger, bool is_small,
                                const plim_ledger_change *change);

#endif
