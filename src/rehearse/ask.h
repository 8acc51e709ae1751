/*
 * ask.h - a script of ours run with a Python, and the JSON document that it writes.
 */
#ifndef PLIMSOLL_REHEARSE_ASK_H
#define PLIMSOLL_REHEARSE_ASK_H

#include "base/arena.h"

#include "plimsoll/status.h"

#include <yajl/yajl_tree.h>

typedef struct plim_python_question {
    const char *python;       /* a path */
    const char *home;         /* see plim_home_find() */
    const char *script;       /* its place there */
    const char *const *words; /* of the script, end in NULL; NULL: none */
    const char *doing;        /* of its failure: "list its packages" */
    const char *input;        /* on its standard input; NULL: it has ours */
} plim_python_question;

/*
 * ret      freed by yajl_tree_free()
 * errors   PLIM_IO: it cannot be run, or failed; PLIM_CORRUPT: it writes something else;
 *          PLIM_CANCELLED: INT, TERM, HUP or QUIT ended it; PLIM_LIMIT; PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_python_ask(const plim_python_question *question, yajl_val *ret,
                                          plim_error *err);

#endif
