/*
 * stack_kinds.h - what the code that requested memory was doing, read off each distinct stack.
 *
 * Every frame is judged once by its file and name, then every stack once by its frames: the
 * innermost frame that decides, does. So a forward pass inside an optimizer's closure is forward,
 * and a copy that the optimizer makes inside a training function is the optimizer's.
 */
#ifndef PLIMSOLL_PHASES_STACK_KINDS_H
#define PLIMSOLL_PHASES_STACK_KINDS_H

#include "plimsoll/history.h"

typedef enum plim_stack_kind {
    PLIM_STACK_NONE,            /* no stack, or one that says nothing */
    PLIM_STACK_USER,            /* the program's own code, outside of any module's call */
    PLIM_STACK_USER_INIT,       /* likewise, while some object of it is made */
    PLIM_STACK_BUILD,           /* modules are made, moved, copied, loaded */
    PLIM_STACK_DATA,            /* batches are fetched and moved */
    PLIM_STACK_FORWARD,         /* inside a module's call */
    PLIM_STACK_RECOMPUTE,       /* likewise, once more, in the backward pass */
    PLIM_STACK_BACKWARD,        /* the autograd engine, and hooks it calls */
    PLIM_STACK_BUCKETS,         /* data-parallel training makes room for gradients */
    PLIM_STACK_GRADIENT_TOOLS,  /* scaling, clipping */
    PLIM_STACK_ZERO_GRAD,       /* gradients are cleared */
    PLIM_STACK_OPTIMIZER_SETUP, /* an optimizer is made or loaded */
    PLIM_STACK_OPTIMIZER_STATE, /* its step, where it makes states */
    PLIM_STACK_OPTIMIZER_STEP,  /* its step */
} plim_stack_kind;

typedef struct plim_stack_kinds {
    const plim_mem *mem;
    uint8_t *of_stack; /* plim_stack_kind; one more entry than stacks */
    uint8_t *of_frame; /* for the two questions below */
    size_t stack_count;
    size_t frame_count;
} plim_stack_kinds;

/* Judges all stacks of a history. Linear in frames of distinct stacks and in their names. */
plim_status plim_stack_kinds_init(plim_stack_kinds *ret_kinds, const plim_history *history,
                                  const plim_mem *mem, plim_error *err);
/* Zeroed ones are allowed. */
void plim_stack_kinds_deinit(plim_stack_kinds *kinds);

static inline plim_stack_kind plim_stack_kind_of(const plim_stack_kinds *kinds, uint32_t stack)
{
    return stack < kinds->stack_count ? (plim_stack_kind)kinds->of_stack[stack] : PLIM_STACK_NONE;
}

/* True if this frame is Python's. Between those of a stack with C++ lie frames of the interpreter,
 * in numbers that vary. */
bool plim_frame_is_python(const plim_stack_kinds *kinds, uint32_t frame);
/* The line of the program that calls backward, of a request that the call itself makes; PLIM_NONE:
 * it is another's, or no frame of the program calls it (hooks in the engine's thread). */
uint32_t plim_backward_line(const plim_stack_kinds *kinds, plim_stack stack);
/* True if this frame is a module being called. */
bool plim_frame_is_module_call(const plim_stack_kinds *kinds, uint32_t frame);

#endif
