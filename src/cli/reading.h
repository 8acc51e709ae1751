/*
 * reading.h - what is said while a file is read, and when it could not be.
 */
#ifndef PLIMSOLL_CLI_READING_H
#define PLIMSOLL_CLI_READING_H

#include "base/text.h"

#include "plimsoll/load.h"

#include <stddef.h>

/** "reading train.log", cleaned and cut: the label of a progress bar. */
void plim_reading_label(char *label, size_t label_bytes, const char *path);

/** A snapshot or a recording, read with a progress bar. */
PLIM_MUST_USE plim_status plim_reading_history(const char *path, plim_history **ret,
                                               plim_error *err);

/** A small plain file, whole. ret  the caller's also after a failure; errors  PLIM_IO, PLIM_LIMIT
 */
PLIM_MUST_USE plim_status plim_reading_text(const char *path, plim_text *ret, plim_error *err);

/** One line on stderr: "<who>: FILE: message (at byte N)", the file's name once. */
void plim_reading_failed(const char *who, const char *path, const plim_error *err);

/** The path, or "standard input". */
const char *plim_reading_name(const char *path);

#endif
