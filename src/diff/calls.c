/*
 * calls.c - a call lasts from its own first request to the next request of other code.
 */
#include "diff/calls.h"

#include "base/error.h"

/* True if a request with this stack is a part of a backward pass, as hooks and recomputing are. */
static bool is_within(const plim_diff_side *side, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&side->kinds, stack);
    return kind == PLIM_STACK_BACKWARD || kind == PLIM_STACK_RECOMPUTE ||
           kind == PLIM_STACK_BUCKETS;
}

bool plim_diff_is_call(const plim_diff_side *side, uint32_t stack)
{
    const plim_stack frames = plim_history_stack(side->history, stack);
    bool is_backward = false;
    for (uint32_t i = 0; i < frames.frame_count; i++) {
        if (side->grouper.owners[frames.frames[i]] == PLIM_FRAME_USER + 1) {
            return is_backward;
        }
        is_backward = is_backward || side->kinds.of_frame[frames.frames[i]] == PLIM_ROLE_BACKWARD;
    }
    return false;
}

plim_status plim_diff_calls_init(plim_diff_calls *ret, const plim_device_view *view,
                                 const plim_diff_side *side, plim_error *err)
{
    const plim_events *const events = &view->device->events;
    uint32_t call = PLIM_NONE;
    uint32_t last = PLIM_NONE; /* stack that was looked at */
    *ret = (plim_diff_calls){ .view = view };
    for (uint64_t i = 0; i < events->count; i++) {
        const uint32_t stack = events->stack[i];
        if (events->action[i] != PLIM_ALLOC || stack == PLIM_NONE || stack == last) {
            continue;
        }
        last = stack;
        const plim_stack frames = plim_history_stack(side->history, stack);
        const bool is_call = plim_diff_is_call(side, stack);
        const uint32_t now = is_call                                             ? stack
                             : is_within(side, stack) || frames.frame_count == 0 ? call
                                                                                 : PLIM_NONE;
        const plim_diff_call change = { .first_event = i, .stack = now };
        if (now != call && !PLIM_VEC_PUSH(view->mem, &ret->calls, change)) {
            return plim_fail_memory(err, "comparing histories");
        }
        call = now;
    }
    return PLIM_OK;
}

void plim_diff_calls_deinit(plim_diff_calls *view)
{
    if (view->view != NULL) {
        PLIM_VEC_FREE(view->view->mem, &view->calls);
    }
    *view = (plim_diff_calls){ 0 };
}

uint32_t plim_diff_call_of(const plim_diff_calls *view, const plim_allocation *one)
{
    if (one->born < 0) {
        return PLIM_NONE;
    }
    size_t low = 0; /* the first that begins after it */
    size_t high = view->calls.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const bool is_before = view->calls.items[middle].first_event <= (uint64_t)one->born;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low > 0 ? view->calls.items[low - 1].stack : PLIM_NONE;
}
