/*
 * outcome.h - what a rehearsal left on the stage and in its results, gathered.
 */
#ifndef PLIMSOLL_REHEARSE_OUTCOME_H
#define PLIMSOLL_REHEARSE_OUTCOME_H

#include "rehearse/rehearsal.h"

/* Fills rehearsal->outcome. PLIM_OUT_OF_HOST_MEMORY. */
PLIM_MUST_USE plim_status plim_outcome_gather(plim_rehearsal *rehearsal, plim_error *err);

#endif
