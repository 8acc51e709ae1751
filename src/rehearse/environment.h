/*
 * environment.h - the environment that leads a program to the stand-ins, and nothing else.
 */
#ifndef PLIMSOLL_REHEARSE_ENVIRONMENT_H
#define PLIMSOLL_REHEARSE_ENVIRONMENT_H

#include "facade/facade.h"
#include "rehearse/rehearsal.h"

/* Our own environment with what a rehearsal adds; in the rehearsal's arena. */
PLIM_MUST_USE plim_status plim_environment_make(plim_rehearsal *rehearsal,
                                                const plim_rehearse_options *options,
                                                const plim_wants *wants, plim_error *err);

#endif
