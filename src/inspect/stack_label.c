/*
 * stack_label.c - choosing the frame that speaks for a stack.
 */
#include "inspect/stack_label.h"

#include "base/assert.h"

static const char *name_of(const plim_history *history, uint32_t frame)
{
    return plim_history_string(history, plim_history_frame(history, frame)->name, NULL);
}

plim_frame_owner plim_stack_frame_owner(const plim_history *history, uint32_t frame)
{
    const plim_frame *place = plim_history_frame(history, frame);
    return plim_frame_owner_of(plim_history_string(history, place->filename, NULL),
                               plim_history_string(history, place->name, NULL), place->line);
}

bool plim_stack_frame_is_user(const plim_history *history, uint32_t frame)
{
    return plim_stack_frame_owner(history, frame) == PLIM_FRAME_USER;
}

/* The innermost frame of Python; without one, the innermost of those that name the stack best. */
static uint32_t label_without_user(const plim_history *history, plim_stack stack)
{
    uint32_t best = 0;
    plim_frame_label best_label = PLIM_LABEL_MACHINERY;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        if (plim_stack_frame_owner(history, stack.frames[i]) != PLIM_FRAME_NATIVE) {
            return i;
        }
    }
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        const plim_frame_label label = plim_frame_label_of(name_of(history, stack.frames[i]));
        if (label < best_label) {
            best = i;
            best_label = label;
        }
    }
    return best;
}

uint32_t plim_stack_label_place(const plim_history *history, const plim_stack_group *group)
{
    const plim_stack stack = plim_history_stack(history, group->stack);
    if (stack.frame_count == 0) {
        return PLIM_NONE;
    }
    if (group->user_frame != PLIM_NONE) {
        PLIM_ASSERT(group->user_frame < stack.frame_count);
        return group->user_frame;
    }
    return label_without_user(history, stack);
}

uint32_t plim_stack_label_frame(const plim_history *history, const plim_stack_group *group)
{
    const uint32_t place = plim_stack_label_place(history, group);
    return place == PLIM_NONE ? PLIM_NONE : plim_history_stack(history, group->stack).frames[place];
}
