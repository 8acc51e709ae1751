/*
 * again.h - the program of a rehearsal that ran out, once more, under other circumstances.
 */
#ifndef PLIMSOLL_REHEARSE_AGAIN_H
#define PLIMSOLL_REHEARSE_AGAIN_H

#include "plimsoll/rehearse.h"

/* Options as those of the first run, but for two steps after the one in which memory ran out, six
 * at least. `options` may be NULL. */
plim_rehearse_options plim_again_options(const plim_rehearsed *first,
                                         const plim_rehearse_options *options);

/* Looks at what became of it; `again` goes away after that. */
typedef plim_status (*plim_again_judge)(void *ctx, const plim_rehearsed *again, plim_error *err);

/*
 * Rehearses it from start to end, unheard, without a recording or a list of calls, for
 * PLIM_NEED_SECONDS_TIMES of the first run's time at most. Signals that would end this process end
 * that run only: *ret_is_interrupted is true, and nothing is judged. Errors: those of
 * plim_rehearse() and of judge.
 */
PLIM_MUST_USE plim_status plim_again(const plim_rehearsed *first, const plim_rehearse_options *how,
                                     plim_again_judge judge, void *ctx, bool *ret_is_interrupted,
                                     plim_error *err);

#endif
