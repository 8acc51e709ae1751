/*
 * stack_text.c - choosing the frame that speaks for a stack.
 */
#include "report/model/stack_text.h"

#include "base/assert.h"
#include "stacks/frames.h"

#include <string.h>

static const char *name_of(const plim_history *history, uint32_t frame)
{
    return plim_history_string(history, plim_history_frame(history, frame)->name, NULL);
}

static plim_frame_owner owner_of(const plim_history *history, uint32_t frame)
{
    const plim_frame *place = plim_history_frame(history, frame);
    return plim_frame_owner_of(plim_history_string(history, place->filename, NULL),
                               plim_history_string(history, place->name, NULL), place->line);
}

bool plim_stack_frame_is_user(const plim_history *history, uint32_t frame)
{
    return owner_of(history, frame) == PLIM_FRAME_USER;
}

/* The innermost frame of Python; without one, the innermost of those that name the stack best. */
static uint32_t label_without_user(const plim_history *history, plim_stack stack)
{
    uint32_t best = 0;
    plim_frame_label best_label = PLIM_LABEL_MACHINERY;
    for (uint32_t i = 0; i < stack.frame_count; i++) {
        if (owner_of(history, stack.frames[i]) != PLIM_FRAME_NATIVE) {
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

static uint32_t collect_callers(const plim_history *history, plim_stack stack, uint32_t label,
                                bool only_user, uint32_t most, uint32_t *places)
{
    uint32_t count = 0;
    uint32_t last = stack.frames[label];
    for (uint32_t i = label + 1; i < stack.frame_count && count < most; i++) {
        const uint32_t frame = stack.frames[i];
        const plim_frame_owner owner = owner_of(history, frame);
        const bool fits = only_user ? owner == PLIM_FRAME_USER : owner != PLIM_FRAME_NATIVE;
        /* Recursion, as in Module._apply(), would fill the line with one frame. */
        if (fits && frame != last) {
            places[count++] = i;
            last = frame;
        }
    }
    return count;
}

uint32_t plim_stack_callers(const plim_history *history, const plim_stack_group *group,
                            uint32_t most, uint32_t *places)
{
    PLIM_ASSERT(most <= PLIM_STACK_CONTEXT_MAX);
    const uint32_t label = plim_stack_label_place(history, group);
    if (label == PLIM_NONE) {
        return 0;
    }
    const plim_stack stack = plim_history_stack(history, group->stack);
    const uint32_t found = collect_callers(history, stack, label, true, most, places);
    return found > 0 ? found : collect_callers(history, stack, label, false, most, places);
}

const plim_events *plim_events_of(const plim_history *history, int32_t device)
{
    const size_t count = plim_history_device_count(history);
    for (size_t i = 0; i < count; i++) {
        const plim_device_history *one = plim_history_device(history, i);
        if (one->device == device) {
            return &one->events;
        }
    }
    return NULL;
}
