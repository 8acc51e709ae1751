/*
 * path.h - the file that a command's name leads to.
 */
#ifndef PLIMSOLL_LAUNCH_PATH_H
#define PLIMSOLL_LAUNCH_PATH_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Search PATH as execvp() does; a name with a slash stands for itself.
 *
 * must_run  false: a regular file is enough, executable or not
 * path      the first match; unspecified without one, or if it does not fit
 */
bool plim_path_find(const char *name, bool must_run, char *path, size_t path_bytes);

#endif
