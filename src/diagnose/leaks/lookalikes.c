/*
 * lookalikes.c - see lookalikes.h. The thresholds are argued in docs/design/diagnose.md.
 */
#include "diagnose/leaks/lookalikes.h"

#include "base/error.h"

/* A stack whose requests became larger by this much follows something that grows. */
#define LARGER_TIMES 1.1
/* If so many of all stacks do, it is the input. */
#define FOLLOWING_SHARE 0.5

/* Steps between two rises that show what a step makes without one. */
#define PLATEAU_MIN 1
/* More requests in the last third of the steps than in the first. */
#define MORE_TIMES 1.1
/* A step requests so many times what is left of it. */
#define PASSING_TIMES 2.5
/* Rises of which so many bring requests are a model that grows. */
#define BRINGING_SHARE 0.6

/* Requests of one group in the first and in the last third of the steps. */
typedef struct third_sums {
    double bytes[2];
    uint64_t count[2];
} third_sums;

/* --- inputs that grow --- */

static bool is_of_optimizer(plim_stack_kind kind)
{
    return kind == PLIM_STACK_OPTIMIZER_STEP || kind == PLIM_STACK_OPTIMIZER_STATE ||
           kind == PLIM_STACK_OPTIMIZER_SETUP;
}

static void add_requests(const plim_levels *levels, third_sums *sums)
{
    const plim_case *const one = levels->one;
    const plim_events *const events = &one->device->events;
    const size_t third = levels->axis.count / 3;
    const size_t starts[2] = { 0, levels->axis.count - third };
    for (size_t part = 0; part < 2; part++) {
        const uint64_t first = levels->axis.first_events[starts[part]];
        const uint64_t end = levels->axis.first_events[starts[part] + third];
        for (uint64_t i = first; i < end && i < levels->end_event; i++) {
            if (events->action[i] != PLIM_ALLOC ||
                is_of_optimizer(plim_stack_kind_of(&one->passes.stacks, events->stack[i]))) {
                continue;
            }
            third_sums *const sum = &sums[plim_levels_group(levels, i)];
            sum->bytes[part] += (double)events->bytes[i];
            sum->count[part]++;
        }
    }
}

/* The share of stacks whose requests became larger. */
static double following_share(const plim_levels *levels, const third_sums *sums)
{
    size_t larger = 0;
    size_t all = 0;
    for (size_t i = 0; i < levels->groups.count; i++) {
        const bool has_stack = levels->groups.items[i].has_stack;
        if (has_stack && sums[i].count[0] > 0 && sums[i].count[1] > 0) {
            const double before = sums[i].bytes[0] / (double)sums[i].count[0];
            const double after = sums[i].bytes[1] / (double)sums[i].count[1];
            larger += after > LARGER_TIMES * before ? 1u : 0u;
            all++;
        }
    }
    return all > 0 ? (double)larger / (double)all : 0;
}

/* Rare sizes are one group. What is left of a step in it follows the step's own size where the step
 * requests far more of such sizes; a cache that is made anew, larger, requests just itself. */
static bool is_rest_of_step(const plim_levels *levels, const third_sums *sum,
                            const plim_grower *grower)
{
    const plim_level *const group = &levels->groups.items[grower->group];
    const size_t third = levels->axis.count / 3;
    const double per_step = sum->bytes[1] / (double)third;
    return group->is_rare && per_step > PASSING_TIMES * (double)group->bytes;
}

