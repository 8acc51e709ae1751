/*
 * kinds.h - what the functions of the stand-ins are. How that is written: stub.h.
 */
#ifndef PLIMSOLL_STANDIN_CORE_KINDS_H
#define PLIMSOLL_STANDIN_CORE_KINDS_H

#include "standin/core/stub.h"

#include <stdbool.h>

#define PLIM_STANDIN_KINDS_MAX 8192

/* Of the function of that name: what was said of it, ANSWERED or UNKNOWN. */
plim_standin_kind plim_standin_kind_of(const char *name);

/* True once for each thing in a process, so that what is said of it is said once. */
bool plim_standin_is_first_time(const void *thing);

#endif
