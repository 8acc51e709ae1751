/*
 * stack_text.h - which frames of a stack are worth a line.
 *
 * A recorded stack has ten to three hundred frames; most belong to PyTorch and Python. One frame
 * speaks for it: the innermost of the user's own code. Around it stand what that line called and
 * who called it.
 */
#ifndef PLIMSOLL_REPORT_MODEL_STACK_TEXT_H
#define PLIMSOLL_REPORT_MODEL_STACK_TEXT_H

#include "inspect/stack_label.h"

#define PLIM_STACK_CONTEXT_MAX 4u

/**
 * The callers worth naming beside the label: frames of the user's own further out, or, without
 * such, the next Python frames.
 *
 * places   PLIM_STACK_CONTEXT_MAX places in the stack, innermost first
 * returns  how many were found, at most `most`
 */
uint32_t plim_stack_callers(const plim_history *history, const plim_stack_group *group,
                            uint32_t most, uint32_t *places);

/** The recorded events of a device, or NULL when the history has no such device. */
const plim_events *plim_events_of(const plim_history *history, int32_t device);

#endif
