/*
 * stack_label.h - the frame that speaks for a stack: the innermost of the user's own code.
 */
#ifndef PLIMSOLL_INSPECT_STACK_LABEL_H
#define PLIMSOLL_INSPECT_STACK_LABEL_H

#include "plimsoll/inspect.h"
#include "stacks/frames.h"

/** The frame that speaks for a group: an index into the history's frames, or PLIM_NONE. */
uint32_t plim_stack_label_frame(const plim_history *history, const plim_stack_group *group);

/** The same as a place in the stack: 0 is the innermost frame. PLIM_NONE in an empty stack. */
uint32_t plim_stack_label_place(const plim_history *history, const plim_stack_group *group);

/** Whose code a frame is. */
plim_frame_owner plim_stack_frame_owner(const plim_history *history, uint32_t frame);

/** True if a frame is the user's own code: not PyTorch's, not Python's, not C++. */
bool plim_stack_frame_is_user(const plim_history *history, uint32_t frame);

#endif
