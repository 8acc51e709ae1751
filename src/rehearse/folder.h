/*
 * folder.h - the folder of a run: made under TMPDIR, removed with all that is in it.
 */
#ifndef PLIMSOLL_REHEARSE_FOLDER_H
#define PLIMSOLL_REHEARSE_FOLDER_H

#include "plimsoll/status.h"

#include <stddef.h>
#include <sys/types.h>

#define PLIM_PATH_BYTES 4096 /* PATH_MAX of Linux, which not every <limits.h> shows */

/* Techniques to switch on, one a line, and the folder where each process says what became of them:
 * docs/formats/with.md. The folder is `with` in that of a rehearsal or run. */
#define PLIM_WITH_VARIABLE        "PLIMSOLL_WITH"
#define PLIM_WITH_FOLDER_VARIABLE "PLIMSOLL_WITH_FOLDER"
#define PLIM_RUN_WITH             "with"

/* "<folder>/<name>" into path; PLIM_LIMIT when it does not fit. */
PLIM_MUST_USE plim_status plim_folder_join(char *path, size_t path_bytes, const char *folder,
                                           const char *name, plim_error *err);

/* Makes a new folder for the user alone, and the named ones in it (ends in NULL). */
PLIM_MUST_USE plim_status plim_folder_make(char *path, size_t path_bytes, const char *const *inside,
                                           plim_error *err);

/* Removes it, as far as it can be. An empty path is allowed. */
void plim_folder_remove(const char *path);

/* Removes all folders that a process made which has ended, and could not do it. */
void plim_folder_remove_of(pid_t maker);

#endif
