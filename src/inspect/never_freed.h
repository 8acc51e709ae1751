/*
 * never_freed.h - of what is live at the end, the part that the recording saw allocated.
 */
#ifndef PLIMSOLL_INSPECT_NEVER_FREED_H
#define PLIMSOLL_INSPECT_NEVER_FREED_H

#include "base/arena.h"
#include "plimsoll/inspect.h"

/* `end` has its groups. Errors: PLIM_OUT_OF_HOST_MEMORY. */
plim_status plim_never_freed_of(const plim_moment *end, plim_arena *arena,
                                plim_never_freed *ret_never_freed, plim_error *err);

#endif