static bool review_inputs(const plim_levels *levels, plim_growers *growers)
{
    third_sums *const sums =
        plim_mem_alloc_zeroed(levels->one->mem, levels->groups.count, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    add_requests(levels, sums);
    const bool inputs_grow = following_share(levels, sums) >= FOLLOWING_SHARE;
    for (size_t i = 0; i < growers->count; i++) {
        plim_grower *const grower = &growers->items[i];
        grower->is_innocent =
            grower->is_innocent ||
            (!grower->by_count &&
             (inputs_grow || is_rest_of_step(levels, &sums[grower->group], grower)));
    }
    plim_mem_free(levels->one->mem, sums, levels->groups.count, sizeof *sums);
    return true;
}

/* --- one request --- */

/* Of what a group has live after the last request the newest says whether its request ended: it is
 * freed later. The recording then holds no second one. A failure ends a request, too. */
static void mark_ended(const plim_levels *levels, plim_growers *growers, const uint32_t *grower_of)
{
    const plim_case *const one = levels->one;
    const uint8_t *const actions = one->device->events.action;
    for (uint64_t i = levels->axis.first_events[0]; i < levels->end_event; i++) {
        if (actions[i] != PLIM_ALLOC || !plim_levels_stays(levels, i)) {
            continue;
        }
        const uint32_t grower = grower_of[plim_levels_group(levels, i)];
        if (grower != 0) {
            growers->items[grower - 1].is_innocent =
                one->view.timeline.start.lifetimes.partner[i] != PLIM_NONE ||
                one->facts->oom_count > 0;
        }
    }
}

static bool review_requests(const plim_levels *levels, plim_growers *growers)
{
    uint32_t *const grower_of =
        plim_mem_alloc_zeroed(levels->one->mem, levels->groups.count, sizeof *grower_of);
    if (grower_of == NULL) {
        return false;
    }
    for (size_t i = 0; i < growers->count; i++) {
        if (!growers->items[i].by_count) {
            grower_of[growers->items[i].group] = (uint32_t)i + 1;
        }
    }
    mark_ended(levels, growers, grower_of);
    plim_mem_free(levels->one->mem, grower_of, levels->groups.count, sizeof *grower_of);
    return true;
}

static bool review_turnover(const plim_levels *levels, plim_growers *growers)
{
    bool has_turnover = false;
    for (size_t i = 0; i < growers->count; i++) {
        has_turnover = has_turnover || !growers->items[i].by_count;
    }
    const plim_passes *const passes = &levels->one->passes;
    const bool is_trained = passes->has_backward || passes->has_optimizer;
    return !has_turnover ||
           ((is_trained || review_requests(levels, growers)) && review_inputs(levels, growers));
}

/* --- a model that grows --- */

static bool is_of_model(plim_category category)
{
    return category == PLIM_CATEGORY_PARAMETERS || category == PLIM_CATEGORY_GRADIENTS ||
           category == PLIM_CATEGORY_OPTIMIZER_STATE;
}

/* Of each group, how many more of its allocations that stay are the model's than not. */
static void weigh_categories(const plim_levels *levels, int64_t *balance)
{
    const plim_case *const one = levels->one;
    for (uint64_t i = levels->axis.first_events[0]; i < levels->end_event; i++) {
        if (one->device->events.action[i] == PLIM_ALLOC && plim_levels_stays(levels, i)) {
            const uint64_t id = plim_timeline_recorded_id(&one->view.timeline, i);
            const plim_category category = (plim_category)one->view.categories.of[id];
            balance[plim_levels_group(levels, i)] += is_of_model(category) ? 1 : -1;
        }
    }
}

/* The requests of each step. */
static void count_requests(const plim_levels *levels, uint64_t *requests)
{
    size_t step = 0;
    for (uint64_t i = levels->axis.first_events[0]; i < levels->end_event; i++) {
        if (levels->one->device->events.action[i] == PLIM_ALLOC) {
            step = plim_axis_step(&levels->axis, step, i);
            requests[step]++;
        }
    }
}

/* True if the last step before each rise makes more requests than the one before the rise before.
 */
static bool brings_requests(const plim_rises *rises, const uint64_t *requests)
{
    size_t more = 0;
    size_t all = 0;
    for (size_t i = 1; i < rises->count; i++) {
        const uint32_t before = rises->items[i - 1].step;
        const uint32_t now = rises->items[i].step;
        if (before > 0 && now - before >= PLATEAU_MIN) {
            more += requests[now - 1] > requests[before - 1] ? 1u : 0u;
            all++;
        }
    }
    return all >= 2 && (double)more >= BRINGING_SHARE * (double)all;
}

/* True if the steps of the last third make more requests than those of the first. */
static bool do_requests_grow(const plim_levels *levels, const uint64_t *requests)
{
    const size_t third = levels->axis.count / 3;
    double sums[2] = { 0 };
    for (size_t i = 0; i < third; i++) {
        sums[0] += (double)requests[i];
        sums[1] += (double)requests[levels->axis.count - 1 - i];
    }
    return sums[1] > MORE_TIMES * sums[0];
}

static bool review_model(const plim_levels *levels, plim_growers *growers)
{
    const plim_mem *const mem = levels->one->mem;
    int64_t *const balance = plim_mem_alloc_zeroed(mem, levels->groups.count, sizeof *balance);
    uint64_t *const requests = plim_mem_alloc_zeroed(mem, levels->axis.count, sizeof *requests);
    const bool is_done = balance != NULL && requests != NULL;
    if (is_done) {
        weigh_categories(levels, balance);
        count_requests(levels, requests);
    }
    const bool do_grow = is_done && do_requests_grow(levels, requests);
    for (size_t i = 0; is_done && i < growers->count; i++) {
        plim_grower *const grower = &growers->items[i];
        const bool is_unknown = !levels->groups.items[grower->group].has_stack;
        grower->is_innocent =
            (is_unknown && do_grow) || grower->is_innocent ||
            ((!grower->by_count || !levels->one->has_stacks || balance[grower->group] > 0) &&
             brings_requests(&grower->rises, requests));
    }
    plim_mem_free(mem, balance, levels->groups.count, sizeof *balance);
    plim_mem_free(mem, requests, levels->axis.count, sizeof *requests);
    return is_done;
}

/* --- a loop that is over --- */

/*
 * True if the program failed in code that it had not come to before: the loop that made what stays
 * was over. Where the program names its steps, a leak may well fail in another part of one.
 */
static bool is_loop_over(const plim_levels *levels)
{
    const plim_case *const one = levels->one;
    const plim_events *const events = &one->device->events;
    if (one->facts->oom_count == 0 || !one->has_stacks ||
        (!levels->axis.is_turns && one->view.steps.source != PLIM_STEPS_PERIOD)) {
        return false;
    }
    const uint32_t stack = one->facts->ooms[one->facts->oom_count - 1].stack;
    const uint64_t last_run = levels->axis.first_events[levels->axis.count - 1];
    bool is_new = stack != PLIM_NONE;
    for (uint64_t i = 0; is_new && i < last_run && i < levels->end_event; i++) {
        is_new = events->action[i] != PLIM_ALLOC || events->stack[i] != stack;
    }
    return is_new;
}

plim_status plim_review_growers(const plim_levels *levels, plim_growers *growers, plim_error *err)
{
    if (growers->count == 0) {
        return PLIM_OK;
    }
    if (!review_turnover(levels, growers) || !review_model(levels, growers)) {
        return plim_fail_memory(err, "comparing requests");
    }
    const bool is_over = is_loop_over(levels);
    for (size_t i = 0; i < growers->count; i++) {
        growers->items[i].is_innocent = growers->items[i].is_innocent || is_over;
    }
    return PLIM_OK;
}
