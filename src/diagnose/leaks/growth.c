/*
 * growth.c - see growth.h. The thresholds are argued in docs/design/diagnose.md.
 */
#include "diagnose/leaks/growth.h"

#include <stdlib.h>

/* Two whole periods have three rises. */
#define RISES_MIN 3
/* The last third grows at this share of the whole's rate at least, or growth settles: the share by
 * which plim_trend_of() parts ramps from leaks. */
#define SLOWING_SHARE 0.4
/* A gap of so many median ones begins another run. */
#define RUN_GAPS 6
/* A rise counts for so many times the median one at most, so that one large one is not a rate. */
#define CLIPPED_TIMES 4
/* A rise below this share of the median is a part of the next one that shows early. */
#define EARLY_SHARE 0.1
/* Drops that undo this share of all climbs but the largest, which may be a workspace that is made
 * once, make a sawtooth; as in trend/sawtooth.c. */
#define SAW_SHARE 0.25
/* Drops of this share of the largest one end a tooth. */
#define TOOTH_SHARE 0.5

/* --- rises --- */

static uint64_t amount_of(const plim_floor *floor, bool by_count)
{
    return by_count ? floor->count : floor->bytes;
}

/* Climbs and drops of a group's floors. */
typedef struct saw_sums {
    double climbs;
    double drops;
    double largest_climb;
    uint64_t largest_drop;
} saw_sums;

static saw_sums add_up(const plim_levels *levels, uint32_t group, bool by_count)
{
    saw_sums sums = { 0 };
    uint32_t at = levels->groups.items[group].last_floor;
    while (at != PLIM_NONE) {
        const plim_floor *const floor = &levels->floors.items[at];
        const uint64_t now = amount_of(floor, by_count);
        const uint64_t before = floor->before != PLIM_NONE
                                    ? amount_of(&levels->floors.items[floor->before], by_count)
                                    : 0;
        if (before > now) {
            sums.drops += (double)(before - now);
            sums.largest_drop = before - now > sums.largest_drop ? before - now : sums.largest_drop;
        } else {
            const double climb = (double)(now - before);
            sums.climbs += climb;
            sums.largest_climb = climb > sums.largest_climb ? climb : sums.largest_climb;
        }
        at = floor->before;
    }
    return sums;
}

/* The step after the last drop that ends a tooth. */
static uint32_t last_valley(const plim_levels *levels, uint32_t group, bool by_count,
                            uint64_t largest)
{
    uint32_t at = levels->groups.items[group].last_floor;
    while (at != PLIM_NONE) {
        const plim_floor *const floor = &levels->floors.items[at];
        const uint64_t now = amount_of(floor, by_count);
        const uint64_t before = floor->before != PLIM_NONE
                                    ? amount_of(&levels->floors.items[floor->before], by_count)
                                    : 0;
        if (before > now && (double)(before - now) >= TOOTH_SHARE * (double)largest) {
            return floor->step;
        }
        at = floor->before;
    }
    return 0;
}

bool plim_rises_of(const plim_levels *levels, uint32_t group, bool by_count, plim_rises *rises,
                   plim_growth *ret_growth)
{
    const plim_mem *const mem = levels->one->mem;
    const saw_sums sums = add_up(levels, group, by_count);
    *ret_growth = (plim_growth){ .end_step = (uint32_t)levels->axis.count - 1 };
    ret_growth->is_saw =
        sums.drops > 0 && sums.drops >= SAW_SHARE * (sums.climbs - sums.largest_climb);
    if (ret_growth->is_saw) {
        ret_growth->end_step = last_valley(levels, group, by_count, sums.largest_drop);
    }
    rises->count = 0;
    uint64_t least = UINT64_MAX;
    uint32_t at = levels->groups.items[group].last_floor;
    uint32_t step = 0; /* of the floor after this one */
    while (at != PLIM_NONE) {
        const plim_floor *const floor = &levels->floors.items[at];
        const uint64_t now = amount_of(floor, by_count);
        if (now < least) {
            const plim_rise rise = { .step = step, .amount = least - now };
            if (least != UINT64_MAX && step <= ret_growth->end_step &&
                !PLIM_VEC_PUSH(mem, rises, rise)) {
                return false;
            }
            least = now;
        }
        step = floor->step;
        at = floor->before;
    }
    const plim_rise first = { .step = step, .amount = least };
    if (least != UINT64_MAX && least > 0 && step > 0 && step <= ret_growth->end_step &&
        !PLIM_VEC_PUSH(mem, rises, first)) {
        return false;
    }
    for (size_t i = 0; i < rises->count / 2; i++) {
        const plim_rise kept = rises->items[i];
        rises->items[i] = rises->items[rises->count - 1 - i];
        rises->items[rises->count - 1 - i] = kept;
    }
    return true;
}

void plim_rises_join(plim_rises *rises)
{
    size_t count = 0;
    for (size_t i = 0; i < rises->count; i++) {
        if (count > 0 && rises->items[count - 1].step == rises->items[i].step) {
            rises->items[count - 1].amount += rises->items[i].amount;
        } else {
            rises->items[count++] = rises->items[i];
        }
    }
    rises->count = count;
}

