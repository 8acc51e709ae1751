/*
 * leaks.c - what stays, step after step.
 *
 *   levels    the floors of each group of allocations, step by step
 *   growth    which of them rise without end
 *   clusters  which groups are one leak
 *   figures   how much it grows, how often, from where, until when
 *   roots     what holds it (../roots)
 *
 * docs/design/diagnose.md says what each rule is for.
 */
#include "diagnose/leaks/figures.h"

#include "base/error.h"

/* Groups that rise once or twice are judged together from so many rises on. */
#define REST_RISES_MIN 5
/* Steps from which on something can be said. */
#define STEPS_MIN 4

/* What the search for growers keeps. */
typedef struct grower_search {
    const plim_levels *levels;
    plim_growers *growers;
    plim_rises rises; /* of the group at hand */
    plim_rises rest;  /* of groups that rise too rarely */
    PLIM_VEC(uint32_t) rest_groups;
} grower_search;

static bool add_grower(grower_search *search, uint32_t group, const plim_growth *growth,
                       bool by_count)
{
    const plim_grower grower = { .group = group,
                                 .first_step = growth->first_step,
                                 .end_step = growth->end_step,
                                 .by_count = by_count,
                                 .is_saw = growth->is_saw };
    return PLIM_VEC_PUSH(search->levels->one->mem, search->growers, grower);
}

static bool judge_group(grower_search *search, uint32_t group)
{
    const plim_levels *const levels = search->levels;
    plim_growth by_count;
    plim_growth by_bytes;
    if (!plim_rises_of(levels, group, true, &search->rises, &by_count) ||
        !plim_growth_judge(levels->one->mem, &search->rises, &by_count)) {
        return false;
    }
    if (by_count.kind == PLIM_GROWTH_ENDLESS) {
        return add_grower(search, group, &by_count, true);
    }
    if (!plim_rises_of(levels, group, false, &search->rises, &by_bytes) ||
        !plim_growth_judge(levels->one->mem, &search->rises, &by_bytes)) {
        return false;
    }
    if (by_bytes.kind == PLIM_GROWTH_ENDLESS) {
        return add_grower(search, group, &by_bytes, false);
    }
    if (by_count.kind != PLIM_GROWTH_FEW || by_bytes.kind != PLIM_GROWTH_FEW) {
        return true;
    }
    for (size_t i = 0; i < search->rises.count; i++) {
        if (!PLIM_VEC_PUSH(levels->one->mem, &search->rest, search->rises.items[i])) {
            return false;
        }
    }
    return PLIM_VEC_PUSH(levels->one->mem, &search->rest_groups, group);
}

/* Sizes that never come again, stacks that differ each time: alone they say nothing. */
static bool judge_rest(grower_search *search)
{
    plim_growth growth = { .end_step = (uint32_t)search->levels->axis.count - 1 };
    plim_rises_sort(&search->rest);
    if (search->rest.count < REST_RISES_MIN) {
        return true;
    }
    if (!plim_growth_judge(search->levels->one->mem, &search->rest, &growth)) {
        return false;
    }
    for (size_t i = 0; growth.kind == PLIM_GROWTH_ENDLESS && i < search->rest_groups.count; i++) {
        if (!add_grower(search, search->rest_groups.items[i], &growth, true)) {
            return false;
        }
        search->growers->items[search->growers->count - 1].is_rest = true;
    }
    return true;
}

static plim_status find_growers(const plim_levels *levels, plim_growers *growers, plim_error *err)
{
    grower_search search = { .levels = levels, .growers = growers };
    bool is_done = true;
    for (size_t i = 0; is_done && i < levels->groups.count; i++) {
        const plim_level *const group = &levels->groups.items[i];
        is_done = group->last_floor == PLIM_NONE || judge_group(&search, (uint32_t)i);
    }
    is_done = is_done && judge_rest(&search);
    PLIM_VEC_FREE(levels->one->mem, &search.rises);
    PLIM_VEC_FREE(levels->one->mem, &search.rest);
    PLIM_VEC_FREE(levels->one->mem, &search.rest_groups);
    return is_done ? PLIM_OK : plim_fail_memory(err, "finding what grows");
}

static plim_status find_on_axis(plim_case *one, plim_axis axis, plim_error *err)
{
    plim_levels levels = { 0 };
    plim_growers growers = { 0 };
    plim_clusters clusters = { 0 };
    plim_status status = plim_levels_init(&levels, one, axis, err);
    if (status == PLIM_OK) {
        status = find_growers(&levels, &growers, err);
    }
    if (status == PLIM_OK && growers.count > 0) {
        status = plim_clusters_init(&clusters, &levels, &growers, err);
    }
    for (size_t i = 0; status == PLIM_OK && i < clusters.list.count; i++) {
        status = plim_report_leak(one, &levels, &clusters, &growers, i, err);
    }
    for (size_t i = 0; i < growers.count; i++) {
        PLIM_VEC_FREE(one->mem, &growers.items[i].rises);
    }
    plim_clusters_deinit(&clusters);
    PLIM_VEC_FREE(one->mem, &growers);
    plim_levels_deinit(&levels);
    return status;
}

plim_status plim_find_leaks(plim_case *one, plim_error *err)
{
    if (one->steps.count < STEPS_MIN || one->steps.count >= UINT32_MAX) {
        return PLIM_OK;
    }
    const plim_axis axis = { .first_events = one->steps.first_events, .count = one->steps.count };
    return find_on_axis(one, axis, err);
}
