/*
 * lines.c - see lines.h.
 */
#include "diagnose/roots/lines.h"

static bool is_users(plim_case *one, uint32_t frame)
{
    return plim_group_owner(&one->view.grouper, frame) == PLIM_FRAME_USER;
}

uint32_t plim_line_innermost(plim_case *one, uint32_t stack)
{
    const uint32_t user = plim_group_user_frame(&one->view.grouper, stack);
    if (user != PLIM_NONE) {
        return user;
    }
    const plim_stack frames = plim_history_stack(one->history, stack);
    uint32_t python = PLIM_NONE;
    for (uint32_t i = frames.frame_count; i-- > 0;) {
        const plim_frame_owner owner = plim_group_owner(&one->view.grouper, frames.frames[i]);
        if (owner == PLIM_FRAME_LIBRARY) {
            return i;
        }
        if (python == PLIM_NONE && owner == PLIM_FRAME_TORCH) {
            python = i;
        }
    }
    return python != PLIM_NONE ? python : frames.frame_count > 0 ? 0 : PLIM_NONE;
}

uint32_t plim_line_outside_module(plim_case *one, uint32_t stack, uint32_t level)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    bool is_outside = false;
    for (uint32_t i = level + 1; level != PLIM_NONE && i < frames.frame_count; i++) {
        if (plim_frame_is_module_call(&one->passes.stacks, frames.frames[i])) {
            is_outside = true;
        } else if (is_outside && is_users(one, frames.frames[i])) {
            return i;
        }
    }
    return PLIM_NONE;
}

uint32_t plim_line_outside_model(plim_case *one, uint32_t stack, uint32_t level)
{
    uint32_t now = level;
    for (uint32_t next = level; next != PLIM_NONE;) {
        now = next;
        next = plim_line_outside_module(one, stack, now);
    }
    return now;
}

uint32_t plim_line_module_call(const plim_case *one, uint32_t stack, uint32_t level)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    for (uint32_t i = 0; i < level && i < frames.frame_count; i++) {
        if (plim_frame_is_module_call(&one->passes.stacks, frames.frames[i])) {
            return i;
        }
    }
    return PLIM_NONE;
}

/* The next Python frame below number `from`, or PLIM_NONE. */
static uint32_t next_python(const plim_case *one, const plim_stack *frames, uint32_t from)
{
    for (uint32_t i = from; i-- > 0;) {
        if (plim_frame_is_python(&one->passes.stacks, frames->frames[i])) {
            return i;
        }
    }
    return PLIM_NONE;
}

bool plim_line_same_statement(const plim_case *one, uint32_t stack, uint32_t level, uint32_t other)
{
    if (stack == other) {
        return true;
    }
    const plim_stack mine = plim_history_stack(one->history, stack);
    const plim_stack others = plim_history_stack(one->history, other);
    uint32_t at = next_python(one, &mine, mine.frame_count);
    uint32_t there = next_python(one, &others, others.frame_count);
    while (at != PLIM_NONE && at >= level) {
        if (there == PLIM_NONE || mine.frames[at] != others.frames[there]) {
            return false;
        }
        at = next_python(one, &mine, at);
        there = next_python(one, &others, there);
    }
    return true;
}

plim_code_place plim_line_place(const plim_case *one, uint32_t stack, uint32_t level)
{
    const plim_stack frames = plim_history_stack(one->history, stack);
    return (plim_code_place){ .stack = stack,
                              .frame =
                                  level < frames.frame_count ? frames.frames[level] : PLIM_NONE };
}
