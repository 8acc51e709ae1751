/*
 * stack_text.c - the callers beside the frame that speaks for a stack.
 */
#include "report/model/stack_text.h"

#include "base/assert.h"

static uint32_t collect_callers(const plim_history *history, plim_stack stack, uint32_t label,
                                bool only_user, uint32_t most, uint32_t *places)
{
    uint32_t count = 0;
    uint32_t last = stack.frames[label];
    for (uint32_t i = label + 1; i < stack.frame_count && count < most; i++) {
        const uint32_t frame = stack.frames[i];
        const plim_frame_owner owner = plim_stack_frame_owner(history, frame);
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
