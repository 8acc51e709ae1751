/*
 * passes.h - what a program was doing from event to event: forward, backward, optimizer, ….
 *
 *   build build | data | forward forward | recompute | backward backward | optimizer | data …
 *   ^ pass 0    ^ 1    ^ 2               ^ 3         ^ 4                 ^ 5         ^ 6
 *
 * Only requests turn one pass into the next, and the spans an optimizer is annotated with, which
 * may hold no request at all. Where most requests have stacks, one without is the backward
 * pass's: Python is not in the engine's thread.
 */
#ifndef PLIMSOLL_PHASES_PASSES_H
#define PLIMSOLL_PHASES_PASSES_H

#include "base/vec.h"
#include "phases/marks.h"
#include "phases/stack_kinds.h"

typedef enum plim_pass_kind {
    PLIM_PASS_SETUP, /* before anything else is seen */
    PLIM_PASS_BETWEEN,
    PLIM_PASS_FORWARD,
    PLIM_PASS_RECOMPUTE,
    PLIM_PASS_BACKWARD,
    PLIM_PASS_OPTIMIZER,
} plim_pass_kind;

/* The events from `first` up to the next pass. The nexts are events too, or the events' count
 * where nothing follows. */
typedef struct plim_pass {
    uint32_t first;
    uint32_t end;
    uint32_t next_forward;   /* the next forward pass begins there */
    uint32_t next_optimizer; /* likewise, the next optimizer's step after a forward pass */
    uint32_t next_step;      /* likewise, the next forward pass after an optimizer's step */
    uint32_t backward_end;   /* of a backward pass with what is recomputed in it */
    uint32_t backward_last;  /* the last request of that */
    plim_pass_kind kind;
} plim_pass;

typedef struct plim_passes {
    const plim_mem *mem;
    const plim_events *events;
    plim_stack_kinds stacks;
    plim_marks marks;
    PLIM_VEC(plim_pass) list; /* never empty */
    uint32_t last_request;    /* an event; 0 where there is none */
    bool has_states;          /* stacks distinguish states from what an optimizer works on */
    bool has_any_stack;
    bool has_stacks; /* a request without a stack means something */
    bool has_forward;
    bool has_optimizer;
    bool has_backward;
} plim_passes;

/* Linear in events; errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_passes_init(plim_passes *passes, const plim_history *history,
                             const plim_device_history *device, const plim_mem *mem,
                             plim_error *err);
/* The pass that an event lies in. Logarithmic. */
const plim_pass *plim_passes_at(const plim_passes *passes, uint64_t event);
/* Zeroed ones are allowed. */
void plim_passes_deinit(plim_passes *passes);

#endif
