/*
 * bisect.c - see bisect.h.
 */
#include "replay/search/bisect.h"

#include "base/assert.h"
#include "base/numbers.h"

#define GROWTH_FIRST_SHIFT 6    /* 1/64 of what failed: small, for needs grow by segments */
#define REACH_EARLY        0.25 /* failures that take less of a run are cheap: look lower */

plim_bisect plim_bisect_start(uint64_t floor)
{
    PLIM_ASSERT(floor > 0);
    PLIM_ASSERT(floor < PLIM_STEPS_MAX);
    return (plim_bisect){
        .floor = floor, .low = floor - 1, .high = PLIM_STEPS_UNKNOWN, .tried = PLIM_STEPS_UNKNOWN
    };
}

uint64_t plim_bisect_next(const plim_bisect *bisect)
{
    const uint64_t low = bisect->low;
    const uint64_t high = bisect->high;
    if (high == PLIM_STEPS_UNKNOWN) {
        if (low >= PLIM_STEPS_MAX) {
            return 0;
        }
        const uint64_t next = plim_max(bisect->hint, low + plim_max(bisect->growth, 1));
        return next < PLIM_STEPS_MAX ? next : PLIM_STEPS_MAX;
    }
    PLIM_ASSERT(low < high);
    if (high - low == 1) {
        return bisect->is_high_sure ? 0 : high;
    }
    if (bisect->hint >= high) {
        return high - 1; /* what failed needed no less than what is known to do */
    }
    const uint64_t gap = high - low;
    const uint64_t part = bisect->hint > low && bisect->reach < REACH_EARLY ? gap / 4 : gap / 2;
    return plim_max(plim_max(bisect->hint, low + part), low + 1);
}

void plim_bisect_survived(plim_bisect *bisect, uint64_t steps, uint64_t used, bool is_sure)
{
    const uint64_t enough = plim_max(used < steps ? used : steps, bisect->floor);
    if (steps < PLIM_STEPS_MAX) {
        bisect->tried = steps < bisect->tried ? steps : bisect->tried;
    }
    if (enough < bisect->high) {
        bisect->high = enough;
        bisect->is_high_sure = false;
    }
    if (enough == bisect->high) {
        bisect->is_high_sure |= is_sure || enough == steps;
    }
    if (steps < bisect->hint) {
        bisect->hint = 0; /* it did with less: the failure that wanted more was another's */
    }
    if (bisect->low >= bisect->high) {
        bisect->low = bisect->floor - 1; /* it fails with more: look below what survives */
        bisect->hint = 0;
    }
}

void plim_bisect_failed(plim_bisect *bisect, uint64_t steps, uint64_t needed, double reach)
{
    if (steps >= bisect->high) {
        if (bisect->is_high_sure) {
            return; /* survives with less: that is what counts */
        }
        bisect->high = bisect->tried; /* the conclusion was wrong */
        bisect->is_high_sure = bisect->tried != PLIM_STEPS_UNKNOWN;
    }
    if (steps > bisect->low || bisect->growth == 0) {
        bisect->low = plim_max(bisect->low, needed < PLIM_STEPS_MAX ? steps : PLIM_STEPS_MAX);
        bisect->hint = needed > steps ? needed : 0;
        bisect->reach = reach;
        const uint64_t growth = bisect->growth * 2;
        bisect->growth = plim_max(growth, (steps >> GROWTH_FIRST_SHIFT) + 1);
    }
}
