/*
 * advise.h - the advice for a rehearsal that ran out, by what is known of the program.
 */
#ifndef PLIMSOLL_REHEARSE_ADVISE_H
#define PLIMSOLL_REHEARSE_ADVISE_H

#include "plimsoll/rehearse.h"

/*
 * Chooses the advice of rehearsed->message anew, which becomes the rehearsal's own: by settings and
 * techniques of its processes, and by its need where that is known. Errors: those of plim_advise().
 */
PLIM_MUST_USE plim_status plim_rehearsal_advise(plim_rehearsed *rehearsed, plim_error *err);

#endif
