/*
 * ask.h - a script of ours run with a Python, and the JSON document that it writes.
 */
#ifndef PLIMSOLL_REHEARSE_ASK_H
#define PLIMSOLL_REHEARSE_ASK_H

#include "base/arena.h"

#include "plimsoll/status.h"

#include <yajl/yajl_tree.h>

/*
 * python   a path
 * home     see plim_home_find()
 * script   its place there
 * words    of the script, end in NULL; NULL: none
 * doing    of its failure: "list its packages"
 * ret      freed by yajl_tree_free()
 * errors   PLIM_IO: it cannot be run, or failed; PLIM_CORRUPT: it writes something else;
 *          PLIM_CANCELLED: INT, TERM, HUP or QUIT ended it; PLIM_LIMIT; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_python_ask(const char *python, const char *home, const char *script,
                                          const char *const *words, const char *doing,
                                          yajl_val *ret, plim_error *err);

#endif
