/*
 * variables.h - the environment of a program: this process's own, changed.
 */
#ifndef PLIMSOLL_LAUNCH_VARIABLES_H
#define PLIMSOLL_LAUNCH_VARIABLES_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"

#include "plimsoll/status.h"

#include <stdbool.h>
#include <stdint.h>

#define PLIM_VARIABLE_BYTES_MAX ((size_t)1 << 20) /* of a value that is put together */

/* A lack of memory sticks, and plim_variables_finish() reports it. */
typedef struct plim_variables {
    plim_arena *arena; /* of the strings */
    PLIM_VEC(char *) list;
    bool is_out_of_memory;
} plim_variables;

/* A copy of this process's environment. */
void plim_variables_begin(plim_variables *all, plim_arena *arena);
/* NULL: it is not set. */
const char *plim_variables_get(const plim_variables *all, const char *name);

void plim_variables_unset(plim_variables *all, const char *name);
void plim_variables_set(plim_variables *all, const char *name, const char *value);
/* Sets it, or unsets it for NULL. */
void plim_variables_put(plim_variables *all, const char *name, const char *value);
void plim_variables_set_number(plim_variables *all, const char *name, uint64_t value);
/* A text that lost some of itself is a lack of memory. */
void plim_variables_set_text(plim_variables *all, const char *name, const plim_text *value);
/* "<value>:<what stands there>", as lists of folders have it. */
void plim_variables_put_before(plim_variables *all, const char *name, const plim_text *value);

/* For execve(), in the arena; frees the rest. PLIM_OUT_OF_HOST_MEMORY. */
PLIM_MUST_USE plim_status plim_variables_finish(plim_variables *all, char ***ret, plim_error *err);

#endif
