/*
 * stretches.c - forward passes that no backward pass follows, and the peaks of what is training.
 *
 *   forward forward* | forward backward optimizer | forward ...      *: nothing of it is freed in
 *   ^ stretch        ^ training                     ^ stretch         the backward pass
 *
 * An evaluation's forward pass and a training step's may lie side by side. The first request that
 * autograd keeps for the backward pass begins the latter.
 */
#include "diagnose/spikes/parts.h"

typedef struct stretch_walk {
    const plim_case *one;
    plim_stretches *out;
    plim_stretch open; /* the stretch, while `is_open` */
    bool is_open;
    bool is_training; /* a request that is saved came, and no backward pass ended since */
    bool in_backward;
} stretch_walk;

bool plim_is_saved(const plim_case *one, uint64_t event)
{
    const uint32_t end = one->view.timeline.start.lifetimes.partner[event];
    if (end == PLIM_NONE) {
        return false;
    }
    const plim_pass_kind kind = plim_passes_at(&one->passes, end)->kind;
    return kind == PLIM_PASS_BACKWARD || kind == PLIM_PASS_RECOMPUTE;
}

static bool close_stretch(stretch_walk *at, uint64_t event)
{
    if (!at->is_open) {
        return true;
    }
    at->is_open = false;
    at->open.end = event;
    return PLIM_VEC_PUSH(at->one->mem, &at->out->list, at->open);
}

static bool take_forward(stretch_walk *at, uint64_t event)
{
    if (at->is_training) {
        return true;
    }
    if (plim_is_saved(at->one, event)) {
        at->is_training = true;
        return close_stretch(at, event);
    }
    if (!at->is_open) {
        at->is_open = true;
        at->open = (plim_stretch){ .first = event };
    }
    return true;
}

/* A backward pass or an optimizer's step after a forward pass: that was training, even where
 * nothing of it was kept. */
static void take_training(stretch_walk *at, bool is_backward)
{
    at->out->cycles += is_backward && !at->in_backward ? 1u : 0u;
    at->in_backward = is_backward;
    at->is_open = false;
    at->is_training = false;
}

static bool find_stretches(stretch_walk *at)
{
    const plim_passes *const passes = &at->one->passes;
    size_t pass = 0;
    for (uint64_t i = 0; i < passes->events->count; i++) {
        while (pass + 1 < passes->list.count && passes->list.items[pass + 1].first <= i) {
            pass++;
        }
        const plim_pass_kind kind = passes->list.items[pass].kind;
        const bool is_backward = kind == PLIM_PASS_BACKWARD || kind == PLIM_PASS_RECOMPUTE;
        if (is_backward || kind == PLIM_PASS_OPTIMIZER) {
            take_training(at, is_backward);
        } else if (passes->events->action[i] == PLIM_ALLOC &&
                   plim_stack_kind_of(&passes->stacks, passes->events->stack[i]) ==
                       PLIM_STACK_FORWARD) {
            at->in_backward = false;
            if (!take_forward(at, i)) {
                return false;
            }
        }
    }
    return close_stretch(at, passes->events->count);
}

/* The highest moments of stretches and of training, which begins with the first backward pass's
 * forward pass. */
static void measure(stretch_walk *at)
{
    const plim_case *const one = at->one;
    plim_cursor cursor;
    plim_cursor_init(&cursor, &one->view.timeline);
    size_t next = 0;
    size_t step = 0;
    for (uint64_t i = 0; plim_cursor_next(&cursor); i++) {
        const uint64_t live = plim_cursor_figures(&cursor).requested_bytes;
        while (next < at->out->list.count && at->out->list.items[next].end <= i) {
            next++;
        }
        while (step < one->view.steps.count && one->step_facts[step].end_event <= i) {
            step++;
        }
        plim_stretch *const stretch =
            next < at->out->list.count ? &at->out->list.items[next] : NULL;
        if (stretch != NULL && stretch->first <= i) {
            if (live > stretch->peak_bytes) {
                stretch->peak_bytes = live;
                stretch->peak_event = i;
            }
            continue;
        }
        if (live > at->out->training_bytes) {
            at->out->training_bytes = live;
            at->out->training_event = i;
        }
        if (step < one->view.steps.count && one->step_facts[step].first_event <= i &&
            live > at->out->step_peaks[step]) {
            at->out->step_peaks[step] = live;
            at->out->step_peak_events[step] = i;
        }
    }
}

bool plim_stretches_find(const plim_case *one, plim_stretches *ret_stretches)
{
    *ret_stretches = (plim_stretches){ 0 };
    const size_t count = one->view.steps.count;
    if (count > 0) {
        ret_stretches->step_peaks = plim_mem_alloc_zeroed(one->mem, count, sizeof(uint64_t));
        ret_stretches->step_peak_events = plim_mem_alloc_zeroed(one->mem, count, sizeof(uint64_t));
        if (ret_stretches->step_peaks == NULL || ret_stretches->step_peak_events == NULL) {
            return false;
        }
    }
    stretch_walk at = { .one = one, .out = ret_stretches };
    if (one->passes.has_backward && !find_stretches(&at)) {
        return false;
    }
    measure(&at);
    return true;
}

void plim_stretches_deinit(const plim_case *one, plim_stretches *stretches)
{
    plim_mem_free(one->mem, stretches->step_peaks, one->view.steps.count, sizeof(uint64_t));
    plim_mem_free(one->mem, stretches->step_peak_events, one->view.steps.count, sizeof(uint64_t));
    PLIM_VEC_FREE(one->mem, &stretches->list);
    *stretches = (plim_stretches){ 0 };
}
