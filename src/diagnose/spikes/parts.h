/*
 * parts.h - the four ways in which a burst stands out.
 *
 *   failure      a request that ended the program belongs to a few allocations far larger than all
 *                else of its step
 *   evaluation   forward passes that no backward pass follows take more than training does
 *   outliers     a few steps take far more than the others
 *   peak         one to three tensors of each step dwarf all else
 */
#ifndef PLIMSOLL_DIAGNOSE_SPIKES_PARTS_H
#define PLIMSOLL_DIAGNOSE_SPIKES_PARTS_H

#include "diagnose/case/case.h"

#include "base/map.h"

/* Forward passes without a backward pass: events [first, end), with the highest moment in them. */
typedef struct plim_stretch {
    uint64_t first;
    uint64_t end;
    uint64_t peak_bytes;
    uint64_t peak_event;
} plim_stretch;

typedef struct plim_stretches {
    PLIM_VEC(plim_stretch) list;
    uint64_t *step_peaks; /* of each step outside of stretches; NULL without steps */
    uint64_t *step_peak_events;
    uint64_t training_bytes; /* the highest moment of training */
    uint64_t training_event;
    size_t cycles; /* backward passes, those of accumulated batches counted once each */
} plim_stretches;

/* Linear in events but for a search among passes for each activation. False: no memory. */
bool plim_stretches_find(const plim_case *one, plim_stretches *ret_stretches);
void plim_stretches_deinit(const plim_case *one, plim_stretches *stretches);

/* True if autograd kept it: made in a module's call, freed in the backward pass. */
bool plim_is_saved(const plim_case *one, uint64_t event);

/* The modules of a stack, from the outermost module's call inwards, as one number; 0: none. */
uint64_t plim_module_path(const plim_case *one, uint32_t stack);

/* The user's line that calls the outermost module of a stack, or PLIM_NONE. */
uint32_t plim_model_call(plim_case *one, uint32_t stack);

/* The cause that the code of a stack names; PLIM_CAUSE_BURST: it names none. */
plim_cause plim_burst_cause(plim_case *one, uint32_t stack);

/* A request that ended the program. */
typedef struct plim_last_request {
    uint64_t event;
    uint64_t bytes;
    uint64_t live_bytes; /* when it failed */
    uint32_t stack;
} plim_last_request;

/* The few large allocations of a step at a moment. A failed request counts as one of them. */
typedef struct plim_burst {
    plim_case *one;
    const plim_last_request *failed; /* what is live just before its event; bytes 0: no request */
    uint64_t first;                  /* event that its step, or what there is of it, begins with */
    uint64_t largest;                /* bytes */
    uint64_t members;                /* with the failed request */
    uint64_t member_bytes;           /* likewise */
    uint64_t step_bytes;             /* of all that the step holds, likewise */
    uint64_t first_member;           /* event */
    uint64_t before;                 /* requests of the step before it */
    uint64_t longest;                /* life of a member in events; UINT64_MAX: it never ends */
    uint32_t stack;                  /* of the largest that has one, or PLIM_NONE */
    uint64_t stack_bytes;
    uint32_t repeated; /* members that share their stack with another */
    plim_map stacks;   /* of members → 1 */
} plim_burst;

/* Linear in events. False: no memory; plim_burst_deinit() is needed all the same. */
bool plim_burst_look(plim_case *one, const plim_last_request *moment, plim_burst *ret_burst);
void plim_burst_deinit(plim_burst *burst);

/* True unless requests of this kind set a program up or make an optimizer's states. */
bool plim_is_of_step(plim_stack_kind kind);

/* Each adds one finding at most. `failed` is NULL where no failure ended the program. False: no
 * memory. */
bool plim_spike_at_failure(plim_case *one, const plim_last_request *failed,
                           const plim_stretches *stretches);
bool plim_spike_of_evaluation(plim_case *one, const plim_last_request *failed,
                              const plim_stretches *stretches);
bool plim_spike_of_steps(plim_case *one, const plim_stretches *stretches);
bool plim_spike_at_peak(plim_case *one);

#endif
