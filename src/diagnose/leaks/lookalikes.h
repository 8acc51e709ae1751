/*
 * lookalikes.h - groups that grow to the end of the recording and are no leak:
 *
 *   inputs that grow from step to step   allocations take the place of smaller ones, and most
 *                                        other requests grow too
 *   a cache of keys and values           likewise, token by token; it goes when its request ends
 *   a model that grows                   weights, gradients and states; each rise brings requests
 *                                        that every later step makes
 *   a loop that is over                  the request that failed comes from other code
 */
#ifndef PLIMSOLL_DIAGNOSE_LEAKS_LOOKALIKES_H
#define PLIMSOLL_DIAGNOSE_LEAKS_LOOKALIKES_H

#include "diagnose/leaks/clusters.h"

/* Marks those growers as innocent. Linear in events. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_review_growers(const plim_levels *levels, plim_growers *growers, plim_error *err);

#endif
