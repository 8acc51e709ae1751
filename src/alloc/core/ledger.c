/*
 * ledger.c - opening, counting and folding. See ledger.h.
 *
 * This file is compiled without vector instructions: a change was written a number at a time a
 * moment ago, and loading two of them at once waits for both stores to reach the cache.
 */
#include "alloc/core/ledger.h"

void plim_ledger_open(plim_ledger *ledger, const plim_device_stats *stats, int64_t parts)
{
    *ledger = (plim_ledger){ .is_sole = parts == 1 };
    for (int slot = 0; slot < PLIM_SLOT_COUNT; slot++) {
        for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
            const plim_stat *stat = &stats->families[f][slot];
            ledger->limit[slot][f] = (stat->peak - stat->current) / parts;
        }
    }
}

static void fold(plim_stat *stat, int64_t net, int64_t gross, int64_t raised_to)
{
    /* A sole ledger's limit is where the peak is, or was raised to. */
    const int64_t peak = stat->current + raised_to;
    stat->peak = peak > stat->peak ? peak : stat->peak;
    stat->current += net;
    stat->allocated += (gross + net) / 2;
    stat->freed += (gross - net) / 2;
}

void plim_ledger_fold(const plim_ledger *ledger, plim_device_stats *stats)
{
    for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
        plim_stat *slots = stats->families[f];
        int64_t raised[PLIM_SLOT_COUNT] = { 0 };
        for (int slot = 0; slot < PLIM_SLOT_COUNT && ledger->is_sole; slot++) {
            raised[slot] = ledger->limit[slot][f];
        }
        fold(&slots[PLIM_SLOT_ALL], ledger->net[0][f] + ledger->net[1][f],
             ledger->gross[0][f] + ledger->gross[1][f], raised[PLIM_SLOT_ALL]);
        for (int is_small = 0; is_small < 2; is_small++) {
            const plim_stat_slot slot = plim_slot_of(is_small == 1);
            fold(&slots[slot], ledger->net[is_small][f], ledger->gross[is_small][f], raised[slot]);
        }
    }
}

bool plim_ledger_is_used(const plim_ledger *ledger)
{
    return (ledger->gross[0][PLIM_STAT_ACTIVE] | ledger->gross[1][PLIM_STAT_ACTIVE]) != 0;
}

uint64_t plim_ledger_frees(const plim_ledger *ledger)
{
    int64_t falls = 0;
    for (int is_small = 0; is_small < 2; is_small++) {
        falls +=
            ledger->gross[is_small][PLIM_STAT_ACTIVE] - ledger->net[is_small][PLIM_STAT_ACTIVE];
    }
    return (uint64_t)falls / 2;
}

bool plim_ledger_has_room(const plim_ledger *ledger, bool is_small,
                          const plim_ledger_change *change)
{
    if (ledger->is_sole) {
        return true;
    }
    const int64_t *net = ledger->net[is_small];
    const int64_t *other = ledger->net[!is_small];
    const int64_t *own = ledger->limit[plim_slot_of(is_small)];
    const int64_t *all = ledger->limit[PLIM_SLOT_ALL];
    int64_t room = 0; /* negative when any is */
    for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
        const int64_t now = net[f] + change->by[f];
        room |= (own[f] - now) | (all[f] - now - other[f]);
    }
    return room >= 0;
}

/* Limits that were passed go up to where the counts are. */
static void raise_limits(plim_ledger *ledger, bool is_small)
{
    int64_t *own = ledger->limit[plim_slot_of(is_small)];
    int64_t *all = ledger->limit[PLIM_SLOT_ALL];
    for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
        const int64_t net = ledger->net[is_small][f];
        const int64_t sum = net + ledger->net[!is_small][f];
        own[f] = net > own[f] ? net : own[f];
        all[f] = sum > all[f] ? sum : all[f];
    }
}

void plim_ledger_count(plim_ledger *ledger, bool is_small, const plim_ledger_change *change)
{
    int64_t *net = ledger->net[is_small];
    int64_t *gross = ledger->gross[is_small];
    const int64_t *other = ledger->net[!is_small];
    const int64_t *own = ledger->limit[plim_slot_of(is_small)];
    const int64_t *all = ledger->limit[PLIM_SLOT_ALL];
    int64_t room = 0;
    for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
        const int64_t by = change->by[f];
        const int64_t now = net[f] + by;
        net[f] = now;
        gross[f] += by < 0 ? -by : by;
        room |= (own[f] - now) | (all[f] - now - other[f]);
    }
    if (room < 0) {
        raise_limits(ledger, is_small);
    }
}

void plim_ledger_cycle(plim_ledger *ledger, bool is_small, const plim_ledger_change *change,
                       uint64_t times)
{
    for (int f = 0; f < PLIM_LEDGER_FAMILIES && times > 0; f++) {
        const int64_t by = change->by[f] < 0 ? -change->by[f] : change->by[f];
        ledger->gross[is_small][f] += 2 * by * (int64_t)times;
    }
}

/* Counts inactive_split alone, `sign` times a change, if no peak is passed. A function for each
 * sign calls it, so that the sign costs nothing on the hottest path. */
static inline bool count_splits(plim_ledger *ledger, bool is_small,
                                const plim_ledger_change *change, int64_t sign)
{
    int64_t *net = ledger->net[is_small];
    const int64_t *other = ledger->net[!is_small];
    const int64_t *own = ledger->limit[plim_slot_of(is_small)];
    const int64_t *all = ledger->limit[PLIM_SLOT_ALL];
    int64_t room = 0;
    for (int f = PLIM_STAT_INACTIVE_SPLIT; f < PLIM_LEDGER_FAMILIES; f++) {
        const int64_t now = net[f] + sign * change->by[f];
        room |= (own[f] - now) | (all[f] - now - other[f]);
    }
    for (int f = PLIM_STAT_INACTIVE_SPLIT; f < PLIM_LEDGER_FAMILIES && room >= 0; f++) {
        net[f] += sign * change->by[f];
    }
    return room >= 0;
}

bool plim_ledger_defer(plim_ledger *ledger, bool is_small, const plim_ledger_change *change)
{
    return count_splits(ledger, is_small, change, -1);
}

bool plim_ledger_undefer(plim_ledger *ledger, bool is_small, const plim_ledger_change *change)
{
    return count_splits(ledger, is_small, change, 1);
}

void plim_ledger_count_deferred(plim_ledger *ledger, bool is_small,
                                const plim_ledger_change *change)
{
    for (int f = 0; f < PLIM_LEDGER_FAMILIES; f++) {
        const int64_t by = change->by[f];
        ledger->gross[is_small][f] += by < 0 ? -by : by;
        ledger->net[is_small][f] -= f < PLIM_STAT_INACTIVE_SPLIT ? by : 0; /* these only fall */
    }
}
