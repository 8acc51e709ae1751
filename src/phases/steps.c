/*
 * steps.c - where the steps of a program begin: the surest way that finds any. See
 * plimsoll/phases.h and docs/design/phases.md.
 */
#include "phases/steps.h"

#include "base/error.h"
#include "history/lifetimes.h"

/* True if steps were found, and only a training loop's turns may say better. */
static bool is_optimizers(const plim_steps_search *search)
{
    return search->marks.of[PLIM_MARK_OPTIMIZER].count > 0;
}

/* Bursts of an optimizer; one burst is one step, or of many steps the one that made its states:
 * then what repeats says more, and so it does where calls of backward lie between the bursts in
 * ever other numbers. */
static bool find_unnamed(const plim_steps_search *search, const plim_backward_calls *calls,
                         plim_bounds *bounds, plim_steps_source *ret_source)
{
    plim_bounds bursts = { 0 };
    plim_bounds periods = { 0 };
    plim_bounds turns = { 0 };
    bool is_done = is_optimizers(search) || /* it never came to an end */
                   plim_steps_from_optimizer(search, &bursts);
    const bool is_regular = bursts.count > 2 && plim_steps_are_regular(calls, &bursts);
    if (is_done && !is_regular) {
        is_done = plim_steps_from_period(search, &periods);
    }
    if (is_done && !is_regular && !plim_steps_are_regular(calls, &periods)) {
        PLIM_VEC_FREE(search->mem, &periods);
    }
    if (is_done && !is_regular && periods.count == 0) {
        is_done = plim_steps_from_backward(search, calls, &turns);
    }
    plim_bounds *const chosen = periods.count > 0 ? &periods : turns.count > 0 ? &turns : &bursts;
    *ret_source = periods.count > 0 ? PLIM_STEPS_PERIOD
                  : turns.count > 0 ? PLIM_STEPS_BACKWARD
                                    : PLIM_STEPS_OPTIMIZER;
    *bounds = *chosen;
    *chosen = (plim_bounds){ 0 };
    PLIM_VEC_FREE(search->mem, &bursts);
    PLIM_VEC_FREE(search->mem, &periods);
    PLIM_VEC_FREE(search->mem, &turns);
    return is_done;
}

/* Tries the ways in turn; `ret_source` says which one added to `bounds`. False: no memory. */
static bool find(const plim_steps_search *search, plim_bounds *bounds,
                 plim_steps_source *ret_source)
{
    *ret_source = PLIM_STEPS_ANNOTATED;
    if (!plim_steps_from_marks(search, bounds)) {
        return false;
    }
    plim_backward_calls calls;
    if (!plim_backward_calls_find(search, &calls)) {
        return false;
    }
    bool is_done = true;
    if (bounds->count == 0) {
        is_done = find_unnamed(search, &calls, bounds, ret_source);
    }
    if (*ret_source == PLIM_STEPS_OPTIMIZER ||
        (*ret_source == PLIM_STEPS_ANNOTATED && is_optimizers(search) &&
         search->marks.of[PLIM_MARK_PROFILER].count < 2 &&
         search->marks.of[PLIM_MARK_STEP].count < 2)) {
        plim_steps_join(&calls, bounds);
    }
    plim_backward_calls_deinit(search, &calls);
    return is_done;
}

static plim_status deliver(plim_steps *ret_steps, plim_bounds *bounds, plim_steps_source source,
                           const plim_mem *mem, plim_error *err)
{
    if (bounds->count < 2) {
        PLIM_VEC_FREE(mem, bounds);
        *ret_steps = (plim_steps){ .mem = mem };
        return PLIM_OK;
    }
    uint64_t *fitted =
        plim_mem_resize(mem, bounds->items, bounds->capacity, bounds->count, sizeof *fitted);
    if (fitted == NULL) {
        PLIM_VEC_FREE(mem, bounds);
        return plim_fail_memory(err, "finding steps");
    }
    *ret_steps = (plim_steps){
        .mem = mem, .first_events = fitted, .count = bounds->count - 1, .source = source
    };
    return PLIM_OK;
}

plim_status plim_steps_init(plim_steps *ret_steps, const plim_history *history,
                            const plim_device_history *device, const plim_mem *mem, plim_error *err)
{
    mem = plim_mem_or_heap(mem);
    const plim_free_halves halves = plim_free_halves_of(history, device->device);
    plim_steps_search search = {
        .mem = mem,
        .history = history,
        .events = &device->events,
        .free_action = halves.requested ? PLIM_FREE_REQUESTED : PLIM_FREE_COMPLETED,
    };
    plim_bounds bounds = { 0 };
    plim_steps_source source = PLIM_STEPS_NONE;
    plim_status status = plim_marks_init(&search.marks, history, device, mem, err);
    if (status == PLIM_OK) {
        status = plim_stack_kinds_init(&search.kinds, history, mem, err);
    }
    if (status == PLIM_OK && !find(&search, &bounds, &source)) {
        PLIM_VEC_FREE(mem, &bounds);
        status = plim_fail_memory(err, "finding steps");
    }
    if (status == PLIM_OK) {
        status = deliver(ret_steps, &bounds, source, mem, err);
    }
    plim_stack_kinds_deinit(&search.kinds);
    plim_marks_deinit(&search.marks);
    return status;
}

void plim_steps_deinit(plim_steps *steps)
{
    if (steps->first_events != NULL) {
        plim_mem_free(steps->mem, steps->first_events, steps->count + 1,
                      sizeof *steps->first_events);
    }
    *steps = (plim_steps){ 0 };
}

uint64_t plim_steps_at(const plim_steps *steps, uint64_t event)
{
    const size_t count = steps->count;
    if (count == 0 || event < steps->first_events[0] || event >= steps->first_events[count]) {
        return PLIM_NO_STEP;
    }
    size_t low = 0;
    size_t high = count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (steps->first_events[middle] <= event) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
