/*
 * program.h - our own files, the stand-ins and the agent; and the Python that a program will run
 * in, from its name, without running it.
 */
#ifndef PLIMSOLL_REHEARSE_PROGRAM_H
#define PLIMSOLL_REHEARSE_PROGRAM_H

#include "base/arena.h"

#include "plimsoll/status.h"

#include <stdbool.h>
#include <stddef.h>

#define PLIM_HOME_STANDIN      "libplim_standin.so"
#define PLIM_HOME_AGENT        "agent"
#define PLIM_HOME_DISCOVER     "agent/discover.py"
#define PLIM_HOME_CHANGING     "agent/changing.py"
#define PLIM_HOME_ENVIRONMENTS "agent/environments.py"

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

/*
 * The command as it runs in another Python: that takes the place of its Python, its programs those
 * of its scripts, and a script that it has not gets it as its interpreter. Found are the program
 * and the first of its arguments that is either, as in plim_program_python(); a command that has
 * none, such as a shell's, stays as it is.
 *
 * argv    ends in NULL; its words are borrowed
 * python  a path
 * ret     in the arena; ends in NULL
 * errors  PLIM_OUT_OF_HOST_MEMORY
 */
PLIM_MUST_USE plim_status plim_program_in_python(plim_arena *arena, const char *const *argv,
                                                 const char *python, const char *const **ret,
                                                 plim_error *err);

#endif
