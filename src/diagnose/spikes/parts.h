/*
 * parts.h - the three ways in which a burst stands out.
 *
 *   failure      a request that ended the program belongs to a few allocations far larger than all
 *                else of its step
 *   evaluation   forward passes that no backward pass follows take more than training does
 *   outliers     a few steps take far more than the others
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

/* Each adds one finding at most. `failed` is NULL where no failure ended the program. False: no
 * memory. */
bool plim_spike_at_failure(plim_case *one, const plim_last_request *failed,
                           const plim_stretches *stretches);
bool plim_spike_of_evaluation(plim_case *one, const plim_last_request *failed,
                              const plim_stretches *stretches);
bool plim_spike_of_steps(plim_case *one, const plim_stretches *stretches);

#endif
