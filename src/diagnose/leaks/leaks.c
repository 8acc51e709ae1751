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
#include "diagnose/leaks/lookalikes.h"

#include "base/error.h"

/* Groups that rise once or twice are judged together from so many rises on. */
#define REST_RISES_MIN 8
/* Rises in bytes are clear where they are at least this share of those in allocations: what else
 * the group has live does not vary. */
#define CLEAR_SHARE 0.8
/* Failures that are looked at. */
#define FAILING_MAX 64
/* Steps from which on something can be said. */
#define STEPS_MIN 4
/* Fewer repetitions of a sequence may be of many turns of a loop each, … */
#define PERIODS_MIN 10
/* … if there are so many turns for each. */
#define TURNS_A_STEP 2

/* The search for growers. */
typedef struct grower_search {
    const plim_levels *levels;
    plim_growers *growers;
    plim_rises rises; /* of the group at hand */
    plim_rises rest;  /* of groups that rise too rarely */
    PLIM_VEC(uint32_t) rest_groups;
    uint32_t failing[FAILING_MAX]; /* steps in which requests failed */
    size_t failing_count;
} grower_search;

/* Adds a grower. Its rises are those at hand, if they are bytes: they show in the floor of the step
 * after. */
static bool add_grower(grower_search *search, uint32_t group, const plim_growth *growth,
                       bool by_count, bool takes_rises)
{
    plim_grower grower = { .group = group,
                           .first_step = growth->first_step,
                           .by_count = by_count,
                           .is_saw = growth->is_saw };
    const plim_mem *const mem = search->levels->one->mem;
    for (size_t i = 0; takes_rises && i < search->rises.count; i++) {
        const plim_rise rise = { .step = search->rises.items[i].step - 1,
                                 .amount = search->rises.items[i].amount };
        if (rise.step + 1 >= growth->first_step && !PLIM_VEC_PUSH(mem, &grower.rises, rise)) {
            PLIM_VEC_FREE(mem, &grower.rises);
            return false;
        }
    }
    if (!PLIM_VEC_PUSH(mem, search->growers, grower)) {
        PLIM_VEC_FREE(mem, &grower.rises);
        return false;
    }
    return true;
}

/* The first step from `first` on in which a request failed; UINT32_MAX: none, or too many came
 * before. */
static uint32_t failing_step(const grower_search *search, uint32_t first)
{
    for (size_t i = 0; i < search->failing_count; i++) {
        if (search->failing[i] >= first) {
            return search->failing[i];
        }
    }
    return UINT32_MAX;
}

static void find_failing_steps(grower_search *search)
{
    const plim_case *const one = search->levels->one;
    size_t step = 0;
    for (size_t i = 0; i < one->facts->oom_count && search->failing_count < FAILING_MAX; i++) {
        step = plim_axis_step(&search->levels->axis, step, one->facts->ooms[i].event);
        search->failing[search->failing_count++] = (uint32_t)step;
    }
}

/* Judges the rises of a group. Growth that stopped because nothing more fitted has not settled. */
static bool measure(grower_search *search, uint32_t group, bool by_count, plim_growth *ret_growth)
{
    const plim_mem *const mem = search->levels->one->mem;
    if (!plim_rises_of(search->levels, group, by_count, &search->rises, ret_growth) ||
        !plim_growth_judge(mem, &search->rises, ret_growth)) {
        return false;
    }
    if (ret_growth->kind != PLIM_GROWTH_SETTLED) {
        return true;
    }
    const uint32_t last = search->rises.items[search->rises.count - 1].step;
    const uint32_t failing = failing_step(search, last);
    if (failing > last + 2 * ret_growth->gap + 1 || failing >= ret_growth->end_step) {
        return true;
    }
    ret_growth->end_step = failing;
    return plim_growth_judge(mem, &search->rises, ret_growth);
}

