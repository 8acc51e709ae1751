/*
 * stack_filter.h - the stacks of a history that a pattern names.
 */
#ifndef PLIMSOLL_INSPECT_STACK_FILTER_H
#define PLIMSOLL_INSPECT_STACK_FILTER_H

#include "plimsoll/history.h"

typedef struct plim_stack_filter {
    const plim_mem *mem;
    uint8_t *passes; /* by stack */
    uint32_t count;  /* stacks */
} plim_stack_filter;

/*
 * The stacks with a frame that the pattern names; see plim_inspect_options.stack_pattern. Linear
 * in frames, and in the frames of all stacks. Errors: PLIM_OUT_OF_HOST_MEMORY.
 */
plim_status plim_stack_filter_init(plim_stack_filter *filter, const plim_history *history,
                                   const char *pattern, const plim_mem *mem, plim_error *err);
/* A zeroed one is allowed. */
void plim_stack_filter_deinit(plim_stack_filter *filter);

/* Of an allocation without a stack (PLIM_NONE): false. */
static inline bool plim_stack_filter_passes(const plim_stack_filter *filter, uint32_t stack)
{
    return stack != PLIM_NONE && filter->passes[stack] != 0;
}

#endif
