/*
 * outcomes.h - what followed each failed request: a library tried again, the program went on, or it
 * ended.
 */
#ifndef PLIMSOLL_DIAGNOSE_CASE_OUTCOMES_H
#define PLIMSOLL_DIAGNOSE_CASE_OUTCOMES_H

#include "diagnose/case/case.h"

typedef enum plim_oom_outcome {
    PLIM_OOM_TRIED,   /* the same code requested less at once, nothing was freed in between: cuDNN
                       * looks for a workspace that fits */
    PLIM_OOM_RETRIED, /* the same request succeeded at once, nothing was freed in between */
    PLIM_OOM_CAUGHT,  /* the program went on */
    PLIM_OOM_ENDED,   /* it did not */
} plim_oom_outcome;

typedef struct plim_oom_outcomes {
    uint8_t *of; /* plim_oom_outcome, by index of facts->ooms; in the arena */
    size_t counts[PLIM_OOM_ENDED + 1];
    size_t last_ended; /* index of the last that ended the program, or SIZE_MAX */
} plim_oom_outcomes;

/* Linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_oom_outcomes_of(const plim_case *one, plim_oom_outcomes *ret_outcomes,
                                 plim_error *err);

#endif
