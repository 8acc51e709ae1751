/*
 * clusters.c - see clusters.h. The thresholds are argued in docs/design/diagnose.md.
 */
#include "diagnose/leaks/clusters.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

/* Groups that share so much of their steps grow together. */
#define SHARED_MIN 0.5
/* A leak that is compared with later groups; those beyond are joined to the most alike. */
#define CLUSTERS_MAX 16
/* Births in the step of the last rise are part of it if they are not larger by more than this. */
#define TRIM_TIMES 1.1
/* Births and floors add up to the same, but for this share; and births are in this share of the
 * steps in which floors rise at least. */
#define AGREE_SHARE 0.15
#define AGREE_STEPS 0.7
/* Of so many births in the first step none is compared with later ones. */
#define TRIMMED_MAX 256

/* --- what stays --- */

/* One look at each alloc of the axis that stays and belongs to a grower. */
typedef struct kept_walk {
    const plim_levels *levels;
    uint64_t event;
    size_t step;
    const uint32_t *grower_of; /* by group: index + 1 */
} kept_walk;

/* The next one, from walk->event on; PLIM_NONE: no more. */
static uint32_t next_kept(kept_walk *walk)
{
    const plim_levels *const levels = walk->levels;
    const uint8_t *const actions = levels->one->device->events.action;
    for (; walk->event < levels->end_event; walk->event++) {
        const uint64_t event = walk->event;
        if (actions[event] != PLIM_ALLOC || !plim_levels_stays(levels, event)) {
            continue;
        }
        const uint32_t grower = walk->grower_of[plim_levels_group(levels, event)];
        if (grower != 0) {
            walk->step = plim_axis_step(&levels->axis, walk->step, event);
            walk->event++;
            return grower - 1;
        }
    }
    return PLIM_NONE;
}

/* Only what is born in the run of its group, and not after its last rise, or in the last step: it
 * may still be in use. */
static bool is_of_run(const plim_levels *levels, const plim_grower *grower, size_t step)
{
    const size_t count = grower->rises.count;
    const size_t last = count > 0 ? grower->rises.items[count - 1].step : levels->axis.count - 2;
    return step + 1 >= grower->first_step && step <= last && grower->by_count;
}

static kept_walk begin_walk(const plim_levels *levels, const uint32_t *grower_of)
{
    return (kept_walk){ .levels = levels,
                        .event = levels->axis.first_events[0],
                        .grower_of = grower_of };
}

/* Two walks: one counts, one fills in. */
static bool collect_kept(plim_clusters *clusters, const plim_levels *levels, plim_growers *growers,
                         const uint32_t *grower_of)
{
    kept_walk walk = begin_walk(levels, grower_of);
    for (uint32_t at = next_kept(&walk); at != PLIM_NONE; at = next_kept(&walk)) {
        plim_grower *const grower = &growers->items[at];
        if (is_of_run(levels, grower, walk.step)) {
            grower->kept_count++;
            clusters->kept_count++;
        }
    }
    if (clusters->kept_count == 0) {
        return true;
    }
    clusters->kept = plim_mem_alloc(levels->one->mem, clusters->kept_count, sizeof(plim_kept));
    if (clusters->kept == NULL) {
        return false;
    }
    size_t first = 0;
    for (size_t i = 0; i < growers->count; i++) {
        growers->items[i].kept_first = first;
        first += growers->items[i].kept_count;
        growers->items[i].kept_count = 0;
    }
    walk = begin_walk(levels, grower_of);
    for (uint32_t at = next_kept(&walk); at != PLIM_NONE; at = next_kept(&walk)) {
        plim_grower *const grower = &growers->items[at];
        if (is_of_run(levels, grower, walk.step)) {
            clusters->kept[grower->kept_first + grower->kept_count++] =
                (plim_kept){ .event = (uint32_t)(walk.event - 1), .step = (uint32_t)walk.step };
        }
    }
    return true;
}

static bool find_kept(plim_clusters *clusters, const plim_levels *levels, plim_growers *growers)
{
    uint32_t *const grower_of =
        plim_mem_alloc_zeroed(levels->one->mem, levels->groups.count, sizeof *grower_of);
    if (grower_of == NULL) {
        return false;
    }
    for (size_t i = 0; i < growers->count; i++) {
        grower_of[growers->items[i].group] = (uint32_t)i + 1;
    }
    const bool is_done = collect_kept(clusters, levels, growers, grower_of);
    plim_mem_free(levels->one->mem, grower_of, levels->groups.count, sizeof *grower_of);
    return is_done;
}

/* --- steps of birth --- */