static int compare_rises(const void *left, const void *right)
{
    const uint32_t a = ((const plim_rise *)left)->step;
    const uint32_t b = ((const plim_rise *)right)->step;
    return (a > b) - (a < b);
}

void plim_rises_sort(plim_rises *rises)
{
    if (rises->count > 1) {
        qsort(rises->items, rises->count, sizeof *rises->items, compare_rises);
    }
    plim_rises_join(rises);
}

/* --- the judgement --- */

static int compare_amounts(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The medians of gaps between rises and of their amounts; false: no memory. */
static bool find_medians(const plim_mem *mem, const plim_rises *rises, uint64_t *ret_gap,
                         uint64_t *ret_amount)
{
    const size_t count = rises->count;
    uint64_t *const values = plim_mem_alloc(mem, count, sizeof *values);
    if (values == NULL) {
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        values[i - 1] = rises->items[i].step - rises->items[i - 1].step;
    }
    qsort(values, count - 1, sizeof *values, compare_amounts);
    *ret_gap = values[(count - 1) / 2];
    for (size_t i = 0; i < count; i++) {
        values[i] = rises->items[i].amount;
    }
    qsort(values, count, sizeof *values, compare_amounts);
    *ret_amount = values[count / 2];
    plim_mem_free(mem, values, count, sizeof *values);
    return true;
}

bool plim_rises_round(const plim_mem *mem, plim_rises *rises)
{
    uint64_t gap = 0;
    uint64_t median = 0;
    if (rises->count < RISES_MIN) {
        return true;
    }
    if (!find_medians(mem, rises, &gap, &median)) {
        return false;
    }
    size_t count = 0;
    uint64_t early = 0;
    for (size_t i = 0; i < rises->count; i++) {
        const plim_rise rise = rises->items[i];
        if ((double)rise.amount < EARLY_SHARE * (double)median && i + 1 < rises->count &&
            rises->items[i + 1].step - rise.step < gap) {
            early += rise.amount;
            continue;
        }
        rises->items[count++] = (plim_rise){ .step = rise.step, .amount = rise.amount + early };
        early = 0;
    }
    rises->count = count;
    return true;
}

/* The rise with which the run of rises begins that goes on to the end: before it lies a gap that is
 * far longer than the others. */
static size_t find_run(const plim_rises *rises, uint64_t gap)
{
    size_t first = rises->count - 1;
    while (first > 0 &&
           rises->items[first].step - rises->items[first - 1].step <= RUN_GAPS * gap + 1) {
        first--;
    }
    return first;
}

static double clipped(const plim_rise *rise, uint64_t median)
{
    const double most = (double)median * CLIPPED_TIMES;
    return (double)rise->amount < most ? (double)rise->amount : most;
}

/* True if growth goes on: the last third of the run has its share. */
static bool goes_on(const plim_rises *rises, size_t first, uint32_t end_step, uint64_t median)
{
    /* The floor of step 1 is the first to show all that step 0 makes. */
    first += rises->items[first].step <= 1 && rises->count - first > RISES_MIN ? 1u : 0u;
    const double begin = (double)rises->items[first].step - 1;
    const double end = (double)end_step;
    const double third = end - (end - begin) / 3;
    double all = 0;
    double late = 0;
    for (size_t i = first; i < rises->count; i++) {
        const double amount = clipped(&rises->items[i], median);
        all += amount;
        late += (double)rises->items[i].step - 1 > third ? amount : 0; /* made by then */
    }
    return late * 3 >= SLOWING_SHARE * all;
}

/* The longest gap of the second half of a run. */
static uint32_t longest_gap(const plim_rises *rises, size_t first)
{
    uint32_t longest = 0;
    for (size_t i = first + (rises->count - first) / 2; i < rises->count; i++) {
        const uint32_t gap = i > first ? rises->items[i].step - rises->items[i - 1].step : 0;
        longest = gap > longest ? gap : longest;
    }
    return longest;
}

bool plim_growth_judge(const plim_mem *mem, const plim_rises *rises, plim_growth *growth)
{
    growth->kind = rises->count == 0 ? PLIM_GROWTH_NONE : PLIM_GROWTH_FEW;
    if (rises->count < RISES_MIN) {
        growth->first_step = rises->count > 0 ? rises->items[0].step : 0;
        return true;
    }
    uint64_t gap = 0;
    uint64_t median = 0;
    if (!find_medians(mem, rises, &gap, &median)) {
        return false;
    }
    const size_t first = find_run(rises, gap);
    const uint32_t longest = longest_gap(rises, first);
    const uint32_t tail = growth->end_step - rises->items[rises->count - 1].step;
    growth->gap = (double)gap;
    growth->first_step = rises->items[first].step;
    const bool stopped = tail > 2 * gap + 1 && tail > longest + longest / 2 + 1;
    if (stopped) {
        growth->kind = PLIM_GROWTH_SETTLED;
    } else if (rises->count - first < RISES_MIN) {
        growth->kind = PLIM_GROWTH_FEW;
    } else {
        growth->kind = goes_on(rises, first, growth->end_step, median) ? PLIM_GROWTH_ENDLESS
                                                                       : PLIM_GROWTH_SETTLED;
    }
    return true;
}
