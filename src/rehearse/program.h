/*
 * program.h - our own files, the stand-ins and the agent; and the Python that a program will run
 * in, from its name, without running it.
 */
#ifndef PLIMSOLL_REHEARSE_PROGRAM_H
#define PLIMSOLL_REHEARSE_PROGRAM_H

#include "plimsoll/status.h"

#include <stdbool.h>
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

/*
 * The Python of a program: itself, when it is one; that of its first line, when it is a script
 * (torchrun, accelerate); that of the first of its arguments that has one (timeout, env, nice);
 * else python3, or python, in PATH. False without one.
 *
 * program  a path from plim_path_find()
 * words    its arguments, without its name; ends in NULL
 */
bool plim_program_python(const char *program, const char *const *words, char *path,
                         size_t path_bytes);

#endif
