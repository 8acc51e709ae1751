/*
 * calls.h - calls of backward, during which the autograd engine requests memory in threads of its
 * own: requests without a stack get that of the call.
 */
#ifndef PLIMSOLL_DIFF_CALLS_H
#define PLIMSOLL_DIFF_CALLS_H

#include "diff/code.h"
#include "inspect/device_view.h"

typedef struct plim_diff_call {
    uint64_t first_event;
    uint32_t stack; /* of the call, or PLIM_NONE: no call from here on */
} plim_diff_call;

/* A device of one side. */
typedef struct plim_diff_calls {
    const plim_device_view *view;
    PLIM_VEC(plim_diff_call) calls; /* by event */
} plim_diff_calls;

/* Linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY. After a failure plim_diff_calls_deinit() is
 * allowed. */
plim_status plim_diff_calls_init(plim_diff_calls *ret, const plim_device_view *view,
                                 const plim_diff_side *side, plim_error *err);
/* A zeroed one is allowed. */
void plim_diff_calls_deinit(plim_diff_calls *view);

/* True if a request with this stack is made by a call of backward itself, which a line of the
 * user's makes, in whichever function. */
bool plim_diff_is_call(const plim_diff_side *side, uint32_t stack);

/* The call of backward during which an allocation was requested, or PLIM_NONE.
 * Logarithmic. */
uint32_t plim_diff_call_of(const plim_diff_calls *view, const plim_allocation *one);

#endif
