/*
 * oom.h - what is true when a request fails, for the text, the observers and the advice.
 */
#ifndef PLIMSOLL_ALLOC_OOM_H
#define PLIMSOLL_ALLOC_OOM_H

#include "alloc/core/policy.h"

/* Gathers the facts, counts the failure and emits its event. The world is stopped. Fails, and then
 * nothing is counted, when the device cannot even say how much memory it has. */
plim_status plim_oom_gather(const plim_request *request, plim_oom_facts *ret_facts,
                            plim_error *err);
/* Fails with one line, after the observers were called. No locks are held. */
plim_status plim_oom_fail(plim_allocator *allocator, const plim_oom_facts *facts, plim_error *err);

#endif
