/*
 * result.c - see result.h.
 */
#include "diagnose/roots/result.h"

/* A loss ends a few operations after the last thing that it saves. */
#define OPERATIONS_TO_SCALAR 64

size_t plim_pass_of(const plim_case *one, uint64_t event)
{
    size_t low = 0;
    size_t high = one->passes.list.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (one->passes.list.items[middle].first <= event) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* --- where a statement ends --- */

/* The function that the statement at `level` calls: the first frame inside of it that is not the
 * machinery of a module's call. PLIM_NONE: it calls none that is Python's. */
static uint32_t callee_of(const plim_case *one, const plim_stack *frames, uint32_t level)
{
    for (uint32_t i = level < frames->frame_count ? level : frames->frame_count; i-- > 0;) {
        const uint32_t frame = frames->frames[i];
        if (plim_frame_is_python(&one->passes.stacks, frame) &&
            !plim_frame_is_module_call(&one->passes.stacks, frame)) {
            return i;
        }
    }
    return PLIM_NONE;
}

/* A loop over layers runs one statement again and again. True if `other`, of the same statement,
 * begins its next round: the same operation once more, or an earlier line of what it calls. */
static bool begins_again(const plim_case *one, uint32_t stack, uint32_t level, uint32_t other)
{
    const plim_stack mine = plim_history_stack(one->history, stack);
    const uint32_t callee = callee_of(one, &mine, level);
    if (stack == other) {
        return callee != PLIM_NONE && plim_line_module_call(one, stack, callee) == PLIM_NONE;
    }
    const plim_stack others = plim_history_stack(one->history, other);
    if (callee == PLIM_NONE || callee >= mine.frame_count) {
        return false;
    }
    /* The level counts from the innermost frame: the same distance from the outermost. */
    const uint32_t outer = mine.frame_count - level;
    if (others.frame_count <= outer) {
        return false;
    }
    const uint32_t theirs = callee_of(one, &others, others.frame_count - outer);
    if (theirs == PLIM_NONE) {
        return false;
    }
    const plim_frame *const here = plim_history_frame(one->history, mine.frames[callee]);
    const plim_frame *const there = plim_history_frame(one->history, others.frames[theirs]);
    return here->filename == there->filename && here->name == there->name &&
           there->line < here->line;
}

static plim_allocation allocation_at(const plim_case *one, uint64_t event)
{
    return plim_timeline_allocation(&one->view.timeline,
                                    plim_timeline_recorded_id(&one->view.timeline, event));
}

bool plim_is_result(plim_case *one, const plim_allocation *kept, uint32_t level, plim_look *look)
{
    const plim_events *const events = &one->device->events;
    const plim_stack frames = plim_history_stack(one->history, kept->stack);
    bool is_beside = callee_of(one, &frames, level) != PLIM_NONE;
    int64_t latest = PLIM_AT_START;
    uint64_t event = (uint64_t)(kept->born + 1);
    for (; event < events->count; event++) {
        if (look->left == 0) {
            return false;
        }
        look->left--;
        if (events->action[event] != PLIM_ALLOC) {
            continue;
        }
        const uint32_t stack = events->stack[event];
        if (!plim_line_same_statement(one, kept->stack, level, stack)) {
            break;
        }
        /* Several tensors of one operation follow each other; without a callee so do operations. */
        is_beside = is_beside && stack == kept->stack;
        if (is_beside) {
            continue;
        }
        if (begins_again(one, kept->stack, level, stack)) {
            break;
        }
        const int64_t freed = allocation_at(one, event).freed;
        latest = freed > latest ? freed : latest;
        if (latest == PLIM_NEVER) {
            return false;
        }
    }
    return latest <= (int64_t)event;
}

/* --- the scalar --- */

static bool is_of_computation(const plim_case *one, uint32_t stack)
{
    const plim_stack_kind kind = plim_stack_kind_of(&one->passes.stacks, stack);
    return kind == PLIM_STACK_FORWARD || kind == PLIM_STACK_USER;
}

/* The event of the first request after `scalar` that is not of its statement. */
static uint64_t end_of_statement(plim_case *one, const plim_allocation *scalar, plim_look *look)
{
    const plim_events *const events = &one->device->events;
    const uint32_t level = plim_line_innermost(one, scalar->stack);
    uint64_t event = (uint64_t)(scalar->born + 1);
    for (; event < events->count && look->left > 0; event++, look->left--) {
        if (events->action[event] == PLIM_ALLOC &&
            (level == PLIM_NONE ||
             !plim_line_same_statement(one, scalar->stack, level, events->stack[event]))) {
            break;
        }
    }
    return event;
}

bool plim_find_scalar(plim_case *one, const plim_allocation *last, plim_look *look,
                      plim_allocation *ret_scalar)
{
    const plim_events *const events = &one->device->events;
    if (last->born < 0) {
        return false;
    }
    const size_t pass = plim_pass_of(one, (uint64_t)last->born);
    const uint64_t end = one->passes.list.items[pass].end;
    int64_t latest = PLIM_AT_START;
    size_t operations = 0;
    for (uint64_t event = (uint64_t)(last->born + 1);
         event < end && operations < OPERATIONS_TO_SCALAR && look->left > 0;
         event++, look->left--) {
        if (events->action[event] != PLIM_ALLOC) {
            continue;
        }
        if (!is_of_computation(one, events->stack[event])) {
            return false;
        }
        operations++;
        const plim_allocation made = allocation_at(one, event);
        if (made.requested_bytes <= PLIM_SCALAR_BYTES) {
            const uint64_t after = end_of_statement(one, &made, look);
            if (latest <= (int64_t)after && made.freed > (int64_t)after) {
                *ret_scalar = made;
                return true;
            }
        }
        latest = made.freed > latest ? made.freed : latest;
    }
    return false;
}