static bool judge_group(grower_search *search, uint32_t group)
{
    const plim_mem *const mem = search->levels->one->mem;
    plim_growth by_count;
    plim_growth by_bytes;
    if (!measure(search, group, true, &by_count)) {
        return false;
    }
    const size_t count = search->rises.count;
    if (!measure(search, group, false, &by_bytes)) {
        return false;
    }
    /* Valleys of sizes that go up and down rise by chance, where no more allocations stay. */
    if (by_bytes.is_saw && by_count.kind != PLIM_GROWTH_ENDLESS) {
        return true;
    }
    if (by_bytes.kind == PLIM_GROWTH_ENDLESS) {
        const bool is_clear = by_count.kind != PLIM_GROWTH_ENDLESS ||
                              (double)search->rises.count >= CLEAR_SHARE * (double)count;
        return add_grower(search, group, is_clear ? &by_bytes : &by_count,
                          by_count.kind == PLIM_GROWTH_ENDLESS, is_clear);
    }
    if (by_count.kind == PLIM_GROWTH_ENDLESS) {
        return add_grower(search, group, &by_count, true, false);
    }
    if (by_count.kind != PLIM_GROWTH_FEW || by_bytes.kind != PLIM_GROWTH_FEW ||
        !search->levels->groups.items[group].has_stack) {
        return true;
    }
    for (size_t i = 0; i < search->rises.count; i++) {
        if (!PLIM_VEC_PUSH(mem, &search->rest, search->rises.items[i])) {
            return false;
        }
    }
    return PLIM_VEC_PUSH(mem, &search->rest_groups, group);
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
    /* Groups that die are not among them: where a cache turns over, the rest is its last turn. */
    const bool is_whole = growth.first_step <= growth.end_step / 2;
    const bool grows = growth.kind == PLIM_GROWTH_ENDLESS && is_whole;
    for (size_t i = 0; grows && i < search->rest_groups.count; i++) {
        plim_growth few;
        if (!plim_rises_of(search->levels, search->rest_groups.items[i], false, &search->rises,
                           &few) ||
            !add_grower(search, search->rest_groups.items[i], &growth, true, true)) {
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
    find_failing_steps(&search);
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
    if (status == PLIM_OK) {
        status = plim_review_growers(&levels, &growers, err);
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

static plim_status find_on_steps(plim_case *one, plim_error *err)
{
    const plim_axis axis = { .first_events = one->view.steps.first_events,
                             .count = one->view.steps.count,
                             .facts = one->step_facts };
    return axis.count >= STEPS_MIN && axis.count < UINT32_MAX ? find_on_axis(one, axis, err)
                                                              : PLIM_OK;
}

static plim_status find_on_turns(plim_case *one, const plim_turns *turns, plim_error *err)
{
    const size_t count = turns->count - 1;
    plim_step_fact *const facts = plim_case_measure(one, turns->items, count);
    if (facts == NULL) {
        return plim_fail_memory(err, "finding the turns of a loop");
    }
    const plim_axis axis = {
        .first_events = turns->items, .count = count, .facts = facts, .is_turns = true
    };
    const plim_status status = find_on_axis(one, axis, err);
    plim_mem_free(one->mem, facts, count, sizeof *facts);
    return status;
}

/* True if steps may be missing, or be several turns of a loop each: too few to judge growth by. */
static bool may_be_turns(const plim_case *one)
{
    return one->view.steps.count < STEPS_MIN ||
           (one->view.steps.source == PLIM_STEPS_PERIOD && one->view.steps.count < PERIODS_MIN);
}

/* The turns of a loop take the place of steps where there are more of them. */
plim_status plim_find_leaks(plim_case *one, plim_error *err)
{
    plim_turns turns = { 0 };
    if (may_be_turns(one) && !plim_turns_find(one, &turns)) {
        PLIM_VEC_FREE(one->mem, &turns);
        return plim_fail_memory(err, "finding the turns of a loop");
    }
    const bool is_better = turns.count > STEPS_MIN && turns.count < UINT32_MAX &&
                           turns.count / TURNS_A_STEP > one->view.steps.count;
    const plim_status status =
        is_better ? find_on_turns(one, &turns, err) : find_on_steps(one, err);
    PLIM_VEC_FREE(one->mem, &turns);
    return status;
}