/* Finds what is born in each step and stays. */
static bool find_births(const plim_clusters *clusters, const plim_levels *levels,
                        const plim_grower *grower, plim_rises *births)
{
    const uint64_t *const bytes = levels->one->device->events.bytes;
    for (size_t i = 0; i < grower->kept_count; i++) {
        const plim_kept *const kept = &clusters->kept[grower->kept_first + i];
        const plim_rise rise = { .step = kept->step, .amount = bytes[kept->event] };
        if (!PLIM_VEC_PUSH(levels->one->mem, births, rise)) {
            return false;
        }
    }
    plim_rises_join(births);
    return true;
}

static double sum_of(const plim_rises *rises)
{
    double sum = 0;
    for (size_t i = 1; i < rises->count; i++) {
        sum += (double)rises->items[i].amount;
    }
    return sum;
}

/*
 * The rises of a grower: births of what stays, if they add up to what the floors show, and else the
 * floors: in a queue the oldest go, and what stays was born late. Births name their steps exactly,
 * floors know what else of a group is in use.
 */
static bool find_rises(const plim_clusters *clusters, const plim_levels *levels,
                       plim_grower *grower)
{
    plim_rises births = { 0 };
    if (!find_births(clusters, levels, grower, &births)) {
        PLIM_VEC_FREE(levels->one->mem, &births);
        return false;
    }
    const double by_births = sum_of(&births);
    const double by_floors = sum_of(&grower->rises);
    const bool agree = fabs(by_births - by_floors) <= AGREE_SHARE * by_floors &&
                       (double)births.count >= AGREE_STEPS * (double)grower->rises.count;
    if (grower->rises.count == 0 || (births.count > 0 && agree)) {
        const plim_rises unused = grower->rises;
        grower->rises = births;
        births = unused;
    }
    PLIM_VEC_FREE(levels->one->mem, &births);
    return true;
}

/* True if an allocation of this size is among `count` kept ones of one step. */
static bool has_size(const uint64_t *bytes, const plim_kept *kept, size_t count, uint64_t size)
{
    for (size_t i = 0; i < count && kept[i].step == kept[0].step; i++) {
        if (bytes[kept[i].event] == size) {
            return true;
        }
    }
    return false;
}

/* Leaves out births of the first step whose size is not among those of the second: a library's
 * workspace is made in the first call of a line. */
static void trim_first(const plim_clusters *clusters, const plim_levels *levels,
                       plim_grower *grower)
{
    if (grower->kept_count == 0) {
        return;
    }
    const uint64_t *const bytes = levels->one->device->events.bytes;
    plim_kept *const kept = &clusters->kept[grower->kept_first];
    size_t first = 0;
    while (first < grower->kept_count && kept[first].step == kept[0].step) {
        first++;
    }
    if (first == grower->kept_count || first > TRIMMED_MAX) {
        return;
    }
    size_t left = first;
    for (size_t i = first; i-- > 0;) {
        if (has_size(bytes, kept + first, grower->kept_count - first, bytes[kept[i].event])) {
            kept[--left] = kept[i];
        }
    }
    if (left < first) {
        grower->kept_first += left;
        grower->kept_count -= left;
    }
}

/* Leaves out what was born in the step of the last rise where it is more than that rise. */
static void trim_kept(const plim_clusters *clusters, const plim_levels *levels, plim_grower *grower)
{
    const plim_rise *const last = &grower->rises.items[grower->rises.count - 1];
    size_t count = grower->kept_count;
    double bytes = 0;
    while (count > 0 && clusters->kept[grower->kept_first + count - 1].step == last->step) {
        const uint32_t event = clusters->kept[grower->kept_first + --count].event;
        bytes += (double)levels->one->device->events.bytes[event];
    }
    if (bytes > (double)last->amount * TRIM_TIMES) {
        grower->kept_count = count;
    }
}

/* --- clusters --- */

/* The share of steps that two groups have in common, one step more or less. */
static double shared(const plim_rises *left, const plim_rises *right)
{
    size_t i = 0;
    size_t j = 0;
    size_t count = 0;
    while (i < left->count && j < right->count) {
        const uint32_t a = left->items[i].step;
        const uint32_t b = right->items[j].step;
        if (a + 1 < b) {
            i++;
        } else if (b + 1 < a) {
            j++;
        } else {
            count++;
            i++;
            j++;
        }
    }
    const size_t most = left->count > right->count ? left->count : right->count;
    return most > 0 ? (double)count / (double)most : 0;
}

/* The sum of both, in `ret`: a new list. */
static bool add_rises(const plim_mem *mem, const plim_rises *left, const plim_rises *right,
                      plim_rises *ret)
{
    size_t i = 0;
    size_t j = 0;
    while (i < left->count || j < right->count) {
        const bool is_left =
            j == right->count || (i < left->count && left->items[i].step <= right->items[j].step);
        const plim_rise rise = is_left ? left->items[i++] : right->items[j++];
        if (!PLIM_VEC_PUSH(mem, ret, rise)) {
            return false;
        }
    }
    plim_rises_join(ret);
    return true;
}

