/*
 * outcomes.c - see outcomes.h: one walk over the events, backwards.
 */
#include "diagnose/case/outcomes.h"

#include "base/error.h"

/* So many requests after a failure are a program that goes on. Handlers at the end (a summary, a
 * snapshot, a checkpoint to the host) make few. */
#define GOES_ON_REQUESTS 64u
#define NONE_YET         UINT64_MAX

/* The events after the one at which the walk is. */
typedef struct after {
    uint64_t requests;
    uint64_t next_request; /* event, or NONE_YET */
    bool is_free_between;  /* something is freed before that */
    uint8_t *is_requested; /* by stack: it requests memory again */
} after;

static plim_oom_outcome outcome_of(const plim_case *one, const plim_oom_moment *oom,
                                   const after *seen)
{
    const plim_events *const events = &one->device->events;
    const bool has_stack = oom->stack != PLIM_NONE;
    if (seen->requests == 0) {
        return PLIM_OOM_ENDED;
    }
    if (!seen->is_free_between && events->stack[seen->next_request] == oom->stack &&
        (has_stack || !one->has_stacks)) {
        /* Rounded, as the failure has it. */
        const uint64_t bytes =
            plim_round_size(&one->view.rule.settings, events->bytes[seen->next_request]);
        return bytes < oom->requested_bytes    ? PLIM_OOM_TRIED
               : bytes == oom->requested_bytes ? PLIM_OOM_RETRIED
                                               : PLIM_OOM_CAUGHT;
    }
    return seen->requests >= GOES_ON_REQUESTS || (has_stack && seen->is_requested[oom->stack] != 0)
               ? PLIM_OOM_CAUGHT
               : PLIM_OOM_ENDED;
}

static void walk_back(const plim_case *one, after *seen, plim_oom_outcomes *outcomes)
{
    const plim_events *const events = &one->device->events;
    size_t oom = one->facts->oom_count;
    for (uint64_t i = events->count; i-- > 0;) {
        const uint8_t action = events->action[i];
        if (action == PLIM_ALLOC) {
            seen->requests++;
            seen->next_request = i;
            seen->is_free_between = false;
            if (events->stack[i] != PLIM_NONE) {
                seen->is_requested[events->stack[i]] = 1;
            }
        } else if (action == PLIM_FREE_REQUESTED) {
            seen->is_free_between = true;
        } else if (action == PLIM_OOM && oom > 0) {
            oom--;
            const plim_oom_outcome outcome = outcome_of(one, &one->facts->ooms[oom], seen);
            outcomes->of[oom] = (uint8_t)outcome;
            outcomes->counts[outcome]++;
            if (outcome == PLIM_OOM_ENDED && outcomes->last_ended == SIZE_MAX) {
                outcomes->last_ended = oom;
            }
        }
    }
}

plim_status plim_oom_outcomes_of(const plim_case *one, plim_oom_outcomes *ret_outcomes,
                                 plim_error *err)
{
    const size_t stacks = plim_history_stack_count(one->history);
    *ret_outcomes = (plim_oom_outcomes){ .last_ended = SIZE_MAX };
    if (one->facts->oom_count == 0) {
        return PLIM_OK;
    }
    ret_outcomes->of = plim_arena_alloc(one->arena, one->facts->oom_count);
    after seen = { .next_request = NONE_YET,
                   .is_requested = plim_mem_alloc_zeroed(one->mem, stacks + 1, 1) };
    if (ret_outcomes->of == NULL || seen.is_requested == NULL) {
        plim_mem_free(one->mem, seen.is_requested, stacks + 1, 1);
        return plim_fail_memory(err, "following failed requests");
    }
    walk_back(one, &seen, ret_outcomes);
    plim_mem_free(one->mem, seen.is_requested, stacks + 1, 1);
    return PLIM_OK;
}
