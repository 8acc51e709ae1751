/*
 * home.h - where our own files are: libplim_standin.so and the agent.
 */
#ifndef PLIMSOLL_REHEARSE_HOME_H
#define PLIMSOLL_REHEARSE_HOME_H

#include "plimsoll/status.h"

#include <stddef.h>

#define PLIM_HOME_STANDIN  "libplim_standin.so"
#define PLIM_HOME_AGENT    "agent"
#define PLIM_HOME_DISCOVER "agent/discover.py"

/*
 * Beside the program or library that holds this code: in rehearse/ (a build tree) or
 * ../lib/plimsoll/rehearse/ (installed).
 *
 * given   the caller's choice, or NULL
 * errors  PLIM_IO: there is no such folder with stand-ins in it; PLIM_LIMIT
 */
PLIM_MUST_USE plim_status plim_home_find(const char *given, char *path, size_t path_bytes,
                                         plim_error *err);

#endif