/* The cluster of the groups that rise too rarely to be compared; list.count: not there yet. */
static size_t find_rest(const plim_clusters *clusters)
{
    size_t at = 0;
    while (at < clusters->list.count && !clusters->list.items[at].is_rest) {
        at++;
    }
    return at;
}

/* The cluster that a grower belongs to; list.count: a new one. */
static size_t find_cluster(const plim_clusters *clusters, plim_grower *grower)
{
    double most = 0;
    size_t best = clusters->list.count;
    for (size_t i = 0; i < clusters->list.count && !grower->is_rest; i++) {
        const plim_cluster *const cluster = &clusters->list.items[i];
        const double share = cluster->is_rest ? 0 : shared(&cluster->rises, &grower->rises);
        if (share >= SHARED_MIN && share > most) {
            most = share;
            best = i;
        }
    }
    grower->is_rest = grower->is_rest || (best == clusters->list.count && best >= CLUSTERS_MAX);
    return grower->is_rest ? find_rest(clusters) : best;
}

static bool append_rises(const plim_mem *mem, const plim_rises *from, plim_rises *to)
{
    for (size_t i = 0; i < from->count; i++) {
        if (!PLIM_VEC_PUSH(mem, to, from->items[i])) {
            return false;
        }
    }
    return true;
}

static bool add_to_cluster(plim_clusters *clusters, plim_grower *grower)
{
    const size_t at = find_cluster(clusters, grower);
    const plim_cluster fresh = { .is_rest = grower->is_rest };
    if (at == clusters->list.count && !PLIM_VEC_PUSH(clusters->mem, &clusters->list, fresh)) {
        return false;
    }
    plim_cluster *const cluster = &clusters->list.items[at];
    cluster->grower_count++;
    cluster->by_count = cluster->by_count || grower->by_count;
    cluster->is_saw = cluster->is_saw || grower->is_saw;
    grower->cluster = (uint32_t)at;
    if (grower->is_rest) {
        return append_rises(clusters->mem, &grower->rises, &cluster->rises);
    }
    plim_rises sum = { 0 };
    const bool is_done = add_rises(clusters->mem, &cluster->rises, &grower->rises, &sum);
    PLIM_VEC_FREE(clusters->mem, &cluster->rises);
    cluster->rises = sum;
    return is_done;
}

/* The largest first: they lead clusters. */
static int compare_growers(const void *left, const void *right)
{
    const plim_grower *const a = left;
    const plim_grower *const b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return a->group < b->group ? -1 : a->group > b->group;
}

plim_status plim_clusters_init(plim_clusters *clusters, const plim_levels *levels,
                               plim_growers *growers, plim_error *err)
{
    *clusters = (plim_clusters){ .mem = levels->one->mem };
    bool is_done = find_kept(clusters, levels, growers);
    for (size_t i = 0; is_done && i < growers->count; i++) {
        plim_grower *const grower = &growers->items[i];
        if (grower->rises.count > 0) {
            trim_kept(clusters, levels, grower);
            trim_first(clusters, levels, grower);
        }
        is_done = find_rises(clusters, levels, grower);
        for (size_t j = 0; j < grower->rises.count; j++) {
            grower->bytes += grower->rises.items[j].amount;
        }
    }
    if (is_done && growers->count > 1) {
        qsort(growers->items, growers->count, sizeof *growers->items, compare_growers);
    }
    for (size_t i = 0; is_done && i < growers->count; i++) {
        is_done = growers->items[i].is_innocent || add_to_cluster(clusters, &growers->items[i]);
    }
    const size_t rest = find_rest(clusters);
    if (is_done && rest < clusters->list.count) {
        plim_rises_sort(&clusters->list.items[rest].rises);
    }
    for (size_t i = 0; is_done && i < clusters->list.count; i++) {
        is_done = plim_rises_round(levels->one->mem, &clusters->list.items[i].rises);
    }
    return is_done ? PLIM_OK : plim_fail_memory(err, "grouping what grows together");
}

void plim_clusters_deinit(plim_clusters *clusters)
{
    if (clusters->mem == NULL) {
        return;
    }
    plim_mem_free(clusters->mem, clusters->kept, clusters->kept_count, sizeof *clusters->kept);
    for (size_t i = 0; i < clusters->list.count; i++) {
        PLIM_VEC_FREE(clusters->mem, &clusters->list.items[i].rises);
    }
    PLIM_VEC_FREE(clusters->mem, &clusters->list);
    *clusters = (plim_clusters){ 0 };
}
