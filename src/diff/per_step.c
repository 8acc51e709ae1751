/*
 * per_step.c - slopes of many series in one walk over events.
 *
 * A series changes at few steps: its level is added for all the steps since it changed last.
 */
#include "diff/per_step.h"

#include "base/error.h"

/* Of more steps the last so many count: products of three figures stay within 128 bits. */
#define STEPS_MAX ((uint64_t)1 << 20)

/* Bytes or allocations of a class at the ends of steps. x counts the steps of the window from 0. */
typedef struct level {
    plim_total now;
    plim_total sum;      /* of levels, over the steps so far */
    plim_total sum_x;    /* of x times level */
    uint64_t first_most; /* in the first third of the window */
    uint64_t last_least; /* in the last third */
} level;

typedef struct series {
    level bytes, count;
    plim_total of_category[PLIM_CATEGORY_COUNT]; /* of what was requested in the window */
    uint64_t next_x;                             /* the first step that is not added yet */
    uint32_t stack;
    bool is_seen;
} series;

typedef struct step_walk {
    plim_diff_sums *sums;
    const plim_diff_calls *calls;
    const plim_device_view *view;
    plim_diff_side_kind side;
    series *series;      /* by class */
    uint64_t first_step; /* the window: first_step + x for x in [0, count) */
    uint64_t count;
} step_walk;

static void window_of(const plim_steps *steps, uint64_t *ret_first, uint64_t *ret_count)
{
    const bool has_edges = steps->count >= 5;
    *ret_first = has_edges ? 1 : 0;
    *ret_count = steps->count - (has_edges ? 2 : 0);
    if (*ret_count > STEPS_MAX) {
        *ret_first += *ret_count - STEPS_MAX;
        *ret_count = STEPS_MAX;
    }
}

int64_t plim_diff_last_step_end(const plim_steps *steps)
{
    uint64_t first = 0;
    uint64_t count = 0;
    window_of(steps, &first, &count);
    return (int64_t)steps->first_events[first + count] - 1;
}

/* --- one level --- */

/* The level was the same at the ends of steps [from, end). */
static void extend(level *one, uint64_t from, uint64_t end, uint64_t count)
{
    const uint64_t now = plim_total_bytes(one->now);
    const uint64_t steps = end - from;
    one->sum += (plim_total)now * steps;
    one->sum_x += (plim_total)now * ((plim_total)(from + end - 1) * steps / 2);
    const uint64_t third = count / 3;
    if (from < third && now > one->first_most) {
        one->first_most = now;
    }
    if (end > count - third && now < one->last_least) {
        one->last_least = now;
    }
}

/* By least squares; 0 where it does not stay. Twelve times the variance of 0 … n - 1 is n² - 1. */
static uint64_t slope_of(const level *one, uint64_t count)
{
    if (one->last_least <= one->first_most) {
        return 0;
    }
    const plim_total up = 2 * one->sum_x;
    const plim_total down = (plim_total)(count - 1) * one->sum;
    if (up <= down) {
        return 0;
    }
    const plim_total below = (plim_total)count * ((plim_total)count * count - 1);
    return plim_total_bytes(((up - down) * 6 + below / 2) / below);
}

/* --- the walk --- */

static void catch_up(const step_walk *job, series *one, uint64_t x)
{
    if (one->next_x < x) {
        extend(&one->bytes, one->next_x, x, job->count);
        extend(&one->count, one->next_x, x, job->count);
        one->next_x = x;
    }
}

/* An allocation begins or ends in the step `x` of the window, or before it. */
static void change(const step_walk *job, const plim_allocation *allocation, uint64_t x,
                   bool is_born)
{
    uint32_t stack = PLIM_NONE;
    series *const one = &job->series[plim_diff_allocation_class(job->sums->classes, job->side,
                                                                job->calls, allocation, &stack)];
    if (!one->is_seen) {
        one->is_seen = true;
        one->stack = stack;
        one->bytes.last_least = UINT64_MAX;
        one->count.last_least = UINT64_MAX;
    }
    catch_up(job, one, x);
    if (is_born) {
        one->bytes.now += allocation->requested_bytes;
        one->count.now++;
        one->of_category[job->view->categories.of[allocation->id]] += allocation->requested_bytes;
    } else {
        one->bytes.now = plim_total_less(one->bytes.now, allocation->requested_bytes);
        one->count.now = plim_total_less(one->count.now, 1);
    }
}

static void change_at(const step_walk *job, uint64_t event, uint64_t x)
{
    const plim_timeline *const timeline = &job->view->timeline;
    const uint64_t id = plim_timeline_about(timeline, event);
    const uint64_t displaced = job->view->device->events.action[event] == PLIM_ALLOC
                                   ? plim_timeline_displaced(timeline, event)
                                   : PLIM_NO_ALLOCATION;
    const uint64_t ids[] = { displaced, id };
    for (size_t i = 0; i < 2; i++) {
        if (ids[i] == PLIM_NO_ALLOCATION) {
            continue;
        }
        const plim_allocation one = plim_timeline_allocation(timeline, ids[i]);
        if (one.born == (int64_t)event || one.freed == (int64_t)event) {
            change(job, &one, x, one.born == (int64_t)event);
        }
    }
}

static void walk_events(const step_walk *job)
{
    plim_live live = plim_timeline_live(&job->view->timeline, PLIM_AT_START, false);
    plim_allocation one;
    while (plim_live_next(&live, &one)) {
        change(job, &one, 0, true);
    }
    const uint64_t *const first_events = job->view->steps.first_events + job->first_step;
    uint64_t x = 0;
    for (uint64_t event = 0; event < first_events[job->count]; event++) {
        while (event >= first_events[x + 1]) {
            x++;
        }
        change_at(job, event, x);
    }
}

static plim_category largest_category(const series *one)
{
    size_t largest = 0;
    for (size_t i = 1; i < PLIM_CATEGORY_COUNT; i++) {
        largest = one->of_category[i] > one->of_category[largest] ? i : largest;
    }
    return (plim_category)largest;
}

bool plim_diff_sums_add_steps(plim_diff_sums *sums, plim_diff_side_kind side,
                              const plim_diff_calls *view)
{
    step_walk job = { .sums = sums, .calls = view, .view = view->view, .side = side };
    window_of(&view->view->steps, &job.first_step, &job.count);
    const size_t classes = sums->classes->items.count;
    job.series = plim_mem_alloc_zeroed(sums->mem, classes, sizeof *job.series);
    bool fits = job.series != NULL;
    if (fits) {
        walk_events(&job);
    }
    for (size_t i = 0; fits && i < classes; i++) {
        series *const one = &job.series[i];
        if (!one->is_seen) {
            continue;
        }
        catch_up(&job, one, job.count);
        const uint64_t bytes = slope_of(&one->bytes, job.count);
        if (bytes > 0) {
            const plim_diff_addend part = { .bytes = bytes,
                                            .count = slope_of(&one->count, job.count),
                                            .class = (uint32_t)i,
                                            .stack = one->stack,
                                            .category = largest_category(one) };
            fits = plim_diff_sums_add(sums, side, &part);
        }
    }
    plim_mem_free(sums->mem, job.series, classes, sizeof *job.series);
    return fits;
}
