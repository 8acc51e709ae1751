/*
 * upgrade.h - what a program's Python says of other environments and releases, for upgrade.c and
 * bisect.c.
 */
#ifndef PLIMSOLL_REHEARSE_UPGRADE_H
#define PLIMSOLL_REHEARSE_UPGRADE_H

#include "base/arena.h"
#include "plimsoll/upgrade.h"
#include "rehearse/folder.h"
#include "json/document.h"

typedef struct plim_own_python {
    char home[PLIM_PATH_BYTES];
    char path[PLIM_PATH_BYTES];
} plim_own_python;

/* Errors: PLIM_INVALID_ARGUMENT: no such program or Python; those of plim_home_find(). */
PLIM_MUST_USE plim_status plim_own_python_find(const char *const *argv,
                                               const plim_environment_options *options,
                                               plim_own_python *ret, plim_error *err);

/* agent/environments.py's answer to words, freed by yajl_tree_free(). An answer that is an error
 * is one: PLIM_INVALID_ARGUMENT; PLIM_IO: the index cannot be reached; PLIM_UNSUPPORTED: any
 * other, which is of that release alone. */
PLIM_MUST_USE plim_status plim_environments_ask(const plim_own_python *own,
                                                const char *const *words, yajl_val *ret,
                                                plim_error *err);

/*
 * The next release to try between `low`, which is good, and `high`, which grew: the untried one
 * nearest to the middle, the older of two. PLIM_RELEASE_NONE: none is left.
 */
#define PLIM_RELEASE_NONE SIZE_MAX
size_t plim_upgrade_next(const plim_release_try *tries, size_t low, size_t high);

#endif
