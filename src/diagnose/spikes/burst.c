/*
 * burst.c - the few large allocations of a step at one moment.
 */
#include "diagnose/spikes/parts.h"

/* Members of a burst have this share of the largest of them, or more: a copy in half precision or
 * of half of a batch is one. */
#define MEMBER_SHARE 4

bool plim_is_of_step(plim_stack_kind kind)
{
    return kind != PLIM_STACK_BUILD && kind != PLIM_STACK_USER_INIT && kind != PLIM_STACK_BUCKETS &&
           kind != PLIM_STACK_OPTIMIZER_SETUP && kind != PLIM_STACK_OPTIMIZER_STATE;
}

/* Live at the failure, and neither state nor what the program was set up with. */
static bool is_held(const plim_burst *at, uint64_t event)
{
    const plim_case *const one = at->one;
    const uint32_t end = one->view.timeline.start.lifetimes.partner[event];
    if (one->passes.events->action[event] != PLIM_ALLOC ||
        (end != PLIM_NONE && end < at->failed->event)) {
        return false;
    }
    const uint8_t category =
        one->view.categories.of[plim_timeline_recorded_id(&one->view.timeline, event)];
    return category != PLIM_CATEGORY_PARAMETERS && category != PLIM_CATEGORY_OPTIMIZER_STATE &&
           category != PLIM_CATEGORY_GRADIENTS && category != PLIM_CATEGORY_INPUTS &&
           plim_is_of_step(
               plim_stack_kind_of(&one->passes.stacks, one->passes.events->stack[event]));
}

static bool is_member(const plim_burst *at, uint64_t bytes)
{
    return bytes >= at->largest / MEMBER_SHARE;
}

static bool take_member(plim_burst *at, uint64_t bytes, uint32_t stack)
{
    at->members++;
    at->member_bytes += bytes;
    if (stack == PLIM_NONE ||
        plim_stack_kind_of(&at->one->passes.stacks, stack) == PLIM_STACK_NONE) {
        return true;
    }
    if (bytes > at->stack_bytes) {
        at->stack = stack;
        at->stack_bytes = bytes;
    }
    at->repeated += plim_map_get(&at->stacks, stack) != PLIM_MAP_ABSENT ? 1u : 0u;
    return plim_map_put(&at->stacks, stack, 1);
}

static bool look(plim_burst *at)
{
    const plim_events *const events = at->one->passes.events;
    at->largest = at->failed->bytes;
    for (uint64_t i = at->first; i < at->failed->event; i++) {
        if (is_held(at, i) && events->bytes[i] > at->largest) {
            at->largest = events->bytes[i];
        }
    }
    at->first_member = at->failed->event;
    uint64_t requests = 0;
    for (uint64_t i = at->first; i < at->failed->event; i++) {
        requests += events->action[i] == PLIM_ALLOC ? 1u : 0u;
        if (!is_held(at, i)) {
            continue;
        }
        at->step_bytes += events->bytes[i];
        if (!is_member(at, events->bytes[i])) {
            continue;
        }
        if (at->first_member == at->failed->event) {
            at->first_member = i;
            at->before = requests - 1;
        }
        const uint32_t end = at->one->view.timeline.start.lifetimes.partner[i];
        const uint64_t life = end == PLIM_NONE ? UINT64_MAX : end - i;
        at->longest = life > at->longest ? life : at->longest;
        if (!take_member(at, events->bytes[i], events->stack[i])) {
            return false;
        }
    }
    if (at->first_member == at->failed->event) {
        at->before = requests;
    }
    at->step_bytes += at->failed->bytes;
    return !is_member(at, at->failed->bytes) ||
           take_member(at, at->failed->bytes, at->failed->stack);
}

/* The event that the failed step begins with: after the last whole step, or after setup. */
static uint64_t begin_of_step(const plim_case *one, uint64_t event)
{
    const uint64_t step = plim_steps_at(&one->view.steps, event);
    if (step != PLIM_NO_STEP) {
        return one->step_facts[step].first_event;
    }
    if (one->view.steps.count > 0 && event >= one->view.steps.first_events[one->view.steps.count]) {
        return one->view.steps.first_events[one->view.steps.count];
    }
    uint64_t first = 0;
    for (uint64_t i = 0; i < event; i++) {
        const plim_stack_kind kind =
            plim_stack_kind_of(&one->passes.stacks, one->passes.events->stack[i]);
        if (one->passes.events->action[i] == PLIM_ALLOC &&
            (kind == PLIM_STACK_BUILD || kind == PLIM_STACK_USER_INIT)) {
            first = i + 1;
        }
    }
    return first;
}

bool plim_burst_look(plim_case *one, const plim_last_request *moment, plim_burst *ret_burst)
{
    *ret_burst = (plim_burst){
        .one = one, .failed = moment, .first = begin_of_step(one, moment->event), .stack = PLIM_NONE
    };
    plim_map_init(&ret_burst->stacks, one->mem);
    return look(ret_burst);
}

void plim_burst_deinit(plim_burst *burst)
{
    plim_map_deinit(&burst->stacks);
}
